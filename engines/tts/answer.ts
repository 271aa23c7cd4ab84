/** The audio of an answer, whether it is the body itself or stands in JSON as base64. */
import { EngineError } from '../contract/index.ts';
import { parseObject, textOf } from '../../lib/json.ts';
import { readErrorText, readText, type HttpAnswer } from '../lib/provider/transport.ts';
import type { LinkedSignal } from '../../lib/abort.ts';

/** In memory, as text: 24 MB of audio, which are 25 minutes of mp3 at 128 kbit/s, and 8 of WAV at 24 kHz. */
const longestJson = 32 * 2 ** 20;

export interface ReadOptions {
  readonly lifetime: LinkedSignal;
  /** Milliseconds that the body may pause while it is waited for. */
  readonly idleMs: number;
  /** Bytes of audio; what has more is no answer to its text. */
  readonly limit: number;
  readonly redact: (text: string) => string;
}

/** Throws `provider-bad-response` and `provider-timeout`, at once or while it is read, or the signal's reason. */
export async function* readAudio(answer: HttpAnswer, options: ReadOptions): AsyncGenerator<Uint8Array> {
  const { lifetime, redact } = options;
  const mediaType = [answer.headers['content-type']].flat()[0]?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (/^application\/([\w.-]+\+)?json$/.test(mediaType)) {
    const text = await readText(answer, longestJson, lifetime.signal);
    yield audioIn(text, redact);
  } else if (mediaType.startsWith('text/')) {
    const text = await readErrorText(answer);
    lifetime.signal.throwIfAborted();
    throw notAudio(`${mediaType}: ${redact(text)}`);
  } else {
    yield* readBody(answer, options);
  }
}

async function* readBody({ body }: HttpAnswer, { lifetime, idleMs, limit }: ReadOptions): AsyncGenerator<Uint8Array> {
  const late = () =>
    new EngineError('provider-timeout', `The speech of the provider paused for ${String(idleMs / 1000)} s.`);
  const chunks = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  const next = () =>
    lifetime.within(idleMs, late, chunks.next()).catch((cause: unknown) => {
      lifetime.signal.throwIfAborted();
      throw new EngineError('provider-bad-response', 'The speech of the provider broke off.', { cause });
    });
  let bytes = 0;
  try {
    for (let chunk = await next(); !chunk.done; chunk = await next()) {
      bytes += chunk.value.length;
      if (bytes > limit) throw notAudio(`more than ${String(limit)} bytes`);
      yield chunk.value;
    }
  } finally {
    await chunks.return?.(); // the rest of the body is not wanted
  }
}

/** `audio_data` is Mistral's. */
const audioFields = ['audio_data', 'audio', 'data'];

function audioIn(json: string, redact: (text: string) => string): Buffer {
  const answer = parseObject(json);
  const found = audioFields.map((name) => textOf(answer?.[name])).find((text) => text !== '') ?? '';
  if (!/^[\w+/-]+={0,2}$/.test(found)) throw notAudio(`JSON: ${redact(json.slice(0, 4000))}`);
  return Buffer.from(found, 'base64');
}

export function notAudio(what: string): EngineError {
  const cause = new Error(`the provider answered with ${what}`);
  return new EngineError('provider-bad-response', 'The provider answered with something that is not speech.', {
    cause,
  });
}
