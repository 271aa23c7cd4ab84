/** Local transcription by sherpa-onnx, with models of several families. Recordings stay on this machine. */
import {
  EngineError,
  defineEngine,
  type AssetGroup,
  type EngineContext,
  type Finding,
  type Resident,
  type TranscriptionEngine,
} from '../contract/index.ts';
import { raceAbort } from '../../lib/abort.ts';
import { commandLine } from '../../lib/setup-command.ts';
import { openLocalModels, programOf, unavailable } from '../lib/local-models.ts';
import { openSpeakers } from '../lib/speakers/index.ts';
import { openLibrary } from '../lib/sherpa/library.ts';
import { scriptCommand } from '../lib/host-program/script-command.ts';
import { catalog } from './catalog.ts';
import type { HostOptions } from './host.ts';
import type { UsableModel } from './model-facts.ts';
import { abilitiesOf, inspectModel, languagesFor, needOf, pulledModel, toModel, type Model } from './models.ts';
import { optionsSchema, type Options } from './options.ts';
import { transcribe } from './transcribe.ts';

const defaultWaiting = 32;

/** Id of the asset group: `npm run setup -- stt`. */
const part = 'stt';

/**
 * Matches what sherpa-onnx prints instead of throwing: some recognizers catch the exceptions of ONNX Runtime, print them,
 * and return an empty text, which looks like silence.
 */
const printedFailure = /Caught exception:\s+[^\n]+\n/;

export default defineEngine<'transcription', Options>({
  contract: 1,
  name: 'sherpa-stt',
  capability: 'transcription',
  options: optionsSchema,
  create: (options, context) => createRecognizer(options, context),
});

async function createRecognizer(options: Options, context: EngineContext): Promise<TranscriptionEngine> {
  const { runtime, threads = 1, waiting = defaultWaiting, idleUnload = 300, mirror } = options;
  const slots = options.slots ?? Math.max(1, Math.floor(context.cores / 2));
  const queue = context.queue({ slots, waiting, threads });
  const library = openLibrary({ runtime, part }, context);
  const speakers = await openSpeakers({ ...options.speakers, mirror }, library, context);
  const configured = (options.models ?? []).map((model) => toModel(model, mirror, context));
  const isListed = (id: string) => configured.some(({ downloads }) => downloads.some((asset) => asset.id === id));
  const others = catalog.ids.filter((id) => !isListed(id)).map((id) => pulledModel(id, mirror, context));
  const { models, served, modelOf, recheck, groupsOf } = await openLocalModels(context, {
    ...{ catalog, configured, others, pulled: options.pulled, base: library.asset ? [library.asset] : [] },
    async look() {
      library.look();
      await speakers.look();
    },
    problem() {
      const reason = library.problem();
      return reason === undefined ? undefined : unavailable('program-missing', reason);
    },
    describe: abilitiesOf,
    toServe: ({ folder }, { id }) => ({
      model: id,
      settings: `engines.${context.instance}.models:\n  - { id: ${id}, folder: ${JSON.stringify(folder)} }`,
    }),
  });

  /** Rejects with `model-unavailable`. */
  async function open(model: Model): Promise<{ readonly host: Resident; readonly found: UsableModel }> {
    const [libraryPath, found] = [library.open(), await model.inspect()];
    if (!found.ok) throw new EngineError('model-unavailable', `${found.detail}.`);
    const { config, pieceSeconds, hint } = found;
    const hostOptions: HostOptions = {
      library: libraryPath,
      config,
      threads,
      pieceSeconds,
      ...(hint !== undefined && { hint }),
    };
    const command = scriptCommand('host', import.meta.url, JSON.stringify(hostOptions));
    const facts = { memory: needOf(found), failure: printedFailure };
    return { host: context.resident({ ...programOf(model, found, idleUnload), ...command, ...facts }), found };
  }

  function groups(): AssetGroup[] {
    const all = groupsOf({ part });
    const own = configured.length > 0 ? all : all.filter(({ id }) => id !== part); // the settings need no assets
    return [...own, ...speakers.groups];
  }

  return {
    models,
    recheck,
    decodes: true,
    speakers: speakers.finder,
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
      const found = (await Promise.all(served.map(inspectModel))).flat();
      const isEmpty = configured.length + found.length === 0;
      return [...(await library.inspect()), ...(isEmpty ? [noModel] : found), ...(await speakers.inspect())];
    },
  };
}

const noModel: Finding = {
  what: 'models',
  ok: true,
  detail: `none is installed; \`${commandLine('models')}\` lists those of the catalog`,
};
