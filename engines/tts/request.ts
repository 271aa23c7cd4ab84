/** Requests the audio of one piece of the text from the provider. */
import { EngineError, type SpeechCall } from '../contract/index.ts';
import type { Provider } from '../lib/provider/provider.ts';
import { notAudio, readAudio } from './answer.ts';
import type { Api, RemoteFormat } from './apis.ts';
import { audioSignatures } from '../../lib/audio-signatures.ts';
import { createByteReader, type ByteReader } from '../../lib/byte-reader.ts';
import type { LinkedSignal } from '../../lib/abort.ts';
import type { Model } from './models.ts';
import { isMp3 } from './mp3.ts';
import { explainRefusal } from './refusals.ts';

export interface Endpoint {
  readonly provider: Provider;
  readonly api: Api;
  /** Path below the provider's baseUrl. */
  readonly path: string;
  /** Timeout until the first audio of a piece. */
  readonly timeoutMs: number;
  /** Idle timeout of the audio. */
  readonly idleMs: number;
}

export interface PieceOptions {
  readonly call: SpeechCall;
  readonly model: Model;
  readonly voice: string | undefined;
  readonly format: RemoteFormat;
  readonly lifetime: LinkedSignal;
}

/** Resolves with the audio of the piece once its first bytes have arrived. */
export async function requestPiece(
  text: string,
  { call, model, voice, format, lifetime }: PieceOptions,
  { provider, api, path, timeoutMs, idleMs }: Endpoint,
): Promise<ByteReader> {
  const { fields } = api;
  const { speed, instructions = model.instructions } = call;
  const body = Buffer.from(
    JSON.stringify({
      model: model.remoteId,
      [fields.text]: text,
      [fields.format]: format,
      ...(voice !== undefined && { [fields.voice]: voice }),
      ...(speed !== undefined && { speed }),
      ...(instructions !== undefined && { instructions }),
    }),
  );
  const late = () =>
    new EngineError('provider-timeout', `The provider sent no audio within ${String(timeoutMs / 1000)} s.`);
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
    const limit = maxAudioBytes(text);
    const bytes = createByteReader(readAudio(answer, { lifetime, idleMs, limit, outline: provider.outline }));
    await checkSignature(bytes, format);
    return bytes;
  };
  return lifetime.within(timeoutMs, late, open());
}

/** One second per character, 16 bits at 48 kHz or 32 bits at 24 kHz, which is ten times real speech, plus a reserve. */
function maxAudioBytes(text: string): number {
  return 2_000_000 + text.length * 96_000;
}

/** Rejects error pages with an audio media type. pcm and wav are checked when the samples are read. */
async function checkSignature(bytes: ByteReader, format: RemoteFormat): Promise<void> {
  const head = await bytes.peek(36);
  if (head.length === 0) throw notAudio('an empty body');
  if (signatures[format](head)) return;
  throw notAudio(`a body that is not ${format}`, (await bytes.peek(256)).toString('latin1'));
}

/** The first page of an Ogg stream has a header of 28 bytes and the first packet, which names the codec (RFC 3533). */
const isOgg = (codec: string) => (head: Buffer) =>
  audioSignatures.ogg.test(head.toString('latin1')) && head.toString('latin1', 28).startsWith(codec);

const signatures: Readonly<Record<RemoteFormat, (head: Buffer) => boolean>> = {
  pcm: () => true,
  wav: () => true,
  mp3: isMp3,
  opus: isOgg('OpusHead'),
  ogg: isOgg('\x01vorbis'),
  flac: (head) => audioSignatures.flac.test(head.toString('latin1')),
  aac: (head) => head.length >= 7 && audioSignatures.aac.test(head.toString('latin1')),
};
