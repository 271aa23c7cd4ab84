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
import { megabytes } from '../../lib/megabytes.ts';
import { openLocalModels, unavailable } from '../lib/local-models.ts';
import { openVoiceActivity } from '../lib/voice-activity/index.ts';
import { setupCommand } from '../../lib/setup-command.ts';
import { buildWhisper, removeUnfinishedBuild } from './build.ts';
import { catalog } from './catalog.ts';
import {
  abilitiesOf,
  languageFor,
  limitTo,
  type Model,
  needOf,
  pulledModel,
  toModel,
  type UsableFile,
} from './models.ts';
import { createLoadedModels } from './whisper-host.ts';
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

async function createWhisper(options: Options, context: EngineContext): Promise<TranscriptionEngine> {
  const slots = options.slots ?? Math.max(1, Math.floor(context.cores / 2));
  const threads = options.threads ?? 'shared';
  const queue = context.queue({ slots, threads, waiting: options.waiting ?? defaultWaiting });
  const fitContext = options.audioContext === 'auto';
  const configured = options.models.map((model) => toModel(withPaths(model, context), options, context));
  const isListed = (name: string) => configured.some(({ downloads }) => downloads.some(({ id }) => id === name));
  const others = catalog.ids.filter((name) => !isListed(name)).map((name) => pulledModel(name, options, context));
  const isEnabled = options.voiceActivity !== 'off' && configured.some(({ vad }) => vad === undefined);
  const activity = isEnabled ? openVoiceActivity({ runtime: undefined }, context) : undefined;
  const programs = openPrograms(options, context);
  const loaded = createLoadedModels({ slots, programs, idleUnload: options.idleUnload ?? 300 }, context);
  const freeHost = (model: Model, file: UsableFile) =>
    options.keepLoaded === false ? undefined : loaded.free(model, file);

  const { models, modelOf, recheck, groupsOf } = await openLocalModels(context, {
    ...{ catalog, configured, others, pulled: options.pulled, base: programs.needed },
    look() {
      programs.look();
      activity?.look();
    },
    problem: () => programs.problem(),
    describe(model, found) {
      const { vad } = model;
      const isMissing = vad !== undefined && !existsSync(vad);
      return {
        ...abilitiesOf(model, found, { hasHost: programs.host !== undefined }),
        ...(isMissing && { availability: unavailable('model-file-missing', `${vad} does not exist.`) }),
      };
    },
    toServe: ({ file }, { id }) => ({
      model: id,
      settings: `engines.${context.instance}.models:\n  - { id: ${id}, file: ${JSON.stringify(file)} }`,
    }),
  });

  /** Rejects with `model-unavailable`. */
  async function usable(model: Model): Promise<{ readonly program: string; readonly file: UsableFile }> {
    const [file, { program }] = [await model.inspect(), programs];
    if (file.ok && program !== undefined) return { program, file };
    const why = programs.problem()?.reason ?? (file.ok ? 'whisper-cli not found.' : `${file.detail}.`);
    throw new EngineError('model-unavailable', why);
  }

  function groups(): AssetGroup[] {
    const { extras } = programs;
    return [
      // The detector comes first: without it, silence and noise are transcribed, and it is smaller than the rest.
      ...(activity?.groups ?? []),
      ...groupsOf({ part: 'transcription', extras, isAutomatic: true }),
    ];
  }

  return {
    models,
    recheck,
    decodes: true,
    async transcribe({ model: id, language, languages = [], ...call }, options) {
      const model = modelOf(id);
      const { program, file } = await usable(model);
      const spoken = {
        language: languageFor(language ?? model.language, file, id),
        ...(language === undefined && limitTo(languages, file)),
      };
      const files = { program, modelFile: model.file, vadFile: model.vad };
      const detector = model.vad === undefined ? activity : undefined;
      const request = {
        ...{ ...call, ...files, ...spoken, detector, fitContext },
        // whisper.cpp removes silence only with its default state, which whisper-host does not use.
        hostProgram: model.vad === undefined ? programs.host : undefined,
      };
      return queue.run(async ({ threads = 1 }) => {
        const now = await model.inspect(); // the file may have been replaced since
        const free = () => (now.ok ? freeHost(model, now) : undefined);
        return transcribe({ ...request, threads, free }, context, options);
      }, options);
    },
    async warmUp(id) {
      const requested = id === undefined ? (options.preload ? configured : []) : [modelOf(id)];
      for (const model of requested) {
        const file = await model.inspect();
        if (!file.ok || programs.program === undefined) continue;
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
      ...(options.keepLoaded === false ? [] : [inspectHost(programs.host)]),
      ...(await Promise.all(configured.map(inspectModel))).flat(),
      ...((await activity?.inspect()) ?? []),
    ],
  };
}

/** whisper-cli and whisper-host, and the assets for them. If the settings name whisper-cli, only whisper-host is built. */
function openPrograms(options: Options, context: EngineContext) {
  const both = ['whisper-cli', 'whisper-host'] as const;
  const programs: readonly Program[] = options.keepLoaded === false ? both.slice(0, 1) : both;
  const found = search();
  if (found.program !== undefined && found.host !== undefined) {
    removeUnfinishedBuild(context.dataDir).catch((err: unknown) =>
      context.log.warn({ err }, 'an unfinished build could not be removed'),
    );
  }

  function search(): { program: string | undefined; host: string | undefined } {
    const program = findWhisper(options.program, context)?.path;
    return { program, host: findHost(program, context.dataDir) };
  }

  const asset = (id: Program, more: Pick<MadeAsset, 'title' | 'isReady'>, made: readonly Program[]): MadeAsset => ({
    ...{ kind: 'made', id, bytes: 0, license: 'MIT', verb: 'building', source: 'npm (source code, built here)' },
    ...{ path: builtProgramPath(context.dataDir), obstacle: () => obstacleOf(context), ...more },
    make: ({ signal, progress }) => buildWhisper({ ...context, signal, progress, programs: made }),
  });

  return {
    /** Path of whisper-cli, if it was found. */
    get program() {
      return found.program;
    },
    /** Path of whisper-host, if it was found. */
    get host() {
      return found.host;
    },
    look: () => void Object.assign(found, search()),
    /** Returns what is wrong with the program that the settings name; undefined if nothing is, or if they name none. */
    problem(): Availability | undefined {
      const wrong = inspectNamedProgram(options.program, context);
      return wrong && unavailable('program-missing', `${wrong.detail}; ${wrong.fix}.`);
    },
    needed: namedProgram(options.program, context)
      ? []
      : [asset('whisper-cli', { title: 'whisper.cpp', isReady: () => found.program !== undefined }, programs)],
    // By itself, whisper-host is not built automatically: transcription works without it.
    extras: programs
      .slice(1)
      .map((id) => asset(id, { title: 'whisper-host', isReady: () => found.host !== undefined }, [id])),
  };
}

function obstacleOf({ env }: EngineContext): string | undefined {
  const lack = lackOfTools(env.PATH);
  return lack && `it cannot be built without ${lack.tools}: run \`${lack.fix}\``;
}

function withPaths(model: ModelOptions, { resolve }: EngineContext): ModelOptions {
  const { file, vad } = model;
  return { ...model, file: resolve(file), ...(vad !== undefined && { vad: resolve(vad) }) };
}

/** Returns why the installed package for this platform cannot be used; undefined if it can, or if none is installed. */
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

async function inspectModel({ id, file, downloads, inspect }: Model): Promise<Finding[]> {
  const found = await inspect();
  const what = `model ${id}`;
  if (!found.ok) return downloads.length > 0 ? [] : [{ what, ok: false, detail: found.detail }];
  const languages = found.multilingual ? 'multilingual' : 'English only';
  const sizes = `${megabytes(found.bytes)}, needs about ${megabytes(needOf(found))} loaded`;
  return [{ what, ok: true, detail: `${sizes}, ${languages}, ${file}` }];
}
