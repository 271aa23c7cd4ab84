/** Decodes the channels of a stereo recording, each into its own file. */
import { EngineError } from '../../engines/contract/index.ts';
import { samplesOf } from '../../lib/wav.ts';
import { silentPeak, type Channel, type DecodedRecording } from './decode-request.ts';

export interface DecodedChannel extends DecodedRecording {
  readonly isSilent: boolean;
}

/** Channels with a greater absolute correlation carry the same audio, even if one of them is inverted. */
const sameCorrelation = 0.98;

/**
 * Throws `parameter-not-supported` if the recording does not have exactly two channels, or if both carry the same
 * sound.
 */
export async function decodeChannels(
  decode: (channel: Channel) => Promise<DecodedRecording>,
  signal: AbortSignal,
): Promise<readonly [DecodedChannel, DecodedChannel]> {
  const [first, second] = [await decode(0), await decode(1)];
  const { peaks, correlation } = await compare(first, second, signal);
  if (Math.abs(correlation) > sameCorrelation) {
    throw new EngineError(
      'parameter-not-supported',
      'The two channels carry the same sound: they are not two speakers.',
    );
  }
  const [a, b] = peaks.map((peak) => peak <= silentPeak);
  return [
    { ...first, isSilent: a === true },
    { ...second, isSilent: b === true },
  ];
}

const windowMs = 60_000;

/** Returns the peaks and the correlation of two channels. The correlation is 0 if either channel is silent. */
async function compare(one: DecodedRecording, other: DecodedRecording, signal: AbortSignal) {
  const peaks: [number, number] = [0, 0];
  let [product, energy, otherEnergy] = [0, 0, 0];
  for (let startMs = 0; startMs < one.endMs; startMs += windowMs) {
    signal.throwIfAborted();
    const span = { startMs, endMs: Math.min(startMs + windowMs, one.endMs) };
    const [first, second] = [await samplesOf({ ...one, ...span }), await samplesOf({ ...other, ...span })];
    // Iterating over `entries()` takes seven times as long.
    for (let i = 0; i < first.length; i++) {
      const [a, b] = [first[i] ?? 0, second[i] ?? 0];
      peaks[0] = Math.max(peaks[0], Math.abs(a));
      peaks[1] = Math.max(peaks[1], Math.abs(b));
      product += a * b;
      energy += a * a;
      otherEnergy += b * b;
    }
  }
  const haveSound = peaks.every((peak) => peak > silentPeak);
  return { peaks, correlation: haveSound ? product / Math.sqrt(energy * otherEnergy) : 0 };
}
