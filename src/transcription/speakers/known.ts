/** Decodes the references of known speakers next to the recording; the directory is removed with the request. */
import { randomUUID } from 'node:crypto';
import { open, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EngineError, type KnownSpeaker } from '../../../engines/contract/index.ts';
import { lengthOf, samplesOf } from '../../../lib/wav.ts';
import type { Decoder } from '../../audio/decode/index.ts';
import { silentPeak } from '../../audio/decode-request.ts';
import { mediaTypes, sniff } from '../../audio/sniff.ts';
import { invalid, type ProblemError } from '../../contract/problems.ts';
import type { KnownVoice } from './find.ts';

const [minMs, maxMs] = [1_000, 30_000];

/** Throws `invalid-request` for a reference that is silent, or not a recording of 1 to 30 s. */
export async function decodeKnown(
  speakers: readonly KnownSpeaker[],
  recordingPath: string,
  { decode, signal }: { readonly decode: Decoder; readonly signal: AbortSignal },
): Promise<KnownVoice[]> {
  const known: KnownVoice[] = [];
  for (const { name, reference } of speakers) {
    const path = join(dirname(recordingPath), `${randomUUID()}.reference`);
    const bytes = bytesOf(reference);
    await writeFile(path, bytes, { mode: 0o600 });
    await using file = await open(path);
    const { container } = await sniff(file);
    if (container === undefined) throw notRecording('must be recordings');
    const recording = { path, container, bytes: bytes.length, mediaType: mediaTypes[container] };
    const sound = await decode(recording, { signal }).catch((error: unknown) => {
      const isBad = EngineError.is(error) && ['recording-undecodable', 'recording-too-long'].includes(error.code);
      throw isBad ? notRecording('must be recordings that can be decoded') : error;
    });
    if (lengthOf(sound) < minMs || lengthOf(sound) > maxMs) throw notRecording('must have 1 to 30 seconds');
    const samples = await samplesOf(sound);
    if (samples.every((sample) => Math.abs(sample) <= silentPeak)) throw notRecording('must not be silent');
    known.push({ name, sound });
  }
  return known;
}

function bytesOf(dataUrl: string): Buffer {
  const at = dataUrl.indexOf(',');
  const isBase64 = dataUrl.slice(0, at).endsWith(';base64');
  return Buffer.from(dataUrl.slice(at + 1), isBase64 ? 'base64' : 'latin1');
}

const notRecording = (rule: string): ProblemError => invalid('body', '/known_speaker_references', rule);
