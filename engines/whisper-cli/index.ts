/** Local transcription: our decoder and the whisper-cli program. The recording stays on this machine. */
import { existsSync } from 'node:fs';
import {
  EngineError,
  defineEngine,
  type Availability,
  type EngineContext,
  type Finding,
  type TranscriptionEngine,
} from '../contract/index.ts';
import { entryOf, fixedModels, serveModels } from '../lib/serve-models.ts';
import { setupCommand } from '../lib/setup-command.ts';
import { modelSource, modelUrl } from './catalogue.ts';
import { languageFor } from './languages.ts';
import { toModel, type Model } from './models.ts';
import { optionsSchema, type ModelOptions, type Options } from './options.ts';
import { createPreparation } from './preparation.ts';
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
  const preparation = createPreparation(context);
  const program = () => findWhisper(options.program, context);

  const { modelOf, ...served } = serveModels(
    fixedModels(models, (model) => entryOf(model, true)),
    availability,
  );

  async function availability(model: Model): Promise<Availability> {
    const file = await model.inspect();
    if (!file.ok && model.download === undefined) return unavailable('model-file-missing', `${file.detail}.`);
    if (model.vad !== undefined && !existsSync(model.vad))
      return unavailable('model-file-missing', `${model.vad} does not exist.`);
    const hasProgram = (await program()) !== undefined;
    if (file.ok && hasProgram) return queue.full ? busy : ready;
    if (preparation.underWay !== undefined)
      return unavailable('preparing', `Being prepared (${preparation.underWay}).`);
    return hasProgram
      ? unavailable('model-file-missing', modelHelp(model))
      : unavailable('program-missing', programHelp);
  }

  function unavailable(code: Availability['code'], reason: string): Availability {
    const failed = code === 'preparing' || preparation.failure === undefined ? '' : ` (${preparation.failure})`;
    return { available: false, code, reason: `${reason}${failed}` };
  }

  function modelHelp({ file, download }: Model): string {
    const url = download === undefined ? '' : modelUrl(download, options.mirror ?? modelSource);
    return `The model is not there: \`${setupCommand}\` downloads it, or put ${url} at ${file}.`;
  }

  return {
    ...served,
    async transcribe({ recording, model: id, language }, { signal }) {
      const model = modelOf(id);
      const [found, file] = [await program(), await model.inspect()];
      if (found === undefined || !file.ok)
        throw new EngineError('model-unavailable', (await availability(model)).reason);
      const spoken = languageFor(language ?? model.language, file.multilingual, id);
      const job = { program: found, modelFile: model.file, vadFile: model.vad, language: spoken, threads, recording };
      return queue.run(() => transcribe(job, context, { signal }), { signal });
    },
    async prepare(call) {
      const files = await Promise.all(
        models.map(async ({ download, inspect }) => ((await inspect()).ok ? undefined : download)),
      );
      const missing = new Set(files.filter((name) => name !== undefined));
      const needProgram = (await program()) === undefined;
      if (!needProgram && missing.size === 0) return;
      await preparation.run({ needProgram, models: [...missing], mirror: options.mirror }, call);
    },
    inspect: async () => [
      await inspectProgram(await program(), context),
      ...(await Promise.all(models.map(inspectModel))),
    ],
  };
}

function withPaths({ file, vad }: ModelOptions, { resolve }: EngineContext): Pick<ModelOptions, 'file' | 'vad'> {
  return { file: resolve(file), ...(vad !== undefined && { vad: resolve(vad) }) };
}

const ready: Availability = { available: true, code: 'ready', reason: 'Ready.' };
const busy: Availability = { available: true, code: 'busy', reason: 'All places are taken; try again in a moment.' };
const programHelp = `The program whisper-cli is not there: \`${setupCommand}\` builds it, or WHISPER_CLI names where it is.`;

async function inspectProgram(program: string | undefined, context: EngineContext): Promise<Finding> {
  const what = 'whisper-cli';
  if (program === undefined) return { what, ok: false, detail: 'not found', fix: setupCommand };
  return { what, ok: true, detail: `${await versionOf(program, context)}, ${program}` };
}

async function inspectModel({ id, file, download, inspect }: Model): Promise<Finding> {
  const found = await inspect();
  const what = `model ${id}`;
  if (!found.ok) return { what, ok: false, detail: found.detail, ...(download !== undefined && { fix: setupCommand }) };
  const languages = found.multilingual ? 'multilingual' : 'English only';
  return { what, ok: true, detail: `${String(Math.round(found.bytes / 2 ** 20))} MiB, ${languages}, ${file}` };
}
