/** The speech of an engine becomes parts of 100 ms in the format of the session. */
import { describe, expect, it } from 'vitest';
import { deinterleave, sampleFormats, toSamples16, viewSamples16 } from '../../lib/samples.ts';
import { soundOf, type OutputEncoding, type Sound } from '../../src/realtime/sound-output.ts';
import { listed } from './answering.ts';
import { sound } from './support.ts';

async function* chunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

/** A tone of one second, then silence. */
const speech = sound(24_000, [-20, 1_000], [-90, 530]);

const partsOf = (encoding: OutputEncoding, size = speech.length, bytes: Uint8Array = speech) =>
  listed(soundOf(chunks(bytes, size), encoding));

const joined = (parts: readonly Sound[]) => Buffer.concat(parts.map(({ bytes }) => bytes));

describe('pcm', () => {
  it.each([2, 962, 4_800, 48_000, speech.length])('in chunks of %i bytes has the bytes of the speech', async (size) => {
    const parts = await partsOf('pcm', size);
    expect(joined(parts)).toEqual(speech);
    for (const { bytes, ms } of parts) expect(ms).toBe(bytes.length / 48);
    expect(parts.slice(1, -1).every(({ ms }) => ms === 100)).toBe(true);
    expect(parts.every(({ ms }) => ms > 0 && ms <= 100)).toBe(true);
  });

  it('has its first part as soon as the engine has returned anything', async () => {
    const [read, more] = [soundOf(chunks(speech, 480), 'pcm'), soundOf(chunks(speech, 5_280), 'pcm')];
    expect((await read.next()).value).toMatchObject({ ms: 10 });
    expect((await read.next()).value).toMatchObject({ ms: 100 });
    expect((await more.next()).value).toMatchObject({ ms: 100 });
    expect((await more.next()).value).toMatchObject({ ms: 100 });
    // what was left of the first chunk is in it
  });

  it('has the level of each part', async () => {
    const parts = await partsOf('pcm');
    expect(parts[0]!.db).toBeCloseTo(-20, 0);
    expect(parts.at(-1)!.db).toBeLessThan(-80);
  });

  it('of a speech without samples has no parts', async () => {
    expect(await partsOf('pcm', 1, new Uint8Array())).toEqual([]);
  });
});

describe.each([
  ['pcmu', 'ulaw'],
  ['pcma', 'alaw'],
] as const)('G.711 as %s', (encoding, law) => {
  it.each([2, 962, 4_800, speech.length])('in chunks of %i bytes is the speech at 8 kHz', async (size) => {
    const parts = await partsOf(encoding, size);
    const codes = joined(parts);
    expect(codes).toHaveLength(8 * 1_530);
    expect(parts.reduce((sum, { ms }) => sum + ms, 0)).toBeCloseTo(1_530);
    expect(parts.slice(1, -1).every(({ ms, bytes }) => ms === 100 && bytes.length === 800)).toBe(true);
    const heard = toSamples16(deinterleave(codes, sampleFormats[law], 1)[0]!);
    const said = viewSamples16(speech).filter((_, i) => i % 3 === 0);
    const errors = heard.slice(100, 7_900).map((sample, i) => Math.abs(sample - said[100 + i]!));
    expect(Math.max(...errors)).toBeLessThan(400); // of a peak of 4,600
  });
});
