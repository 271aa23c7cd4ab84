/** Local transcription: our decoder and the whisper-cli program. The recording stays on this machine. */
import { access, constants, stat } from 'node:fs/promises';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import {
  EngineError,
  defineEngine,
  type Availability,
  type EngineContext,
  type Finding,
  type TranscriptionEngine,
} from '../contract.ts';
import { isModelName, modelFileName, modelSource, type ModelName } from './catalogue.ts';
import { toWhisper } from './languages.ts';
import { inspectModelFile, type ModelFile } from './model-file.ts';
import { optionsSchema, type ModelOptions, type Options } from './options.ts';
import { downloadedModelPath, prepareWhisper } from './prepare.ts';
import { transcribe } from './transcribe.ts';

const defaultWaiting = 16;
const ready: Availability = { available: true, code: 'ready', reason: 'Ready.' };

export default defineEngine<'transcription', Options>({
  contract: 1,
  name: 'whisper-cli',
  capability: 'transcription',
  options: optionsSchema,
  create: (options, context) => createWhisper(options, context),
});

function createWhisper(options: Options, context: EngineContext): TranscriptionEngine {
  const slots = options.slots ?? Math.max(1, Math.floor(context.cores / 2));
  const threads = options.threads ?? Math.max(1, Math.floor(context.cores / slots));
  const queue = context.queue({ slots, waiting: options.waiting ?? defaultWaiting });
  const models = options.models.map((model) => ({ ...model, file: context.resolve(model.file) }));
  const lookAt = rememberModelFiles();
  let preparation: string | undefined;

  function modelOf(id: string): ModelOptions {
    const model = models.find((candidate) => candidate.id === id);
    if (!model) throw new EngineError('unknown-model', `This engine does not serve "${id}".`);
    return model;
  }

  async function availability(id: string): Promise<Availability> {
    const model = modelOf(id);
    const missing = (await programMissing()) ?? (await modelMissing(model));
    if (missing && preparation !== undefined) return { available: false, code: 'preparing', reason: preparation };
    if (missing) return missing;
    return queue.full
      ? { available: true, code: 'busy', reason: 'All places are taken; try again in a moment.' }
      : ready;
  }

  async function programMissing(): Promise<Availability | undefined> {
    if (await findWhisper(options, context)) return undefined;
    const reason =
      'The program whisper-cli is not installed: `npm run setup` builds it, or WHISPER_CLI names where it is.';
    return { available: false, code: 'program-missing', reason };
  }

  async function modelMissing({ file }: ModelOptions): Promise<Availability | undefined> {
    const found = await lookAt(file);
    if (found.ok) return undefined;
    const name = downloadable(file, context);
    const help = name
      ? `\`npm run setup\` downloads it; by hand: ${options.mirror ?? modelSource}/${modelFileName(name)}.`
      : 'WHISPER_MODEL or the settings name the file.';
    return {
      available: false,
      code: 'model-file-missing',
      reason: `The model file is not usable: ${found.detail}. ${help}`,
    };
  }

  async function inspectProgram(): Promise<Finding> {
    const program = await findWhisper(options, context);
    if (program !== undefined)
      return { what: 'whisper-cli', ok: true, detail: `${await versionOf(program, context)}, ${program}` };
    return { what: 'whisper-cli', ok: false, detail: 'not found', mend: 'npm run setup' };
  }

  async function inspectModel({ id, file }: ModelOptions): Promise<Finding> {
    const found = await lookAt(file);
    const what = `model ${id}`;
    if (!found.ok) {
      const mend = downloadable(file, context) ? { mend: 'npm run setup' } : {};
      return { what, ok: false, detail: found.detail, ...mend };
    }
    const languages = found.multilingual ? 'multilingual' : 'English only';
    return { what, ok: true, detail: `${String(Math.round(found.bytes / 2 ** 20))} MiB, ${languages}, ${file}` };
  }

  return {
    models: () =>
      Promise.resolve(models.map(({ id, name }) => ({ id, local: true, ...(name !== undefined && { name }) }))),
    availability,
    async transcribe({ recording, model: id, language }, { signal }) {
      const model = modelOf(id);
      const program = await findWhisper(options, context);
      const file = await lookAt(model.file);
      if (program === undefined || !file.ok)
        throw new EngineError('model-unavailable', (await availability(id)).reason);
      const spoken = languageFor(language ?? model.language, file.multilingual, id);
      const vadFile = model.vad === undefined ? undefined : context.resolve(model.vad);
      const job = { program, modelFile: model.file, vadFile, language: spoken, threads, recording };
      return queue.run(() => transcribe(job, context, { signal }), { signal });
    },
    inspect: async () => [await inspectProgram(), ...(await Promise.all(models.map(inspectModel)))],
    async prepare({ signal, progress }) {
      const needProgram = (await findWhisper(options, context)) === undefined;
      const wanted = models.map(({ file }) => downloadable(file, context)).filter((name) => name !== undefined);
      try {
        for (const model of wanted.length > 0 ? wanted : [null]) {
          await prepareWhisper({
            dataDir: context.dataDir,
            needProgram,
            model,
            mirror: options.mirror ?? modelSource,
            env: context.env,
            cores: context.cores,
            fetch: context.fetch,
            log: context.log,
            signal,
            progress: (step, fraction) => {
              preparation =
                fraction === null ? `It is ${step}.` : `It is ${step}: ${String(Math.floor(fraction * 100))} %.`;
              progress(step, fraction);
            },
          });
        }
      } finally {
        preparation = undefined;
      }
    },
  };
}

/** By the settings, then WHISPER_CLI, then PATH, then what `npm run setup` has built. */
async function findWhisper(options: Options, { env, dataDir, resolve }: EngineContext): Promise<string | undefined> {
  const named = options.program ?? env.WHISPER_CLI;
  const onPath = (env.PATH ?? '').split(delimiter).filter(isAbsolute);
  const folders = [...onPath, join(dataDir, 'bin')];
  const candidates = named ? [resolve(named)] : folders.map((folder) => join(folder, 'whisper-cli'));
  for (const candidate of candidates) if (await isExecutable(candidate)) return candidate;
  return undefined;
}

const versionDeadlineMs = 5_000;

async function versionOf(program: string, context: EngineContext): Promise<string> {
  await using directory = await context.temporaryDirectory();
  const signal = AbortSignal.timeout(versionDeadlineMs);
  const { stdout } = await context.run(program, ['--version'], {
    signal,
    timeoutMs: versionDeadlineMs,
    cwd: directory.path,
  });
  return /version:? *(\S+)/.exec(stdout)?.[1] ?? 'unknown version';
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // not there: the next candidate may be
  }
}

/** Which of the catalogue's models a missing file stands for: only what lies where `prepare` puts it. */
function downloadable(file: string, { dataDir }: EngineContext): ModelName | undefined {
  const name = /^ggml-(.+)\.bin$/.exec(basename(file))?.[1] ?? '';
  return isModelName(name) && file === downloadedModelPath(dataDir, name) ? name : undefined;
}

/** A look at a model file is worth milliseconds; it is taken again only when the file has changed. */
function rememberModelFiles(): (path: string) => Promise<ModelFile> {
  const seen = new Map<string, { stamp: string; found: ModelFile }>();
  return async (path) => {
    const stamp = await stat(path).then(
      ({ mtimeMs, size, ino }) => [mtimeMs, size, ino].join(),
      () => 'missing',
    );
    const known = seen.get(path);
    if (known?.stamp === stamp) return known.found;
    const found = inspectModelFile(path);
    seen.set(path, { stamp, found });
    return found;
  };
}

/** whisper-cli's own default is English, so that `auto` must be said. */
function languageFor(language: string | undefined, multilingual: boolean, model: string): string {
  if (!multilingual) {
    if (language === undefined || language === 'en') return 'en';
    throw new EngineError('language-not-supported', `The model ${model} knows English (en) only, not "${language}".`);
  }
  if (language === undefined) return 'auto';
  const known = toWhisper(language);
  if (known === undefined)
    throw new EngineError('language-not-supported', `Whisper does not know the language "${language}".`);
  return known;
}
