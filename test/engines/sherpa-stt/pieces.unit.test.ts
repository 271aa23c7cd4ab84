/** Where a recording is cut. */
import { describe, expect, it } from 'vitest';
import { piecesOf, type Piece } from '../../../engines/sherpa-stt/pieces.ts';
import { quietestPlace } from '../../../lib/quietest-place.ts';

const rate = 16_000;

/** Seconds of a tone that is quiet in some places. */
function toneOf(
  seconds: number,
  quiet: readonly (readonly [fromMs: number, toMs: number, loudness: number])[],
): Int16Array {
  // prettier-ignore
  const loudnessAt = (ms: number) => quiet.find(([from, to]) => ms >= from && ms < to)?.[2] ?? 10_000;
  return Int16Array.from({ length: seconds * rate }, (_, i) => loudnessAt(i / 16) * Math.sin(i / 3));
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int16Array) => Buffer.from(buffer, byteOffset, byteLength);

const placeMs = (samples: Int16Array): number => Math.round(quietestPlace(samples, 10_000) / 16);

describe('the place of a cut', () => {
  it('lies in the quietest pause of the last 10 s', () => {
    const pauses = [[5_000, 6_000, 0], [23_000, 23_400, 300], [27_000, 27_400, 100]] as const; // prettier-ignore
    const place = placeMs(toneOf(30, pauses));
    expect(place).toBeGreaterThanOrEqual(27_000);
    expect(place).toBeLessThan(27_400);
  });

  it('lies in a pause, not in a closure that is as quiet', () => {
    const place = placeMs(toneOf(30, [[22_000, 22_080, 50], [26_000, 26_500, 60]])); // prettier-ignore
    expect(place).toBeGreaterThanOrEqual(26_000);
    expect(place).toBeLessThan(26_500);
  });

  it('is the middle of a gap where there is no pause', () => {
    const gaps = Array.from({ length: 60 }, (_, k) => [500 * k + 460, 500 * k + 500, 0] as const);
    const place = placeMs(toneOf(30, gaps));
    expect(place % 500).toBeGreaterThanOrEqual(470);
    expect(place % 500).toBeLessThanOrEqual(490);
  });

  it('is in the last 10 s of any sound', () => {
    for (const samples of [new Int16Array(30 * rate), toneOf(30, []), new Int16Array(30 * rate).fill(-32_768)]) {
      expect(placeMs(samples)).toBeGreaterThanOrEqual(20_000);
      expect(placeMs(samples)).toBeLessThanOrEqual(30_000);
    }
  });
});

describe('the pieces', () => {
  const pieces = async (sound: AsyncIterable<Int16Array>, seconds = 30): Promise<Piece[]> => {
    const all: Piece[] = [];
    for await (const { start, samples } of piecesOf(sound, seconds)) all.push({ start, samples: samples.slice() });
    return all;
  };

  // eslint-disable-next-line @typescript-eslint/require-await
  async function* inChunks(sound: Int16Array, length: number): AsyncGenerator<Int16Array> {
    for (let at = 0; at < sound.length; at += length) yield sound.subarray(at, at + length);
  }

  it.each([32_768, 16_000, 7_777, 3_000_000])(
    'are the whole recording in order, from chunks of %d samples',
    async (length) => {
      const sound = Int16Array.from({ length: 100 * rate + 123 }, (_, i) => (i * 7_919) % 30_011);
      const cut = await pieces(inChunks(sound, length));
      expect(cut.length).toBeGreaterThanOrEqual(4);
      let at = 0;
      for (const { start, samples } of cut) {
        expect(start).toBe(at);
        expect(samples.length).toBeLessThanOrEqual(30 * rate);
        expect(bytesOf(samples).equals(bytesOf(sound.subarray(at, at + samples.length)))).toBe(true);
        at += samples.length;
      }
      expect(at).toBe(sound.length);
    },
  );

  it('end in the last third of the seconds that a model accepts', async () => {
    const cut = await pieces(inChunks(toneOf(40, []), 32_768), 8);
    expect(cut.length).toBeGreaterThanOrEqual(5);
    for (const { samples } of cut.slice(0, -1)) {
      expect(samples.length).toBeLessThanOrEqual(8 * rate);
      expect(samples.length).toBeGreaterThanOrEqual(5 * rate);
    }
  });

  it('are one up to 30 s, and none without samples', async () => {
    expect(await pieces(inChunks(new Int16Array(30 * rate), 32_768))).toHaveLength(1);
    expect(await pieces(inChunks(new Int16Array(30 * rate + 1), 32_768))).toHaveLength(2);
    expect(await pieces(inChunks(new Int16Array(0), 32_768))).toEqual([]);
  });
});
