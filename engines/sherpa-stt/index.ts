/** Local transcription by sherpa-onnx, with models that the operator provides. Recordings stay on this machine. */
import {
  EngineError,
  defineEngine,
  type Availability,
  type EngineContext,
  type Finding,
  type Resident,
  type TranscriptionEngine,
} from '../contract/index.ts';
import { raceAbort } from '../../lib/abort.ts';
import { megabytes } from '../../lib/megabytes.ts';
import { entryOf, fixedModels, readyOrBusy, serveModels } from '../lib/serve-models.ts';
import { openLibrary } from '../lib/sherpa/library.ts';
import { scriptCommand } from '../lib/host-program/script-command.ts';
import type { HostOptions } from './host.ts';
import type { ModelFiles, UsableModel } from './model-facts.ts';
import { modelKinds } from './model-kinds.ts';
import { optionsSchema, type ModelOptions, type Options } from './options.ts';
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

interface Model extends ModelOptions {
  /** Checks the files again only if they have changed. */
  readonly inspect: () => Promise<ModelFiles>;
}

function createRecognizer(options: Options, context: EngineContext): TranscriptionEngine {
  const { runtime, threads = 1, waiting = defaultWaiting, idleUnload = 300 } = options;
  const slots = options.slots ?? Math.max(1, Math.floor(context.cores / 2));
  const queue = context.queue({ slots, waiting, threads });
  const library = openLibrary({ runtime, part }, context);
  const models = options.models.map((model): Model => {
    return { ...model, inspect: modelKinds[model.kind](context.resolve(model.folder)) };
  });

  const needs = library.asset ? [library.asset.id] : [];
  const { modelOf, ...served } = serveModels(
    fixedModels(models, (model) => {
      const languages = model.language === undefined ? [] : [model.language];
      return { ...entryOf(model, true), needs, supports, languages };
    }),
    availability,
  );

  async function availability(model: Model): Promise<Availability> {
    const missing = library.missing();
    if (missing !== undefined) return { available: false, code: 'program-missing', reason: missing };
    const found = await model.inspect();
    if (!found.ok) return { available: false, code: 'model-file-missing', reason: `${found.detail}.` };
    return readyOrBusy(queue);
  }

  /** Rejects with `model-unavailable`. */
  async function open(model: Model): Promise<{ readonly host: Resident; readonly found: UsableModel }> {
    const libraryPath = await library.open();
    const found = await model.inspect();
    if (!found.ok) throw new EngineError('model-unavailable', `${found.detail}.`);
    const hostOptions: HostOptions = { library: libraryPath, config: found.config, threads };
    const command = scriptCommand('host', import.meta.url, JSON.stringify(hostOptions));
    const facts = { version: found.stamp, memory: needOf(found), idleUnloadMs: idleUnload * 1000 };
    const host = context.resident({ name: model.id, ...command, ...facts });
    return { host, found };
  }

  return {
    ...served,
    decodes: true,
    async transcribe({ model: id, language, recording, timestamps }, callOptions) {
      const model = modelOf(id);
      checkLanguage(model, language);
      const { signal } = callOptions;
      const { host, found } = await raceAbort(open(model), signal);
      const call = { host, recording, timestamps, language: model.language, marksWords: found.marksWords };
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
    ...(library.asset && { assets: [{ id: part, assets: [library.asset], isConfigured: true }] }),
    inspect: async () => [...(await library.inspect()), ...(await Promise.all(models.map(inspectModel)))],
  };
}

const supports = ['segment', 'word'] as const;

/**
 * Memory in bytes: the library copies the file (2 * bytes + 100 MB, measured with generated weights), and each piece
 * needs more.
 */
const needOf = ({ bytes }: UsableModel): number => 2 * bytes + 200_000_000;

/** A CTC model transcribes the language that it was trained for, and accepts no hint. */
function checkLanguage({ id, language }: ModelOptions, requested: string | undefined): void {
  if (requested === undefined || requested === language) return;
  const why = language === undefined ? 'does not accept a language, because its settings name none' : `supports only "${language}", not "${requested}"`; // prettier-ignore
  throw new EngineError('language-not-supported', `The model ${id} ${why}.`);
}

async function inspectModel({ id, language, inspect }: Model): Promise<Finding> {
  const found = await inspect();
  const what = `model ${id}`;
  if (!found.ok) return { what, ok: false, detail: found.detail };
  const sizes = `${megabytes(found.bytes)}, needs about ${megabytes(needOf(found))} loaded`;
  return { what, ok: true, detail: `${sizes}, ${language ?? 'no language'}, ${found.file}` };
}
