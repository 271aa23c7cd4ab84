/** Local transcription: our decoder and the whisper-cli program. Recordings stay on this machine. */
import { existsSync } from 'node:fs';
import {
  EngineError,
  defineEngine,
  type Availability,
  type EngineContext,
  type Finding,
  type TranscriptionEngine,
} from '../contract/index.ts';
import { entryOf, fixedModels, readyOrBusy, serveModels } from '../lib/serve-models.ts';
import { setupCommand } from '../lib/setup-command.ts';
import { isBuilding } from './build.ts';
import { modelSource, modelUrl } from './catalogue.ts';
import { isDownloading } from './download.ts';
import { languageFor } from './languages.ts';
import { featuresOf, toModel, type Model } from './models.ts';
import { optionsSchema, type ModelOptions, type Options } from './options.ts';
import { createPreparationTracker, type PreparationState } from './preparation-tracker.ts';
import { buildStep, downloadStep } from './prepare.ts';
import { findWhisper, versionOf } from './program.ts';
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
  const threads = options.threads ?? Math.max(1, Math.floor(context.cores / slots));
  const queue = context.queue({ slots, waiting: options.waiting ?? defaultWaiting });
  const models = options.models.map((model) => toModel({ ...model, ...withPaths(model, context) }, context.dataDir));
  const preparation = createPreparationTracker(context);
  const program = () => findWhisper(options.program, context);

  const { modelOf, ...served } = serveModels(
    fixedModels(models, (model) => ({ ...entryOf(model, true), supports: featuresOf(model) })),
    availability,
  );

  async function availability(model: Model): Promise<Availability> {
    const file = await model.inspect();
    if (!file.ok && model.download === undefined) return unavailable('model-file-missing', `${file.detail}.`);
    if (model.vad !== undefined && !existsSync(model.vad))
      return unavailable('model-file-missing', `${model.vad} does not exist.`);
    const hasProgram = program() !== undefined;
    if (file.ok && hasProgram) return readyOrBusy(queue);
    const { download } = model;
    const buildFailure = hasProgram ? undefined : preparation.failureOf(buildStep);
    const downloadFailure =
      file.ok || download === undefined ? undefined : preparation.failureOf(downloadStep(download));
    if (buildFailure !== undefined) return failed('program-missing', `whisper-cli not found: ${buildFailure}`);
    if (downloadFailure !== undefined) return failed('model-file-missing', `Model file missing: ${downloadFailure}`);
    if (preparation.state) return preparing(preparation.state);
    return hasProgram
      ? unavailable('model-file-missing', modelHelp(model))
      : unavailable('program-missing', programHelp);
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
      const { recording, prompt, temperature, timestamps } = call;
      const job = { ...files, language: whisperLanguage, threads, recording, prompt, temperature, timestamps };
      return queue.run(() => transcribe(job, context, options), options);
    },
    async prepare(call) {
      const files = await Promise.all(
        models.map(async ({ download, inspect }) => ((await inspect()).ok ? undefined : download)),
      );
      const missing = new Set(files.filter((name) => name !== undefined));
      const needProgram = program() === undefined;
      if (!needProgram && missing.size === 0) return;
      await preparation.run({ needProgram, models: [...missing], mirror: options.mirror }, call);
    },
    inspect: async () => [await inspectProgram(program(), context), ...(await Promise.all(models.map(inspectModel)))],
  };
}

const failed = (code: Availability['code'], why: string): Availability =>
  unavailable(code, `${why}. \`${setupCommand}\` tries again.`);

const unavailable = (code: Availability['code'], reason: string): Availability => ({ available: false, code, reason });

function withPaths({ file, vad }: ModelOptions, { resolve }: EngineContext): Pick<ModelOptions, 'file' | 'vad'> {
  return { file: resolve(file), ...(vad !== undefined && { vad: resolve(vad) }) };
}

const programHelp = `whisper-cli not found: run \`${setupCommand}\` to build it, or set WHISPER_CLI to its path.`;

async function inspectProgram(program: string | undefined, context: EngineContext): Promise<Finding> {
  const what = 'whisper-cli';
  if (program === undefined && (await isBuilding(context.dataDir))) {
    return { what, ok: false, isPending: true, detail: 'another process is building it' };
  }
  if (program === undefined) return { what, ok: false, detail: 'not found', fix: setupCommand };
  return { what, ok: true, detail: `${await versionOf(program, context)}, ${program}` };
}

async function inspectModel({ id, file, download, inspect }: Model): Promise<Finding> {
  const found = await inspect();
  const what = `model ${id}`;
  if (!found.ok && download !== undefined && (await isDownloading(file))) {
    return { what, ok: false, isPending: true, detail: `another process is downloading ${file}` };
  }
  if (!found.ok) return { what, ok: false, detail: found.detail, ...(download !== undefined && { fix: setupCommand }) };
  const languages = found.multilingual ? 'multilingual' : 'English only';
  return { what, ok: true, detail: `${String(Math.round(found.bytes / 2 ** 20))} MiB, ${languages}, ${file}` };
}
