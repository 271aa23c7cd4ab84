import { speechMediaTypes, type EngineContext, type Pcm, type Speech, type SpeechCall } from '../contract/index.ts';
import { linkedSignal, type LinkedSignal } from '../../lib/abort.ts';
import { sentenceEnds } from '../../lib/sentences.ts';
import { piecesOf } from '../../lib/spoken-pieces.ts';
import { awaitFirstChunk } from '../lib/await-first-chunk.ts';
import { notAudio } from './answer.ts';
import { requestPiece, type Endpoint } from './request.ts';
import type { ByteReader } from '../../lib/byte-reader.ts';
import type { Model } from './models.ts';
import { framesOf } from './mp3.ts';
import { planFor, type Plan } from './plan.ts';
import { prefetch } from '../lib/prefetch.ts';
import { readPcm } from './pcm.ts';

export interface Dependencies extends Endpoint {
  readonly context: Pick<EngineContext, 'encode' | 'formats'>;
}

type Fetch = (text: string) => Promise<ByteReader>;

export async function synthesize(
  call: SpeechCall,
  model: Model,
  dependencies: Dependencies,
  signal: AbortSignal,
): Promise<Speech> {
  const split = piecesOf(call.text, { longest: model.maxCharacters, sentenceEnds }).map(({ text }) => text);
  const pieces = split.length > 0 ? split : [call.text]; // only white space: let the provider decide
  const { context } = dependencies;
  const plan = planFor(call.format, { pieces: pieces.length, remote: model.formats, encodable: context.formats });
  const voice = model.voiceFor(call);
  signal.throwIfAborted();
  const lifetime = linkedSignal(signal);
  const end = () => lifetime.end(new Error('the synthesis is over'));
  try {
    const options = { call, model, voice, format: plan.remoteFormat, lifetime };
    const fetch: Fetch = (text) => requestPiece(text, options, dependencies);
    const speech = await speechBy[plan.mode](pieces, fetch, { call, model, lifetime, context });
    return await awaitFirstChunk(speech, { end, empty: () => notAudio('an empty body') });
  } catch (error) {
    end();
    throw error;
  }
}

interface Synthesis {
  readonly call: SpeechCall;
  readonly model: Model;
  readonly lifetime: LinkedSignal;
  readonly context: Dependencies['context'];
}

const speechBy: Readonly<
  Record<Plan['mode'], (pieces: readonly string[], fetch: Fetch, synthesis: Synthesis) => Speech | Promise<Speech>>
> = {
  pass: (pieces, fetch, { call }) => ({
    mediaType: speechMediaTypes[call.format],
    audio: concatenated(pieces, fetch, (answer) => answer.rest()),
  }),
  join: (pieces, fetch, { call }) => ({
    mediaType: speechMediaTypes[call.format],
    audio: concatenated(pieces, fetch, framesOf),
  }),
  async encode(pieces, fetch, { call, model, lifetime, context }) {
    const pcm = await joined(prefetch(pieces, async (text) => readPcm(await fetch(text), model.sampleRate)));
    return context.encode(pcm, call.format, { signal: lifetime.signal });
  },
};

async function* concatenated(
  pieces: readonly string[],
  fetch: Fetch,
  bytesOf: (answer: ByteReader) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const answer of prefetch(pieces, fetch)) yield* bytesOf(answer);
}

/** Concatenates the samples of all pieces, which must have the sample rate of the first. */
async function joined(answers: AsyncGenerator<Pcm>): Promise<Pcm> {
  const first = await answers.next();
  if (first.done) throw new Error('a text has at least one piece');
  const { sampleRate, samples } = first.value;
  async function* all(): AsyncGenerator<Int16Array> {
    yield* samples;
    for await (const pcm of answers) {
      if (pcm.sampleRate !== sampleRate) throw notAudio(`${pcm.sampleRate} Hz after ${sampleRate} Hz`);
      yield* pcm.samples;
    }
  }
  return { sampleRate, samples: all() };
}
