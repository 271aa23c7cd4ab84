/** One piece of a text, asked of the provider. */
import { EngineError, type SpeechCall } from '../contract/index.ts';
import type { Provider } from '../lib/provider/provider.ts';
import { notAudio, readAudio } from './answer.ts';
import type { Api, RemoteFormat } from './apis.ts';
import { createByteReader, type ByteReader } from '../../lib/byte-reader.ts';
import type { Lifetime } from './lifetime.ts';
import type { Model } from './models.ts';
import { isMp3 } from './mp3.ts';
import { explainRefusal } from './refusals.ts';

/** To the provider. */
export interface Way {
  readonly provider: Provider;
  readonly api: Api;
  /** Of the operation, behind the provider's baseUrl. */
  readonly path: string;
  /** Milliseconds until the first audio of a piece. */
  readonly timeoutMs: number;
  /** Milliseconds that the audio may pause. */
  readonly idleMs: number;
}

export interface Asking {
  readonly call: SpeechCall;
  readonly model: Model;
  readonly voice: string | undefined;
  readonly format: RemoteFormat;
  readonly lifetime: Lifetime;
}

/** The audio of the piece, once its first bytes are there. */
export async function askFor(
  text: string,
  { call, model, voice, format, lifetime }: Asking,
  { provider, api, path, timeoutMs, idleMs }: Way,
): Promise<ByteReader> {
  const { fields } = api;
  const body = Buffer.from(
    JSON.stringify({
      model: model.remoteId,
      [fields.text]: text,
      [fields.format]: format,
      ...(voice !== undefined && { [fields.voice]: voice }),
      ...(model.instructions !== undefined && { instructions: model.instructions }),
    }),
  );
  const late = () =>
    new EngineError('provider-timeout', `The provider did not begin to speak within ${String(timeoutMs / 1000)} s.`);
  const open = async () => {
    const answer = await provider.send(
      {
        method: 'POST',
        path,
        model: model.id,
        headers: { 'content-type': 'application/json', accept: '*/*' },
        body: () => body,
        explain: (refusal, cause) => explainRefusal(refusal, { call, voice, format }, cause),
      },
      lifetime.signal,
    );
    const limit = mostBytes(text);
    const bytes = createByteReader(readAudio(answer, { lifetime, idleMs, limit, redact: provider.redact }));
    await checkBeginning(bytes, format);
    return bytes;
  };
  return lifetime.within(timeoutMs, late, open());
}

/** A second for every character, of 16 bits at 48 kHz or of 32 at 24 kHz, which is ten times real speech; and some more. */
function mostBytes(text: string): number {
  return 2_000_000 + text.length * 96_000;
}

/** An error page under an audio media type is no audio; what sound begins with is seen when it is read. */
async function checkBeginning(bytes: ByteReader, format: RemoteFormat): Promise<void> {
  const head = await bytes.peek(36);
  if (head.length === 0) throw notAudio('nothing');
  if (!beginnings[format](head)) throw notAudio(`something that is no ${format}`);
}

/** The first page of an Ogg stream has a header of 28 bytes and the first packet, which names the codec (RFC 3533). */
const isOgg = (codec: string) => (head: Buffer) =>
  head.toString('latin1', 0, 4) === 'OggS' && head.toString('latin1', 28).startsWith(codec);

const beginnings: Readonly<Record<RemoteFormat, (head: Buffer) => boolean>> = {
  pcm: () => true,
  wav: () => true,
  mp3: isMp3,
  opus: isOgg('OpusHead'),
  ogg: isOgg('\x01vorbis'),
};
