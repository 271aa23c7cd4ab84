/** Installs one asset: downloads its files, installs its packages, or calls its engine to create it. */
import type { Asset, EngineContext, FilesAsset, MadeAsset } from '../../../engines/contract/index.ts';
import { messageOf } from '../../../lib/errors.ts';
import { acquireLock, isLocked, lockOf } from '../../../lib/file-lock.ts';
import { makeDirectory } from '../../../lib/make-directory.ts';
import { Callbacks } from '../guard/callbacks.ts';
import { outcome } from '../guard/calls.ts';
import { asError } from '../guard/failures.ts';
import { download } from './download.ts';
import { installPackages } from './packages.ts';
import { bytesMissing, recordDownload } from './receipts.ts';

/** Progress of an installation. */
export interface InstallStep {
  /** The current work, such as `downloading Whisper base`. */
  readonly doing: string;
  /** Completed fraction, from 0 to 1; null if unknown. */
  readonly done: number | null;
}

export interface InstallCall {
  readonly signal: AbortSignal;
  readonly onStep: (step: InstallStep) => void;
  /** Makes the engines of the asset recheck it. Never rejects. */
  readonly recheck: () => Promise<void>;
}

export type InstallContext = Pick<EngineContext, 'dataDir' | 'env' | 'fetch' | 'log' | 'run'>;

const verbs = { files: 'downloading', packages: 'installing' } as const;

export const doingOf = (asset: Asset): string =>
  `${asset.kind === 'made' ? asset.verb : verbs[asset.kind]} ${asset.title}`;

export const waitingFor = (asset: Asset): string => `another process is ${doingOf(asset)}`;

function pathsOf(asset: Asset): readonly string[] {
  switch (asset.kind) {
    case 'files':
      return asset.files.map(({ path }) => path);
    case 'packages':
      return [asset.directory];
    case 'made':
      return [asset.path];
  }
}

/** Returns the source of an asset, which is shown before the download. */
export function sourceOf(asset: Asset): string {
  switch (asset.kind) {
    case 'files':
      return [...new Set(asset.files.map(({ url }) => new URL(url).host))].join(' and ');
    case 'packages':
      return 'npm';
    case 'made':
      return asset.source;
  }
}

/**
 * True if another process is installing or removing the asset. `own` lists the assets that this process is installing,
 * because they may share a path.
 */
export function isBusyElsewhere(asset: Asset, own: readonly Asset[]): boolean {
  const ownPaths = own.flatMap(pathsOf);
  return pathsOf(asset).some((path) => !ownPaths.includes(path) && isLocked(lockOf(path)));
}

/** Returns the completed fraction of a download, even one by another process; null if unknown. */
export async function downloadedOf(asset: Asset): Promise<number | null> {
  if (asset.kind !== 'files') return null;
  const total = asset.files.reduce((sum, { bytes }) => sum + bytes, 0);
  return total === 0 ? null : 1 - (await bytesMissing(asset.files)) / total;
}

/** Returns the number of bytes that remain to be downloaded. */
export async function bytesLeftOf(asset: Asset, isReady: boolean): Promise<number> {
  if (isReady) return 0;
  return asset.kind === 'files' ? bytesMissing(asset.files) : (asset.bytes ?? 0);
}

/**
 * Installs an asset, or resolves immediately if it is ready. If another process is installing the asset, waits for that
 * process. Rejects with an error for the operator, or with the signal's reason.
 */
export async function install(
  asset: Asset,
  context: InstallContext,
  { signal, onStep, recheck }: InstallCall,
): Promise<void> {
  const doing = doingOf(asset);
  const progress = (done: number | null) => onStep({ doing, done });
  const onWait = () => onStep({ doing: waitingFor(asset), done: null });
  await makeDirectory(context.dataDir).catch((cause: unknown) => {
    const why = `Cannot create the data directory: ${messageOf(cause)}`;
    throw new Error(`${why}. fix: set DATA_DIR to a writable directory`, { cause });
  });
  progress(asset.kind === 'files' ? 0 : null);
  if (asset.kind === 'files') return downloadFiles(asset, context, { signal, progress, onStep, onWait });
  using _lock = await acquireLock(lockOf(asset.kind === 'made' ? asset.path : asset.directory), { signal, onWait });
  await recheck(); // another process may have installed the asset since the engine last checked
  if (await asset.isReady()) return;
  progress(null);
  if (asset.kind === 'packages') await installPackages(asset, { ...context, signal, progress });
  else await make(asset, { signal, progress });
}

/** Tolerance in bytes, because some sites publish sizes rounded to MiB. */
const roundedBy = 2 ** 20;

interface Downloading extends Omit<InstallCall, 'recheck'> {
  readonly progress: (done: number | null) => void;
  readonly onWait: () => void;
}

async function downloadFiles(asset: FilesAsset, context: InstallContext, call: Downloading): Promise<void> {
  const { signal, progress, onStep, onWait } = call;
  const total = asset.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let before = 0;
  for (const { url, path, bytes, digest } of asset.files) {
    if (await asset.isReady()) return;
    const start = before;
    const onRetry = (why: string) =>
      onStep({ doing: `${doingOf(asset)}, interrupted: ${why}; trying again`, done: null });
    const report = (done: number | null) => progress(done === null ? null : (start + done * bytes) / total);
    try {
      const wanted = {
        ...context,
        url,
        to: path,
        digest,
        maxBytes: bytes + roundedBy,
        signal,
        progress: report,
        onWait,
        onRetry,
      };
      if (await download(wanted)) await recordDownload(context.dataDir, path);
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`${messageOf(error)}. Without a network, copy it to ${path} manually`, { cause: error });
    }
    before += bytes;
  }
}

/** Time for an aborted engine to stop the compilers it runs, in milliseconds. */
const endMs = 5_000;

/** Rejects with the engine's original error, because it is shown on the terminal. */
async function make(asset: MadeAsset, call: Omit<Downloading, 'onStep' | 'onWait'>) {
  using callbacks = new Callbacks(asset.id, call.signal);
  const progress = callbacks.guard((fraction: unknown) => {
    const isKnown = typeof fraction === 'number' && Number.isFinite(fraction);
    call.progress(isKnown ? Math.min(1, Math.max(0, fraction)) : null);
  });
  try {
    await outcome(() => asset.make({ signal: callbacks.signal, progress }), callbacks.signal, endMs);
    if (callbacks.failure) throw callbacks.failure;
  } catch (error) {
    throw asError(error);
  }
}
