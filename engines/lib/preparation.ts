/** Installs the library of an engine and downloads models of its catalogue, when the operator asks for it. */
import type { Availability, EngineContext, PrepareCall, Preparation } from '../contract/index.ts';
import { messageOf } from '../../lib/errors.ts';
import { makeDirectory } from '../../lib/make-directory.ts';
import { nameSetup } from '../../lib/setup-command.ts';
import { download, isDownloading } from './download/download.ts';

/** A model of the settings that is in the catalogue. */
export interface Download {
  readonly id: string;
  readonly licence: string;
  /** In the order in which they are downloaded. */
  readonly files: readonly DownloadFile[];
  readonly isThere: () => Promise<boolean>;
}

interface DownloadFile {
  readonly url: string;
  readonly to: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface PreparationOptions {
  /** Its name in `npm run setup -- NAME`. */
  readonly part: string;
  readonly library: {
    /** Undefined where there is nothing to install. */
    readonly preparation: () => Promise<Preparation | undefined>;
    /** A sentence on what is missing. */
    readonly missing: () => string | undefined;
    readonly install: (call: PrepareCall) => Promise<void>;
  };
  readonly wanted: readonly Download[];
}

export function createPreparation({ part, library, wanted }: PreparationOptions, context: EngineContext) {
  let step: { readonly name: string; readonly done: number | null } | undefined;
  let failure: string | undefined;

  async function get({ url, to, ...file }: DownloadFile, { signal, progress }: PrepareCall): Promise<void> {
    const name = `downloading ${url.slice(url.lastIndexOf('/') + 1)}`;
    try {
      await download({
        ...{ ...context, url, to, signal, digest: file.sha256, maxBytes: file.bytes },
        progress: (done) => progress(name, done),
        onWait: () => progress(`another process is ${name}`, null),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`${messageOf(error)}. Without a network, copy it to ${to} manually`, { cause: error });
    }
  }

  async function prepareAll(call: PrepareCall): Promise<void> {
    await makeDirectory(context.dataDir);
    await library.install(call);
    for (const { files, isThere } of wanted) {
      if (await isThere()) continue;
      for (const file of files) await get(file, call);
    }
  }

  return {
    /** Undefined while nothing is being prepared. */
    get availability(): Availability | undefined {
      if (!step) return undefined;
      const { name, done } = step;
      const percent = done === null ? '' : `: ${Math.floor(done * 100)} %`;
      const availability = { available: false, code: 'preparing', reason: `Preparing (${name}${percent}).` } as const;
      return done === null ? availability : { ...availability, progress: done };
    },
    /** Why the last attempt failed. */
    get failure(): string | undefined {
      return failure && `${failure}. \`${nameSetup(part)}\` tries again.`;
    },
    async list(): Promise<Preparation[]> {
      const runtime = await library.preparation();
      if (!runtime && wanted.length === 0) return [];
      const files = wanted.flatMap((model) => model.files);
      const found = await Promise.all(wanted.map(({ isThere }) => isThere()));
      const downloading = await Promise.all(files.map(({ to }) => isDownloading(to)));
      const isReady = found.every(Boolean) && (runtime ? runtime.state === 'ready' : library.missing() === undefined);
      const isBusy = step !== undefined || runtime?.state === 'preparing' || downloading.includes(true);
      const titles = [runtime?.title ?? [], wanted.map(({ id }) => id)].flat(2);
      const licences = [runtime?.licence ?? [], wanted.map(({ licence }) => licence)].flat(2);
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      return [
        {
          id: part,
          title: titles.join(' and '),
          bytes: bytes + (runtime?.bytes ?? 0),
          licence: [...new Set(licences)].join(', '),
          source: [...new Set([runtime?.source ?? [], files.map(({ url }) => new URL(url).host)].flat())].join(' and '),
          state: isBusy ? 'preparing' : isReady ? 'ready' : 'missing',
          isConfigured: true,
        },
      ];
    },
    async run(call: PrepareCall): Promise<void> {
      failure = undefined;
      step = { name: 'starting', done: null };
      const progress: PrepareCall['progress'] = (name, done) => {
        step = { name, done };
        call.progress(name, done);
      };
      try {
        await prepareAll({ ...call, progress });
      } catch (error) {
        if (!call.signal.aborted) failure = messageOf(error);
        throw error;
      } finally {
        step = undefined;
      }
    },
  };
}
