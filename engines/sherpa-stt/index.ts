/** Local transcription by sherpa-onnx, with models of several families. Recordings stay on this machine. */
import {
  EngineError,
  defineEngine,
  type AssetGroup,
  type Availability,
  type EngineContext,
  type Finding,
  type Resident,
  type TranscriptionEngine,
} from '../contract/index.ts';
import { raceAbort } from '../../lib/abort.ts';
import { commandLine } from '../../lib/setup-command.ts';
import type { NamedModel } from '../lib/catalogue.ts';
import { readyOrBusy, serveModels, withPulled } from '../lib/serve-models.ts';
import { notLoadable, printedFailure } from '../lib/sherpa/failure.ts';
import { openLibrary } from '../lib/sherpa/library.ts';
import { scriptCommand } from '../lib/host-program/script-command.ts';
import { catalogue } from './catalogue.ts';
import type { HostOptions } from './host.ts';
import type { UsableModel } from './model-facts.ts';
import { inspectModel, languagesFor, needOf, pulledModel, toEntry, toModel, type Model } from './models.ts';
import { optionsSchema, type Options } from './options.ts';
import { transcribe } from './transcribe.ts';

const defaultWaiting = 32;

/** Id of the asset group: `npm run setup -- stt`. */
const part = 'stt';

export default defineEngine<'transcription', Options>({
  contract: 1,
  name: 'sherpa-stt',
  capability: 'transcription',
  options: optionsSchema,
  create: (options, context) => createRecognizer(options, context),
});

function createRecognizer(options: Options, context: EngineContext): TranscriptionEngine {
  const { runtime, threads = 1, waiting = defaultWaiting, idleUnload = 300, mirror } = options;
  const slots = options.slots ?? Math.max(1, Math.floor(context.cores / 2));
  const queue = context.queue({ slots, waiting, threads });
  const library = openLibrary({ runtime, part }, context);
  const models = (options.models ?? []).map((model) => toModel(model, mirror, context));
  const configured = models.flatMap(({ download }) => download ?? []);
  const others = catalogue.ids
    .filter((id) => !configured.some((download) => download.id === id))
    .map((id) => pulledModel(id, mirror, context));
  const pulled = options.pulled === true ? others : [];
  const ofLibrary = library.asset ? [library.asset] : [];
  const ids = ofLibrary.map(({ id }) => id);
  const { modelOf, ...served } = serveModels(
    withPulled(models, pulled, (model) => toEntry(model, ids)),
    availability,
  );
  const opened = new WeakMap<UsableModel, Resident>();

  async function availability(model: Model): Promise<Availability> {
    const missing = library.missing();
    if (missing !== undefined) return { available: false, code: 'program-missing', reason: missing };
    const found = await model.inspect();
    if (!found.ok) return { available: false, code: 'model-file-missing', reason: `${found.detail}.` };
    if (opened.get(found)?.isBroken === true) return notLoadable(found.file);
    return readyOrBusy(queue);
  }

  /** Rejects with `model-unavailable`. */
  async function open(model: Model): Promise<{ readonly host: Resident; readonly found: UsableModel }> {
    const libraryPath = await library.open();
    const found = await model.inspect();
    if (!found.ok) throw new EngineError('model-unavailable', `${found.detail}.`);
    const { config, pieceSeconds, hint } = found;
    const hostOptions: HostOptions = { library: libraryPath, config, threads, pieceSeconds, ...(hint !== undefined && { hint }) }; // prettier-ignore
    const command = scriptCommand('host', import.meta.url, JSON.stringify(hostOptions));
    const files = model.download ? { files: model.download.files.map(({ path }) => path) } : {};
    const facts = { version: found.stamp, memory: needOf(found), idleUnloadMs: idleUnload * 1000 };
    const host = context.resident({ name: model.id, ...command, ...files, ...facts, failure: printedFailure });
    opened.set(found, host);
    return { host, found };
  }

  function groups(): AssetGroup[] {
    const named = others.concat(models).flatMap((model): NamedModel[] => {
      const { id, download: asset, folder } = model;
      if (!asset) return [];
      if (!others.includes(model) || pulled.includes(model)) return [{ asset, model: id }];
      const settings = `engines.${context.instance}.models:\n  - { id: ${asset.id}, folder: ${JSON.stringify(folder)} }`;
      return [{ asset, model: asset.id, settings }];
    });
    const all = catalogue.groups({ part, base: ofLibrary, configured, named });
    return models.length > 0 ? all : all.filter(({ id }) => id !== part); // the settings need nothing
  }

  return {
    ...served,
    decodes: true,
    async transcribe({ model: id, language, recording, timestamps }, callOptions) {
      const model = modelOf(id);
      const { signal } = callOptions;
      const { host, found } = await raceAbort(open(model), signal);
      const call = { host, found, recording, timestamps, ...languagesFor(model, found, language) };
      try {
        return await queue.run(() => transcribe(call, context, callOptions), callOptions);
      } catch (error) {
        throw signal.aborted ? error : await library.explain(error);
      }
    },
    async warmUp(id) {
      if (id === undefined || library.missing() !== undefined) return;
      const model = modelOf(id);
      if ((await model.inspect()).ok) (await open(model)).host.preload();
    },
    assets: groups(),
    async inspect() {
      const found = (await Promise.all([...models, ...pulled].map(inspectModel))).flat();
      const isEmpty = models.length + found.length === 0;
      return [...(await library.inspect()), ...(isEmpty ? [noModel] : found)];
    },
  };
}

const noModel: Finding = {
  what: 'models',
  ok: true,
  detail: `none is installed; \`${commandLine('models')}\` lists those of the catalog`,
};
