/** The whole way of a recording, within the worker: decode, mix down, resample, write. */
import { EngineError } from '../../../engines/contract/index.ts';
import { tooLong, type DecodeJob } from '../job.ts';
import { sampleRate } from '../../../lib/wav.ts';
import { decode } from './decode.ts';
import { isSystemError, undecodable } from './failures.ts';
import { assertPlausible, mixDown, type Pcm } from './pcm.ts';
import { Resampler } from './resample.ts';
import { WavWriter } from './wav-writer.ts';

/** How much is asked for at a time: two seconds of sound, which the writer collects before it writes. */
const stepBytes = 65_536;

export async function transcode(
  { path, container, wavPath, maxSeconds }: DecodeJob,
  take: (bytes: number) => Promise<void>,
): Promise<{ durationMs: number }> {
  const wav = new WavWriter(wavPath);
  let taken = 0;
  for await (const samples of resampled(untilDamaged(await decode(path, container)))) {
    for (; taken < 2 * (wav.samples + samples.length); taken += stepBytes) await take(stepBytes);
    wav.write(samples);
    if (wav.samples > maxSeconds * sampleRate) throw tooLong(maxSeconds);
  }
  wav.close();
  if (wav.samples === 0) throw undecodable(`no sound was found in the ${container} file`);
  return { durationMs: Math.round((wav.samples * 1000) / sampleRate) };
}

/** Of a recording that is cut or damaged, what comes before: ffmpeg does the same. */
async function* untilDamaged(blocks: AsyncIterable<Pcm> | Iterable<Pcm>): AsyncGenerator<Pcm> {
  let sound = false;
  try {
    for await (const block of blocks) {
      if (isEmpty(block)) continue;
      sound = true;
      yield block;
    }
  } catch (error) {
    if (!sound || EngineError.is(error) || isSystemError(error)) throw error;
  }
}

function isEmpty({ channels: [first] }: Pcm): boolean {
  return first === undefined || first.length === 0;
}

/** Mono at 16 kHz. The rate of the blocks may change: mp3 files can be joined from different ones. */
async function* resampled(blocks: AsyncIterable<Pcm>): AsyncGenerator<Float32Array> {
  let rate: number | undefined;
  let resampler: Resampler | undefined;
  for await (const block of blocks) {
    if (block.sampleRate !== rate) {
      if (resampler) yield resampler.flush();
      assertPlausible(block.sampleRate, block.channels.length);
      rate = block.sampleRate;
      resampler = rate === sampleRate ? undefined : new Resampler(rate, sampleRate);
    }
    const mono = mixDown(block.channels);
    yield resampler ? resampler.push(mono) : mono;
  }
  if (resampler) yield resampler.flush();
}
