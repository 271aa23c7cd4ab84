/** Local transcription: our decoder and the whisper-cli program. Recordings stay on this machine. */
import { existsSync } from 'node:fs';
import {
  EngineError,
  defineEngine,
  type Availability,
  type EngineContext,
  type Finding,
  type PrepareCall,
  type Preparation,
  type TranscriptionEngine,
} from '../contract/index.ts';
import { entryOf, loading, pulledId, readyOrBusy, serveModels, withPulled } from '../lib/serve-models.ts';
import { inMebibytes } from '../lib/in-mebibytes.ts';
import { setupCommand } from '../../lib/setup-command.ts';
import { isBuilding, removeUnfinishedBuild, type Program } from './build.ts';
import {
  catalogue,
  isModelName,
  modelFileName,
  modelNames,
  modelSource,
  modelUrl,
  type ModelName,
} from './catalogue.ts';
import { isDownloading } from '../lib/download/download.ts';
import { bytesMissing, removeDownloads } from '../lib/download/receipts.ts';
import { openVoiceActivity, part } from '../lib/voice-activity/index.ts';
import { languageFor } from './languages.ts';
import { createLoadedModels, needOf } from './loaded-models.ts';
import { featuresOf, toModel, type Model, type UsableFile } from './models.ts';
import { optionsSchema, type ModelOptions, type Options } from './options.ts';
import { createPreparationTracker, type PreparationState } from './preparation-tracker.ts';
import { buildStep, downloadedModelPath, downloadStep, type PreparationPlan } from './prepare.ts';
import { packagedWhisper } from './packaged.ts';
import { findHost, findWhisper, versionOf, type FoundProgram } from './program.ts';
import { lackOfTools } from './toolchain.ts';
import { transcribe } from './transcribe.ts';

const defaultWaiting = 16;

export default defineEngine<'transcription', Options>({
  contract: 1,
  name: 'whisper-cli',
  capability: 'transcription',
  options: optionsSchema,
  create: (options, context) => createWhisper(options, context),
});

function createWhisper(options: Options, context: EngineContext): TranscriptionEngine {
  const slots = options.slots ?? Math.max(1, Math.floor(context.cores / 2));
  const threads = options.threads ?? 'shared';
  const fewThreads = Math.max(1, Math.floor(context.cores / slots)); // of an older service
  const queue = context.queue({ slots, threads, waiting: options.waiting ?? defaultWaiting });
  const fitContext = options.audioContext === 'auto';
  const models = options.models.map((model) => toModel({ ...model, ...withPaths(model, context) }, context.dataDir));
  const byName = new Map(modelNames.map((name) => [name, models.find((model) => model.download === name) ?? pulledModel(name, context)])); // prettier-ignore
  const preparation = createPreparationTracker(context);
  /** The preparation of a model by its name in the catalogue: one at a time. */
  let pull: { readonly name: ModelName; readonly tracker: typeof preparation } | undefined;
  const isWanted = options.voiceActivity !== 'off' && models.some(({ vad }) => vad === undefined);
  const activity = isWanted ? openVoiceActivity({ runtime: undefined }, context) : undefined;
  const program = () => findWhisper(options.program, context)?.path;
  const loaded = createLoadedModels({ slots, program, idleUnloadMs: 1000 * (options.idleUnload ?? 300) }, context);
  const freeHost = (model: Model, file: UsableFile) =>
    options.keepLoaded === false ? undefined : loaded.free(model, file);

  const pulled = options.pulled === true ? [...byName.values()].filter((model) => !models.includes(model)) : [];
  const { modelOf, ...served } = serveModels(
    withPulled(models, pulled, async (model) => ({ ...entryOf(model, true), supports: await featuresOf(model) })),
    availability,
  );

  async function availability(model: Model): Promise<Availability> {
    const file = await model.inspect();
    if (!file.ok && model.download === undefined) return unavailable('model-file-missing', `${file.detail}.`);
    if (model.vad !== undefined && !existsSync(model.vad))
      return unavailable('model-file-missing', `${model.vad} does not exist.`);
    const hasProgram = program() !== undefined;
    if (file.ok && hasProgram) return !queue.full && loaded.isLoading(model, file) ? loading : readyOrBusy(queue);
    const { download } = model;
    const buildFailure = hasProgram ? undefined : preparation.failureOf(buildStep);
    const downloadFailure =
      file.ok || download === undefined ? undefined : preparation.failureOf(downloadStep(download));
    if (buildFailure !== undefined) return failed('program-missing', `whisper-cli not found: ${buildFailure}`);
    if (downloadFailure !== undefined) return failed('model-file-missing', `Model file missing: ${downloadFailure}`);
    const isPulled = pull && (!hasProgram || pull.name === model.download);
    const state = preparation.state ?? (isPulled ? pull?.tracker.state : undefined);
    if (state) return preparing(state);
    return hasProgram
      ? unavailable('model-file-missing', modelHelp(model))
      : unavailable('program-missing', programHelp(context));
  }

  /** Nothing is compiled unasked where whisper-cli works. */
  function missingPrograms({ isAsked = false }: PrepareCall): readonly Program[] {
    const both = ['whisper-cli', 'whisper-host'] as const;
    const wanted = options.keepLoaded === false ? both.slice(0, 1) : both;
    if (program() === undefined) return wanted;
    return isAsked && findHost(program(), context.dataDir) === undefined ? wanted.slice(1) : [];
  }

  async function makePlan(call: PrepareCall, wanted: readonly Model[]): Promise<PreparationPlan> {
    if (missingPrograms({ ...call, isAsked: true }).length === 0) await removeUnfinishedBuild(context.dataDir);
    const files = await Promise.all(wanted.map(async (model) => ((await model.inspect()).ok ? undefined : model.download))); // prettier-ignore
    const missing = new Set(files.filter((name) => name !== undefined));
    return { programs: missingPrograms(call), models: [...missing], mirror: options.mirror };
  }

  async function pullModel(name: ModelName, call: PrepareCall): Promise<void> {
    const tracker = createPreparationTracker(context);
    const mine = { name, tracker };
    pull = mine;
    try {
      await tracker.run(() => makePlan(call, [byName.get(name) ?? pulledModel(name, context)]), call);
    } finally {
      if (pull === mine) pull = undefined;
    }
  }

  async function offerOf(name: ModelName, model: Model): Promise<Preparation> {
    const isThere = (await model.inspect()).ok;
    const isBusy = pull?.name === name || isDownloading(model.file);
    const bytes = catalogue[name].sizeMiB * 2 ** 20;
    const isServed = models.includes(model) || pulled.includes(model);
    return {
      ...{ id: name, title: `Whisper ${name}`, licence: 'MIT', model: isServed ? model.id : name, bytes },
      source: new URL(modelUrl(name, options.mirror ?? modelSource)).host,
      bytesLeft: await bytesMissing([{ to: model.file, bytes }]),
      state: isBusy ? 'preparing' : isThere && program() !== undefined ? 'ready' : 'missing',
      ...(!isServed && { settings: `engines.${context.instance}.models:\n  - { id: ${name}, file: ${JSON.stringify(model.file)} }` }), // prettier-ignore
    };
  }

  function preparing({ description, progress }: PreparationState): Availability {
    const reason = `Preparing (${description}).`;
    return { available: false, code: 'preparing', reason, ...(progress !== undefined && { progress }) };
  }

  function modelHelp({ file, download }: Model): string {
    const url = download === undefined ? '' : modelUrl(download, options.mirror ?? modelSource);
    return `Model file missing: run \`${setupCommand}\`, or download ${url} to ${file}.`;
  }

  return {
    ...served,
    async transcribe({ model: id, language, ...call }, options) {
      const model = modelOf(id);
      const [found, file] = [program(), await model.inspect()];
      if (found === undefined || !file.ok)
        throw new EngineError('model-unavailable', (await availability(model)).reason);
      const whisperLanguage = languageFor(language ?? model.language, file.multilingual, id);
      const files = { program: found, modelFile: model.file, vadFile: model.vad };
      const { recording, prompt, keywords, temperature, timestamps, translate = false } = call;
      const detector = model.vad === undefined ? activity : undefined;
      const job = {
        ...files,
        detector,
        language: whisperLanguage,
        ...{ recording, prompt, keywords, temperature, timestamps, translate },
        fitContext,
        // whisper.cpp removes silence only with its own state, which whisper-host does not use.
        hostProgram: model.vad === undefined ? findHost(found, context.dataDir) : undefined,
      };
      return queue.run(async ({ threads = fewThreads }) => {
        const now = await model.inspect(); // it may have been replaced since
        const free = () => (now.ok ? freeHost(model, now) : undefined);
        return transcribe({ ...job, threads, free }, context, options);
      }, options);
    },
    async warmUp(id) {
      const wanted = id === undefined ? (options.preload ? models : []) : [modelOf(id)];
      for (const model of wanted) {
        const file = await model.inspect();
        if (!file.ok || program() === undefined) continue;
        freeHost(model, file)?.preload();
        if (model.vad === undefined) await activity?.preload();
      }
    },
    async preparations() {
      const wanted = models.filter((model) => model.download !== undefined);
      const found = await Promise.all(wanted.map((model) => model.inspect()));
      const isReady = program() !== undefined && found.every(({ ok }) => ok);
      const downloads = [...new Set(wanted.flatMap(({ download }) => download ?? []))];
      const bytes = downloads.reduce((sum, name) => sum + catalogue[name].sizeMiB * 2 ** 20, 0);
      const elsewhere = [isBuilding(context.dataDir), ...wanted.map(({ file }) => isDownloading(file))];
      const isBusy = preparation.state !== undefined || elsewhere.includes(true);
      const state = isBusy ? 'preparing' : isReady ? 'ready' : 'missing';
      const title = ['whisper-cli', ...downloads.map(modelFileName)].join(' and ');
      const hosts = downloads.map((name) => new URL(modelUrl(name, options.mirror ?? modelSource)).host);
      const sources = [...(program() === undefined ? ['npm (source code, built here)'] : []), ...new Set(hosts)];
      const own: Preparation = {
        id: 'transcription',
        title,
        bytes,
        licence: 'MIT',
        ...(sources.length > 0 && { source: sources.join(' and ') }),
        state,
        isConfigured: true,
        atStart: true,
      };
      const offers = await Promise.all([...byName].map(([name, model]) => offerOf(name, model)));
      return [own, ...((await activity?.preparations()) ?? []), ...offers];
    },
    async prepare(call) {
      if (call.id === part) await activity?.prepare(call);
      else if (call.id !== undefined && isModelName(call.id)) await pullModel(call.id, call);
      else await preparation.run(() => makePlan(call, models), call);
    },
    async remove(id, { signal }) {
      if (isModelName(id)) await removeDownloads(context, [downloadedModelPath(context.dataDir, id)], signal);
    },
    inspect: async () => [
      await inspectProgram(findWhisper(options.program, context), context),
      ...(options.keepLoaded === false ? [] : [inspectHost(findHost(program(), context.dataDir))]),
      ...(await Promise.all(models.map(inspectModel))),
      ...(activity ? [await activity.inspect()] : []),
    ],
  };
}

const pulledModel = (name: ModelName, { dataDir }: EngineContext): Model =>
  toModel({ id: pulledId(name), name: `Whisper ${name}`, file: downloadedModelPath(dataDir, name) }, dataDir);

const failed = (code: Availability['code'], why: string): Availability =>
  unavailable(code, `${why}. \`${setupCommand}\` tries again.`);

const unavailable = (code: Availability['code'], reason: string): Availability => ({ available: false, code, reason });

function withPaths({ file, vad }: ModelOptions, { resolve }: EngineContext): Pick<ModelOptions, 'file' | 'vad'> {
  return { file: resolve(file), ...(vad !== undefined && { vad: resolve(vad) }) };
}

function programHelp({ env }: EngineContext): string {
  const lack = lackOfTools(env.PATH);
  const notFound = ['whisper-cli not found', packageProblem()].filter((part) => part !== undefined).join(': ');
  return lack === undefined
    ? `${notFound}: run \`${setupCommand}\` to build it, or set WHISPER_CLI to its path.`
    : `${notFound}, and it cannot be built without ${lack.tools}: run \`${lack.fix}\`, then \`${setupCommand}\`.`;
}

/** Why the package for this platform is there in vain. */
function packageProblem(): string | undefined {
  const packaged = packagedWhisper();
  return packaged && 'problem' in packaged ? packaged.problem : undefined;
}

async function inspectProgram(program: FoundProgram | undefined, context: EngineContext): Promise<Finding> {
  const what = 'whisper-cli';
  if (program === undefined && isBuilding(context.dataDir)) {
    return { what, ok: false, isPending: true, detail: 'another process is building it' };
  }
  const problem = packageProblem();
  if (program === undefined) {
    const lack = lackOfTools(context.env.PATH);
    const detail = ['not found', problem, lack && `to build it lacks ${lack.tools}`];
    const fix = lack === undefined ? setupCommand : `${lack.fix} && ${setupCommand}`;
    return { what, ok: false, detail: detail.filter((part) => part !== undefined).join('; '), fix };
  }
  const facts = [await versionOf(program.path, context), program.path, program.source, problem];
  return { what, ok: true, detail: facts.filter((fact) => fact !== undefined).join(', ') };
}

/** Nothing is missing without it. */
function inspectHost(host: string | undefined): Finding {
  const slower = `not built: the model is loaded for each recording; \`${setupCommand}\` builds it`;
  return { what: 'whisper-host', ok: true, detail: host ?? slower };
}

async function inspectModel({ id, file, download, inspect }: Model): Promise<Finding> {
  const found = await inspect();
  const what = `model ${id}`;
  if (!found.ok && download !== undefined && isDownloading(file)) {
    return { what, ok: false, isPending: true, detail: `another process is downloading ${file}` };
  }
  if (!found.ok) return { what, ok: false, detail: found.detail, ...(download !== undefined && { fix: setupCommand }) };
  const languages = found.multilingual ? 'multilingual' : 'English only';
  const sizes = `${inMebibytes(found.bytes)}, needs about ${inMebibytes(needOf(found))} loaded`;
  return { what, ok: true, detail: `${sizes}, ${languages}, ${file}` };
}
