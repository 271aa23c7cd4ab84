/** Reads the audio of a response: the body itself, or base64 in JSON. */
import { EngineError } from '../contract/index.ts';
import { parseObject, textOf } from '../../lib/json.ts';
import { unexpected } from '../lib/provider/failures.ts';
import { readErrorText, readText, tooLarge, type HttpAnswer } from '../lib/provider/transport.ts';
import type { LinkedSignal } from '../../lib/abort.ts';

/** Held in memory as text: 24 MB of audio, which is 25 minutes of mp3 at 128 kbit/s or 8 minutes of WAV at 24 kHz. */
const maxJsonBytes = 32 * 2 ** 20;

export interface ReadOptions {
  readonly lifetime: LinkedSignal;
  /** Idle timeout in milliseconds; backpressure does not count. */
  readonly idleMs: number;
  /** Maximum size of the audio in bytes. */
  readonly limit: number;
  /** Describes an answer that is not audio. */
  readonly outline: (text: string) => string;
}

/** Throws `provider-bad-response` or `provider-timeout`, even in the middle of the audio, or the signal's reason. */
export async function* readAudio(answer: HttpAnswer, options: ReadOptions): AsyncGenerator<Uint8Array> {
  const { lifetime, outline } = options;
  const mediaType = [answer.headers['content-type']].flat()[0]?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (/^application\/([\w.-]+\+)?json$/.test(mediaType)) {
    const text = await readText(answer, maxJsonBytes, lifetime.signal);
    yield audioIn(text, outline);
  } else if (mediaType.startsWith('text/')) {
    const text = await readErrorText(answer);
    lifetime.signal.throwIfAborted();
    throw notAudio(`${mediaType}: ${outline(text)}`, text);
  } else {
    yield* readBody(answer, options);
  }
}

async function* readBody({ body }: HttpAnswer, { lifetime, idleMs, limit }: ReadOptions): AsyncGenerator<Uint8Array> {
  const late = () =>
    new EngineError('provider-timeout', `Idle timeout: no audio from the provider for ${String(idleMs / 1000)} s.`);
  const chunks = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  const next = () =>
    lifetime.within(idleMs, late, chunks.next()).catch((cause: unknown) => {
      lifetime.signal.throwIfAborted();
      throw new EngineError('provider-bad-response', 'The audio of the provider ended early.', { cause });
    });
  let bytes = 0;
  try {
    for (let chunk = await next(); !chunk.done; chunk = await next()) {
      bytes += chunk.value.length;
      if (bytes > limit) throw tooLarge(limit);
      yield chunk.value;
    }
  } finally {
    await chunks.return?.(); // destroys the rest of the body
  }
}

/** `audio_data` is used by Mistral. */
const audioFields = ['audio_data', 'audio', 'data'];

function audioIn(json: string, outline: (text: string) => string): Buffer {
  const answer = parseObject(json);
  const found = audioFields.map((name) => textOf(answer?.[name])).find((text) => text !== '') ?? '';
  if (!/^[\w+/-]+={0,2}$/.test(found)) throw notAudio(`JSON: ${outline(json)}`);
  return Buffer.from(found, 'base64');
}

/** `text`: the beginning of the response, if it may be text. */
export function notAudio(what: string, text = ''): EngineError {
  return unexpected('The response of the provider is not audio.', text, `the provider answered with ${what}`);
}
