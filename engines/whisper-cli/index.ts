/** Local transcription with whisper.cpp. Recordings stay on this machine. */
import { existsSync } from 'node:fs';
import {
  EngineError,
  defineEngine,
  type AssetGroup,
  type Availability,
  type EngineContext,
  type Finding,
  type MadeAsset,
  type TranscriptionEngine,
} from '../contract/index.ts';
import { cached, type Cached } from '../lib/cached.ts';
import { megabytes } from '../../lib/megabytes.ts';
import { entryOf, loading, pulledId, readyOrBusy, serveModels, withPulled } from '../lib/serve-models.ts';
import { openVoiceActivity } from '../lib/voice-activity/index.ts';
import { setupCommand } from '../../lib/setup-command.ts';
import { buildWhisper, removeUnfinishedBuild } from './build.ts';
import { catalogue } from './catalogue.ts';
import { abilitiesOf, languageFor, limitTo, type Model, toModel, type UsableFile } from './models.ts';
import { createLoadedModels, needOf } from './whisper-host.ts';
import { optionsSchema, type ModelOptions, type Options } from './options.ts';
import { packagedWhisper } from './packaged.ts';
import {
  builtProgramPath,
  findHost,
  findWhisper,
  inspectNamedProgram,
  namedProgram,
  versionOf,
  type Program,
} from './program.ts';
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
  const queue = context.queue({ slots, threads, waiting: options.waiting ?? defaultWaiting });
  const fitContext = options.audioContext === 'auto';
  const models = options.models.map((model) => toModel({ ...model, ...withPaths(model, context) }, context));
  const byName = new Map(catalogue.ids.map((name) => [name, models.find((model) => model.download === name) ?? pulledModel(name, context)])); // prettier-ignore
  const isEnabled = options.voiceActivity !== 'off' && models.some(({ vad }) => vad === undefined);
  const activity = isEnabled ? openVoiceActivity({ runtime: undefined }, context) : undefined;
  const program = cached(() => findWhisper(options.program, context)?.path, context.now);
  const loaded = createLoadedModels({ slots, program, idleUnloadMs: 1000 * (options.idleUnload ?? 300) }, context);
  const freeHost = (model: Model, file: UsableFile) =>
    options.keepLoaded === false ? undefined : loaded.free(model, file);

  const pulled = options.pulled === true ? [...byName.values()].filter((model) => !models.includes(model)) : [];
  const programs = programAssets(options, context, program);
  const hasHost = () => findHost(program(), context.dataDir) !== undefined;
  const { modelOf, ...served } = serveModels(
    withPulled(models, pulled, async (model) => {
      const entry = { ...entryOf(model, { local: true }), ...(await abilitiesOf(model, hasHost())) };
      // Without the program that the settings name, no asset helps, and the availability names the setting.
      if (inspectNamedProgram(options.program, context)) return entry;
      const needs = [...programs.needed.map(({ id }) => id), ...(model.download === undefined ? [] : [model.download])];
      return { ...entry, needs };
    }),
    availability,
  );

  /** The service calls this only if all assets are installed. */
  async function availability(model: Model): Promise<Availability> {
    const wrong = inspectNamedProgram(options.program, context);
    if (wrong) return unavailable('program-missing', `${wrong.detail}; ${wrong.fix}.`);
    const file = await model.inspect();
    if (!file.ok) return unavailable('model-file-missing', `${file.detail}.`);
    if (model.vad !== undefined && !existsSync(model.vad))
      return unavailable('model-file-missing', `${model.vad} does not exist.`);
    if (program() === undefined) return unavailable('program-missing', 'whisper-cli not found.');
    return !queue.full && loaded.isLoading(model, file) ? loading : readyOrBusy(queue);
  }

  const assetOf = (name: string, { inspect }: Model) =>
    catalogue.asset(name, context, options.mirror, { isReady: async () => (await inspect()).ok });

  function groups(): AssetGroup[] {
    const named = Array.from(byName, ([name, model]) => {
      const isServed = models.includes(model) || pulled.includes(model);
      const line = `engines.${context.instance}.models:\n  - { id: ${name}, file: ${JSON.stringify(model.file)} }`;
      return { asset: assetOf(name, model), ...(isServed ? { model: model.id } : { model: name, settings: line }) };
    });
    const configured = models.flatMap((model) => (model.download === undefined ? [] : assetOf(model.download, model)));
    const { needed: base, extras } = programs;
    return [
      // First: without it, silence and noise are transcribed, and it is smaller than the rest.
      ...(activity?.groups ?? []),
      ...catalogue.groups({ part: 'transcription', base, extras, configured, named, isAutomatic: true }),
    ];
  }

  return {
    ...served,
    decodes: true,
    async transcribe({ model: id, language, languages = [], ...call }, options) {
      const model = modelOf(id);
      const [found, file] = [program(), await model.inspect()];
      if (found === undefined || !file.ok)
        throw new EngineError('model-unavailable', (await availability(model)).reason);
      const spoken = {
        language: languageFor(language ?? model.language, file, id),
        ...limitTo(languages, file),
      };
      const files = { program: found, modelFile: model.file, vadFile: model.vad };
      const { recording, prompt, keywords, temperature, timestamps, translate = false } = call;
      const detector = model.vad === undefined ? activity : undefined;
      const request = {
        ...files,
        detector,
        ...spoken,
        ...{ recording, prompt, keywords, temperature, timestamps, translate },
        fitContext,
        // whisper.cpp removes silence only with its own state, which whisper-host does not use.
        hostProgram: model.vad === undefined ? findHost(found, context.dataDir) : undefined,
      };
      return queue.run(async ({ threads = 1 }) => {
        const now = await model.inspect(); // the file may have been replaced since
        const free = () => (now.ok ? freeHost(model, now) : undefined);
        return transcribe({ ...request, threads, free }, context, options);
      }, options);
    },
    async warmUp(id) {
      const requested = id === undefined ? (options.preload ? models : []) : [modelOf(id)];
      for (const model of requested) {
        const file = await model.inspect();
        if (!file.ok || program() === undefined) continue;
        freeHost(model, file)?.preload();
        if (model.vad === undefined) await activity?.preload();
      }
    },
    ...(activity && {
      findSpeech: (wavPath, endMs, { signal }) => activity.find({ wavPath, startMs: 0, endMs }, signal),
    }),
    assets: groups(),
    inspect: async () => [
      ...(await inspectProgram(options.program, context)),
      ...(options.keepLoaded === false ? [] : [inspectHost(findHost(program(), context.dataDir))]),
      ...(await Promise.all(models.map(inspectModel))).flat(),
      ...((await activity?.inspect()) ?? []),
    ],
  };
}

const pulledModel = (name: string, context: EngineContext): Model =>
  toModel({ id: pulledId(name), name: catalogue.titleOf(name), file: catalogue.pathOf(name, context) }, context);

/** If the settings name whisper-cli, only whisper-host can be built. */
function programAssets(options: Options, context: EngineContext, program: Cached<string | undefined>) {
  const both = ['whisper-cli', 'whisper-host'] as const;
  const programs: readonly Program[] = options.keepLoaded === false ? both.slice(0, 1) : both;
  const lacks = { obstacle: () => obstacleOf(context), changed: () => program.forget() };
  const asset = (id: Program, more: Pick<MadeAsset, 'title' | 'isReady'>, made: readonly Program[]): MadeAsset => ({
    ...{ kind: 'made', id, bytes: 0, license: 'MIT', verb: 'building', source: 'npm (source code, built here)' },
    ...{ path: builtProgramPath(context.dataDir), ...lacks, ...more },
    make: ({ signal, progress }) => buildWhisper({ ...context, signal, progress, programs: made }),
  });
  const isInstalled = () => program() !== undefined;
  const hasHost = () => findHost(program(), context.dataDir) !== undefined;
  if (isInstalled() && hasHost()) void removeUnfinishedBuild(context.dataDir).catch((err: unknown) => context.log.warn({ err }, 'an unfinished build could not be removed')); // prettier-ignore
  return {
    needed: namedProgram(options.program, context)
      ? []
      : [asset('whisper-cli', { title: 'whisper.cpp', isReady: isInstalled }, programs)],
    // whisper-host is not built automatically: transcription works without it.
    extras: programs.slice(1).map((id) => asset(id, { title: 'whisper-host', isReady: hasHost }, [id])),
  };
}

function obstacleOf({ env }: EngineContext): string | undefined {
  const lack = lackOfTools(env.PATH);
  return lack && `it cannot be built without ${lack.tools}: run \`${lack.fix}\``;
}

const unavailable = (code: Availability['code'], reason: string): Availability => ({ available: false, code, reason });

function withPaths({ file, vad }: ModelOptions, { resolve }: EngineContext): Pick<ModelOptions, 'file' | 'vad'> {
  return { file: resolve(file), ...(vad !== undefined && { vad: resolve(vad) }) };
}

/** Returns why the installed package for this platform cannot be used. */
function packageProblem(): string | undefined {
  const packaged = packagedWhisper();
  return packaged && 'problem' in packaged ? packaged.problem : undefined;
}

/** Assets that can be installed are not findings: the service lists them itself. */
async function inspectProgram(option: string | undefined, context: EngineContext): Promise<Finding[]> {
  const what = 'whisper-cli';
  const wrong = inspectNamedProgram(option, context);
  if (wrong) return [wrong];
  const [program, problem] = [findWhisper(option, context), packageProblem()];
  if (program === undefined) return problem === undefined ? [] : [{ what, ok: false, detail: problem }];
  const facts = [await versionOf(program.path, context), program.path, program.source, problem];
  return [{ what, ok: true, detail: facts.filter((fact) => fact !== undefined).join(', ') }];
}

/** whisper-host is optional, so its absence is not a failure. */
function inspectHost(host: string | undefined): Finding {
  const slower = `not built: the model is loaded for each recording; \`${setupCommand}\` builds it`;
  return { what: 'whisper-host', ok: true, detail: host ?? slower };
}

async function inspectModel({ id, file, download, inspect }: Model): Promise<Finding[]> {
  const found = await inspect();
  const what = `model ${id}`;
  if (!found.ok) return download === undefined ? [{ what, ok: false, detail: found.detail }] : [];
  const languages = found.multilingual ? 'multilingual' : 'English only';
  const sizes = `${megabytes(found.bytes)}, needs about ${megabytes(needOf(found))} loaded`;
  return [{ what, ok: true, detail: `${sizes}, ${languages}, ${file}` }];
}
