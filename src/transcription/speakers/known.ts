/** Decodes the references of known speakers. */
import { randomUUID } from 'node:crypto';
import { open, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EngineError, type Decoded, type KnownSpeaker } from '../../../engines/contract/index.ts';
import { lengthOf, samplesOf } from '../../../lib/wav.ts';
import type { Decoder } from '../../audio/decode/index.ts';
import { silentPeak } from '../../audio/decode-request.ts';
import { mediaTypes, sniff } from '../../audio/sniff.ts';
import { invalid, type ProblemError } from '../../contract/problems.ts';
import type { KnownVoice } from './find.ts';

const minMs = 1_000;
const maxSeconds = 30;

interface Decoding {
  readonly decode: Decoder;
  readonly signal: AbortSignal;
}

/**
 * Decodes the references next to the recording; they are removed together. Throws `invalid-request` for a reference that is
 * silent, or not a recording of 1 to 30 s.
 */
export async function decodeKnown(
  speakers: readonly KnownSpeaker[],
  recordingPath: string,
  decoding: Decoding,
): Promise<KnownVoice[]> {
  const known: KnownVoice[] = [];
  for (const { name, reference } of speakers) {
    const path = join(dirname(recordingPath), `${randomUUID()}.reference`);
    try {
      await writeFile(path, bytesOf(reference), { mode: 0o600 });
      known.push({ name, sound: await decodeReference(path, decoding) });
    } finally {
      await rm(path, { force: true });
    }
  }
  return known;
}

async function decodeReference(path: string, { decode, signal }: Decoding): Promise<Decoded> {
  await using file = await open(path);
  const { container } = await sniff(file);
  if (container === undefined) throw notRecording('must be recordings');
  const recording = { path, container, mediaType: mediaTypes[container], bytes: (await file.stat()).size };
  const sound = await decode({ ...recording, maxSeconds }, { signal }).catch((error: unknown) => {
    if (!EngineError.is(error)) throw error;
    if (error.code === 'recording-too-long') throw notRecording(wrongLength);
    throw error.code === 'recording-undecodable' ? notRecording('must be recordings that can be decoded') : error;
  });
  if (lengthOf(sound) < minMs) throw notRecording(wrongLength);
  const samples = await samplesOf(sound);
  const [first = 0] = samples; // samples of NaN are decoded to a constant, which is no sound
  if (samples.every((sample) => Math.abs(sample - first) <= silentPeak)) throw notRecording('must not be silent');
  return sound;
}

const wrongLength = 'must have 1 to 30 seconds';

function bytesOf(dataUrl: string): Buffer {
  const at = dataUrl.indexOf(',');
  const isBase64 = dataUrl.slice(0, at).endsWith(';base64');
  return Buffer.from(dataUrl.slice(at + 1), isBase64 ? 'base64' : 'latin1');
}

const notRecording = (rule: string): ProblemError => invalid('body', '/known_speaker_references', rule);
