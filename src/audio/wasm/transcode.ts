/** The pipeline inside the worker: decode, mix down, resample, write. */
import { EngineError, type Decoded } from '../../../engines/contract/index.ts';
import { tooLong, type DecodeRequest } from '../decode-request.ts';
import { mixDown } from '../../../lib/samples.ts';
import { sampleRate } from '../../../lib/wav.ts';
import { decode } from './decode.ts';
import { isSystemError, undecodable } from '../failures.ts';
import { assertPlausible, type Pcm } from './pcm.ts';
import { RateConverter } from '../resample.ts';
import { decodedOf } from '../wav-file.ts';
import { WavWriter } from './wav-writer.ts';

/** Disk space is requested in steps of two seconds of audio, the size of the writer's buffer. */
const stepBytes = 65_536;

export async function transcode(
  { path, container, wavPath, maxSeconds }: DecodeRequest,
  take: (bytes: number) => Promise<void>,
): Promise<Decoded> {
  const wav = new WavWriter(wavPath);
  let taken = 0;
  for await (const samples of resampled(untilDamaged(await decode(path, container)))) {
    for (; taken < 2 * (wav.samples + samples.length); taken += stepBytes) await take(stepBytes);
    wav.write(samples);
    if (wav.samples > maxSeconds * sampleRate) throw tooLong(maxSeconds);
  }
  wav.close();
  if (wav.samples === 0) throw undecodable(`no audio was found in the ${container} file`);
  return decodedOf(2 * wav.samples, { wavPath, maxSeconds });
}

/** For truncated or damaged recordings, yields everything before the damage, as ffmpeg does. */
async function* untilDamaged(blocks: AsyncIterable<Pcm> | Iterable<Pcm>): AsyncGenerator<Pcm> {
  let hasAudio = false;
  try {
    for await (const block of blocks) {
      if (isEmpty(block)) continue;
      hasAudio = true;
      yield block;
    }
  } catch (error) {
    if (!hasAudio || EngineError.is(error) || isSystemError(error)) throw error;
  }
}

function isEmpty({ channels: [first] }: Pcm): boolean {
  return first === undefined || first.length === 0;
}

/** Mono at 16 kHz. */
async function* resampled(blocks: AsyncIterable<Pcm>): AsyncGenerator<Float32Array> {
  const converter = new RateConverter(sampleRate);
  for await (const block of blocks) {
    assertPlausible(block.sampleRate, block.channels.length);
    yield* converter.push(mixDown(block.channels), block.sampleRate);
  }
  yield* converter.flush();
}
