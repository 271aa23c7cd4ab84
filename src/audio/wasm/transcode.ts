/** The pipeline inside the worker: decode, fill gaps, mix down, resample, write. */
import { statSync } from 'node:fs';
import { EngineError } from '../../../engines/contract/index.ts';
import { notStereo, tooLong, type Channel, type DecodedRecording, type DecodeRequest } from '../decode-request.ts';
import { DamagedRecording } from '../../../lib/recording/damage.ts';
import { mixDown } from '../../../lib/samples.ts';
import { sampleRate } from '../../../lib/wav.ts';
import { decode } from './decode.ts';
import { nameOf } from '../container-name.ts';
import { isSystemError, undecodable } from '../failures.ts';
import { assertPlausible, type Pcm } from './pcm.ts';
import { RateConverter } from '../resample.ts';
import { Timeline } from '../timeline.ts';
import { decodedOf } from '../wav-file.ts';
import { WavWriter } from './wav-writer.ts';

/** Disk space is requested in steps of about two seconds of audio, the size of the writer's buffer. */
const stepBytes = 65_536;

export async function transcode(
  { path, container, wavPath, maxSeconds, channel }: DecodeRequest,
  take: (bytes: number) => Promise<void>,
): Promise<DecodedRecording> {
  const timeline = new Timeline({ container, bytes: statSync(path).size });
  const wav = new WavWriter(wavPath);
  let taken = 0;
  for await (const samples of resampled(placed(untilCut(await decode(path, container)), timeline), channel)) {
    for (; taken < 2 * (wav.samples + samples.length); taken += stepBytes) await take(stepBytes);
    wav.write(samples);
    if (wav.samples > maxSeconds * sampleRate) throw tooLong(maxSeconds);
  }
  wav.close();
  if (wav.samples === 0) throw undecodable(`no audio was found in the ${nameOf(path, container)} file`);
  return decodedOf(2 * wav.samples, { wavPath, maxSeconds, gaps: timeline.gaps });
}

/** If a recording is truncated, yields everything before the cut, as ffmpeg does. */
async function* untilCut(blocks: AsyncIterable<Pcm> | Iterable<Pcm>): AsyncGenerator<Pcm> {
  let hasAudio = false;
  try {
    for await (const block of blocks) {
      if (isEmpty(block)) continue;
      hasAudio = true;
      yield block;
    }
  } catch (error) {
    const isCut = hasAudio && !EngineError.is(error) && !(error instanceof DamagedRecording) && !isSystemError(error);
    if (!isCut) throw error;
  }
}

function isEmpty({ channels: [first] }: Pcm): boolean {
  return first === undefined || first.length === 0;
}

/** Inserts silence where the timestamps show a gap. */
async function* placed(blocks: AsyncIterable<Pcm>, timeline: Timeline): AsyncGenerator<Pcm> {
  for await (const block of blocks) {
    const { sampleRate, channels, startMs } = block;
    const msOf = (samples: number) => (samples / sampleRate) * 1000;
    const gapMs = startMs === undefined ? 0 : timeline.place(startMs, msOf(channels[0]?.length ?? 0));
    for (let left = gapMs; left > 0; left -= silentMs) {
      const samples = Math.round((Math.min(left, silentMs) * sampleRate) / 1000);
      yield { sampleRate, channels: channels.map(() => new Float32Array(samples)) };
    }
    yield block;
  }
}

const silentMs = 1_000;

/** Yields mono samples at 16 kHz: the requested channel, or the mix of all channels. */
async function* resampled(blocks: AsyncIterable<Pcm>, channel: Channel | undefined): AsyncGenerator<Float32Array> {
  const converter = new RateConverter(sampleRate);
  for await (const block of blocks) {
    assertPlausible(block.sampleRate, block.channels.length);
    yield* converter.push(monoOf(block.channels, channel), block.sampleRate);
  }
  yield* converter.flush();
}

function monoOf(channels: readonly Float32Array[], channel: Channel | undefined): Float32Array {
  if (channel === undefined) return mixDown(channels);
  const only = channels.length === 2 ? channels[channel] : undefined;
  if (!only) throw notStereo(channels.length);
  return only;
}
