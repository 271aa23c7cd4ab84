/** Installs the library of an engine and downloads models of its catalogue, when the operator asks for it. */
import type { Availability, EngineContext, PrepareCall, Preparation } from '../contract/index.ts';
import { messageOf } from '../../lib/errors.ts';
import { makeDirectory } from '../../lib/make-directory.ts';
import { nameSetup } from '../../lib/setup-command.ts';
import { download, isDownloading } from './download/download.ts';
import { bytesMissing, noteDownload, removeDownloads } from './download/receipts.ts';

/** A model of the catalogue. */
export interface Download {
  readonly id: string;
  readonly licence: string;
  /** In the order in which they are downloaded. */
  readonly files: readonly DownloadFile[];
  readonly isThere: () => Promise<boolean>;
}

/** One that can be had by its id, whether the settings name it or not. */
export interface Offer extends Download {
  readonly title: string;
  /** Its id in requests. */
  readonly model: string;
  /** The line of the settings file that serves it, where nothing else does. */
  readonly settings?: string;
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
    readonly preparation: () => Preparation | undefined;
    /** A sentence on what is missing. */
    readonly missing: () => string | undefined;
    readonly install: (call: PrepareCall) => Promise<void>;
  };
  /** What the settings name. */
  readonly wanted: readonly Download[];
  /** The catalogue. */
  readonly offers?: readonly Offer[];
}

interface Step {
  readonly name: string;
  readonly done: number | null;
}

export function createPreparation({ part, library, wanted, offers = [] }: PreparationOptions, context: EngineContext) {
  /** By the id of what is being prepared. */
  const steps = new Map<string, Step>();
  let failure: string | undefined;

  const isForSettings = (id: string) => id === part || wanted.some((model) => model.id === id);

  async function get({ url, to, ...file }: DownloadFile, { signal, progress }: PrepareCall): Promise<void> {
    const name = `downloading ${url.slice(url.lastIndexOf('/') + 1)}`;
    try {
      const isNew = await download({
        ...{ ...context, url, to, signal, digest: file.sha256, maxBytes: file.bytes },
        progress: (done) => progress(name, done),
        onWait: () => progress(`another process is ${name}`, null),
        onRetry: (why) => progress(`${name}, interrupted: ${why}; trying again`, null),
      });
      if (isNew) await noteDownload(context, to);
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`${messageOf(error)}. Without a network, copy it to ${to} manually`, { cause: error });
    }
  }

  async function prepareAll(models: readonly Download[], call: PrepareCall): Promise<void> {
    await makeDirectory(context.dataDir);
    await library.install(call);
    for (const { files, isThere } of models) {
      if (await isThere()) continue;
      for (const file of files) await get(file, call);
    }
  }

  /** The library and these models. */
  async function describe(id: string, models: readonly Download[]) {
    const runtime = library.preparation();
    const files = models.flatMap((model) => model.files);
    const found = await Promise.all(models.map(({ isThere }) => isThere()));
    const downloading = files.map(({ to }) => isDownloading(to));
    const hasLibrary = runtime ? runtime.state === 'ready' : library.missing() === undefined;
    const isReady = found.every(Boolean) && hasLibrary;
    const isInstalling = runtime?.state === 'preparing' && found.every(Boolean);
    const isBusy = steps.has(id) || isInstalling || downloading.includes(true);
    const state: Preparation['state'] = isBusy ? 'preparing' : isReady ? 'ready' : 'missing';
    const ofLibrary = runtime?.bytes ?? 0;
    const left = await bytesMissing(files.filter((_file, index) => !downloading[index]));
    const licences = [runtime?.licence ?? [], models.map(({ licence }) => licence)].flat(2);
    return {
      runtime,
      facts: {
        bytes: files.reduce((sum, file) => sum + file.bytes, ofLibrary),
        bytesLeft: isReady ? 0 : left + (hasLibrary ? 0 : ofLibrary),
        licence: [...new Set(licences)].join(', '),
        source: [...new Set([runtime?.source ?? [], files.map(({ url }) => new URL(url).host)].flat())].join(' and '),
        state,
      },
    };
  }

  async function ofSettings(): Promise<Preparation[]> {
    const { runtime, facts } = await describe(part, wanted);
    if (!runtime && wanted.length === 0) return [];
    const titles = [runtime?.title ?? [], wanted.map(({ id }) => id)].flat(2);
    return [{ id: part, title: titles.join(' and '), ...facts, isConfigured: true }];
  }

  async function ofOffer(offer: Offer): Promise<Preparation> {
    const { id, title, model, settings } = offer;
    const { facts } = await describe(id, [offer]);
    return { id, title, ...facts, model, ...(settings !== undefined && { settings }) };
  }

  return {
    /** Undefined while nothing that the settings name is being prepared. */
    get availability(): Availability | undefined {
      const [, step] = [...steps].find(([id]) => isForSettings(id) || library.missing() !== undefined) ?? [];
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
      return [...(await ofSettings()), ...(await Promise.all(offers.map(ofOffer)))];
    },
    async run(call: PrepareCall): Promise<void> {
      const offer = offers.find(({ id }) => id === call.id);
      const id = offer?.id ?? part;
      if (isForSettings(id)) failure = undefined;
      steps.set(id, { name: 'starting', done: null });
      const progress: PrepareCall['progress'] = (name, done) => {
        steps.set(id, { name, done });
        call.progress(name, done);
      };
      try {
        await prepareAll(offer ? [offer] : wanted, { ...call, progress });
      } catch (error) {
        if (!call.signal.aborted && isForSettings(id)) failure = messageOf(error);
        throw error;
      } finally {
        steps.delete(id);
      }
    },
    async remove(id: string, { signal }: { readonly signal: AbortSignal }): Promise<void> {
      const files = offers.find((offer) => offer.id === id)?.files ?? [];
      await removeDownloads(
        context,
        files.map(({ to }) => to),
        signal,
      );
    },
  };
}
