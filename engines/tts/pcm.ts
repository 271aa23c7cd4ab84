/** Reads samples from raw PCM and from streamed WAV. */
import type { Pcm } from '../contract/index.ts';
import { audioSignatures } from '../../lib/audio-signatures.ts';
import type { ByteReader } from '../../lib/byte-reader.ts';
import { sampleFormats } from '../../lib/samples.ts';
import { isWav, readSamples, readSpeechHeader, WavError, type WavLayout } from '../../lib/wav.ts';
import { notAudio } from './answer.ts';
import { isSurelyMp3 } from './mp3.ts';

/** Detects WAV or raw PCM; `rate` is the sample rate of raw PCM. Throws `provider-bad-response`. */
export async function readPcm(bytes: ByteReader, rate: number): Promise<Pcm> {
  const head = await bytes.peek(16);
  if (!isWav(head)) await expectSamples(bytes, head);
  const raw: WavLayout = { sampleRate: rate, channels: 1, format: sampleFormats['pcm-s16'], bytes: Infinity };
  const layout = isWav(head) ? await headerOf(bytes) : raw;
  if ((await bytes.peek(1)).length === 0) throw notAudio('no samples');
  return { sampleRate: layout.sampleRate, samples: readSamples(bytes, layout) };
}

async function headerOf(bytes: ByteReader): Promise<WavLayout> {
  try {
    return await readSpeechHeader(bytes);
  } catch (error) {
    throw error instanceof WavError ? notAudio(error.message) : error;
  }
}

/** Some providers ignore the requested format; encoded audio played as samples would be noise at full volume. */
async function expectSamples(bytes: ByteReader, head: Buffer): Promise<void> {
  if (looksLikeText(head)) throw notAudio('text', (await bytes.peek(256)).toString('latin1'));
  const start = head.toString('latin1');
  if (audioSignatures.ogg.test(start) || audioSignatures.flac.test(start) || (await isSurelyMp3(bytes))) {
    throw notAudio('encoded audio instead of samples; fix the setting `formats`');
  }
}

/** Detects an error page with a wrong media type. Speech starts quietly; as samples, text would be very loud. */
function looksLikeText(head: Buffer): boolean {
  return /^\s*[!-~][\s -~]*$/.test(head.toString('latin1'));
}
