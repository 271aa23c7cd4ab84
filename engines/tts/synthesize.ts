import type { EngineContext, Pcm, Speech, SpeechCall } from '../contract/index.ts';
import { begin } from '../lib/begin.ts';
import { splitSentences } from './sentences.ts';
import { openAhead } from './ahead.ts';
import { notAudio } from './answer.ts';
import { askFor, type Way } from './ask.ts';
import type { ByteReader } from '../../lib/byte-reader.ts';
import { startLifetime, type Lifetime } from './lifetime.ts';
import type { Model } from './models.ts';
import { framesOf } from './mp3.ts';
import { planFor, type Plan } from './plan.ts';
import { readSound } from './sound.ts';

export interface Tools extends Way {
  readonly context: Pick<EngineContext, 'encode' | 'formats'>;
}

type Ask = (text: string) => Promise<ByteReader>;

export async function synthesize(call: SpeechCall, model: Model, tools: Tools, signal: AbortSignal): Promise<Speech> {
  const split = splitSentences(call.text, model.maxCharacters);
  const pieces = split.length > 0 ? split : [call.text]; // of white space alone: the provider may say what it thinks
  const { formats } = tools.context;
  const plan = planFor(call.format, { pieces: pieces.length, remote: model.formats, encodable: formats });
  const voice = model.voiceFor(call);
  const lifetime = startLifetime(signal);
  try {
    const ask: Ask = (text) => askFor(text, { call, model, voice, format: plan.fetched, lifetime }, tools);
    const speech = await speechOf[plan.way](pieces, ask, { call, model, lifetime, context: tools.context });
    return await begin(speech, { end: () => lifetime[Symbol.dispose](), empty: () => notAudio('nothing') });
  } catch (error) {
    lifetime[Symbol.dispose]();
    throw error;
  }
}

interface Making {
  readonly call: SpeechCall;
  readonly model: Model;
  readonly lifetime: Lifetime;
  readonly context: Tools['context'];
}

const mediaTypes = { mp3: 'audio/mpeg', wav: 'audio/wav', ogg: 'audio/ogg', opus: 'audio/ogg' } as const;

const speechOf: Readonly<
  Record<Plan['way'], (pieces: readonly string[], ask: Ask, making: Making) => Speech | Promise<Speech>>
> = {
  pass: (pieces, ask, { call }) => ({
    mediaType: mediaTypes[call.format],
    audio: joined(pieces, ask, (answer) => answer.rest()),
  }),
  join: (pieces, ask, { call }) => ({
    mediaType: mediaTypes[call.format],
    audio: joined(pieces, ask, framesOf),
  }),
  async encode(pieces, ask, { call, model, lifetime, context }) {
    const pcm = await soundOf(openAhead(pieces, async (text) => readSound(await ask(text), model.sampleRate)));
    return context.encode(pcm, call.format, { signal: lifetime.signal });
  },
};

async function* joined(
  pieces: readonly string[],
  ask: Ask,
  bytesOf: (answer: ByteReader) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const answer of openAhead(pieces, ask)) yield* bytesOf(answer);
}

/** All of them as one, once the first says its sample rate. */
async function soundOf(sounds: AsyncGenerator<Pcm>): Promise<Pcm> {
  const first = await sounds.next();
  if (first.done) throw new Error('a text has one piece at least');
  const { sampleRate, samples } = first.value;
  async function* all(): AsyncGenerator<Int16Array> {
    yield* samples;
    for await (const sound of sounds) {
      if (sound.sampleRate !== sampleRate) throw notAudio(`${sound.sampleRate} Hz after ${sampleRate} Hz`);
      yield* sound.samples;
    }
  }
  return { sampleRate, samples: all() };
}
