/** Installs the library and downloads the voices of the catalogue, when the operator asks for it. */
import type { Availability, EngineContext, PrepareCall, Preparation } from '../contract/index.ts';
import { messageOf } from '../../lib/errors.ts';
import { makeDirectory } from '../../lib/make-directory.ts';
import { nameSetup } from '../../lib/setup-command.ts';
import { download, isDownloading } from '../lib/download/download.ts';
import type { Library } from '../lib/sherpa/library.ts';
import { voiceSource, voiceUrl, type CatalogueFile, type CatalogueVoice } from './catalogue.ts';

/** Its name in `npm run setup -- voice`. */
export const part = 'voice';

/** A voice of the settings that is in the catalogue. */
export interface Download {
  readonly id: string;
  readonly file: string;
  readonly download: CatalogueVoice;
  readonly isThere: () => Promise<boolean>;
}

interface PreparationOptions {
  readonly library: Library;
  readonly wanted: readonly Download[];
  readonly mirror: string | undefined;
}

export function createPreparation(
  { library, wanted, mirror = voiceSource }: PreparationOptions,
  context: EngineContext,
) {
  let step: { readonly name: string; readonly done: number | null } | undefined;
  let failure: string | undefined;

  async function get(file: CatalogueFile, url: string, to: string, { signal, progress }: PrepareCall): Promise<void> {
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
    for (const { id, file, download: voice, isThere } of wanted) {
      if (await isThere()) continue;
      const url = voiceUrl(id, mirror);
      await get(voice.config, `${url}.json`, `${file}.json`, call);
      await get(voice.model, url, file, call);
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
      const found = await Promise.all(wanted.map(({ isThere }) => isThere()));
      const downloading = await Promise.all(wanted.map(({ file }) => isDownloading(file)));
      const isReady = found.every(Boolean) && (runtime ? runtime.state === 'ready' : library.missing() === undefined);
      const isBusy = step !== undefined || runtime?.state === 'preparing' || downloading.includes(true);
      const titles = [runtime?.title ?? [], wanted.map(({ id }) => id)].flat(2);
      const licences = [runtime?.licence ?? [], wanted.map((voice) => voice.download.licence)].flat(2);
      const bytes = wanted.reduce((sum, { download: { model, config } }) => sum + model.bytes + config.bytes, 0);
      return [
        {
          id: part,
          title: titles.join(' and '),
          bytes: bytes + (runtime?.bytes ?? 0),
          licence: [...new Set(licences)].join(', '),
          state: isBusy ? 'preparing' : isReady ? 'ready' : 'missing',
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
