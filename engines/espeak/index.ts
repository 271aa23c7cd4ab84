/** Local speech: eSpeak NG, as a program or a WASM package, in a child process. The text stays on this machine. */
import {
  EngineError,
  OptionsError,
  defineEngine,
  type EngineContext,
  type ModelEntry,
  type SpeechEngine,
} from '../contract/index.ts';
import { validNames } from '../../lib/did-you-mean.ts';
import { installCommand } from '../../lib/setup-command.ts';
import { findModel } from '../lib/find-model.ts';
import { requireFormat } from '../lib/require-format.ts';
import { unavailable } from '../lib/local-models.ts';
import { createCatalog } from './catalog.ts';
import { speakInTurn } from './in-turn.ts';
import { optionsSchema, type Options } from './options.ts';
import { speak } from './speak.ts';
import { findSynthesizer } from './synthesizer.ts';
import { chooseVoice, type EspeakVoice } from './voices.ts';

const defaultId = 'espeak';
const defaultName = 'eSpeak NG';
const defaultVoice = 'en';
const defaultWaiting = 64;
const retryMs = 60_000;

export default defineEngine<'speech', Options>({
  contract: 1,
  name: 'espeak',
  capability: 'speech',
  options: optionsSchema,
  create: (options, context) => createEspeak(options, context),
});

async function createEspeak(options: Options, context: EngineContext): Promise<SpeechEngine> {
  const { id = defaultId, name = defaultName, voice: instanceVoice = defaultVoice } = options;
  // More slots than cores: a process under backpressure from a slow client uses no CPU.
  const { slots = 2 * context.cores, waiting = defaultWaiting } = options;
  const queue = context.queue({ slots, waiting });
  const catalog = createCatalog(context);
  const search = () => findSynthesizer(options.program, context);
  const help = options.program === undefined ? generalHelp : `Program not found: ${context.resolve(options.program)}.`;
  let synthesizer = search();
  /** The time from which a program that failed to list its voices is asked again for the entries. */
  let retryAt = -Infinity;

  /** Returns [] if no synthesizer was found, or if it failed to list its voices: a request asks it again. */
  async function voices(): Promise<readonly EspeakVoice[]> {
    if (!synthesizer || context.now() < retryAt) return [];
    return catalog.voicesOf(synthesizer).catch((error: unknown) => {
      retryAt = context.now() + retryMs;
      context.log.warn({ err: error }, 'could not list the voices of espeak');
      return [];
    });
  }

  async function entries(): Promise<readonly ModelEntry[]> {
    const entry = { id, name, local: true, supports, voices: await voices(), defaultVoice: instanceVoice };
    return [synthesizer ? entry : { ...entry, availability: unavailable('program-missing', help) }];
  }

  if (options.voice !== undefined) {
    const known = await voices();
    if (known.length > 0 && !known.some(({ id: voice }) => voice === options.voice)) {
      const ids = known.map(({ id: voice }) => voice);
      const names = validNames(ids, options.voice, 20);
      throw new OptionsError(`voice: unknown voice "${options.voice}"; ${names}`);
    }
  }

  return {
    models: await entries(),
    async recheck() {
      synthesizer = search();
      context.publish(await entries());
    },
    async synthesize(call, { signal }) {
      findModel([{ id }], call.model);
      const { text, format, speed = 1 } = call;
      requireFormat(format, context);
      const found = synthesizer;
      if (!found) throw new EngineError('model-unavailable', help);
      const { file, language } = chooseVoice(await catalog.voicesOf(found), call, instanceVoice);
      const start = async (own: AbortSignal) => {
        const pcm = await speak({ text, voiceFile: file, language, speed }, found, context, own);
        return context.encode(pcm, format, { signal: own });
      };
      return speakInTurn(queue, start, { signal });
    },
    async inspect() {
      const found = synthesizer;
      const what = 'espeak-ng';
      if (!found) return [{ what, ok: false, detail: help, fix: installCommand('espeak-ng') }];
      const { length } = await voices();
      return [{ what, ok: length > 0, detail: `${length} voices, ${found.what}` }];
    },
    [Symbol.asyncDispose]: () => catalog[Symbol.asyncDispose](),
  };
}

const supports = ['speed'] as const;
const generalHelp = `eSpeak NG not found: run \`${installCommand('espeak-ng')}\`, or \`npm install\` without \`--omit=optional\`.`;
