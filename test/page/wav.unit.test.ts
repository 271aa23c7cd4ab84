/** The WAV of a turn. */
import { expect, test } from 'vitest';
import { encodeWav } from '../../page/wav.ts';

test('16-bit mono, clipped at full scale', async () => {
  const wav = encodeWav(new Float32Array([0, 1, -1, 2, -2, 0.5]), 16_000);
  expect(wav.type).toBe('audio/wav');
  const bytes = Buffer.from(await wav.arrayBuffer());
  expect(bytes.length).toBe(44 + 12);
  expect(bytes.toString('latin1', 0, 4)).toBe('RIFF');
  expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
  expect(bytes.toString('latin1', 8, 16)).toBe('WAVEfmt ');
  const format = [bytes.readUInt16LE(20), bytes.readUInt16LE(22), bytes.readUInt32LE(24), bytes.readUInt32LE(28)];
  expect(format).toEqual([1, 1, 16_000, 32_000]);
  expect(bytes.toString('latin1', 36, 40)).toBe('data');
  expect(bytes.readUInt32LE(40)).toBe(12);
  const samples = [0, 1, 2, 3, 4, 5].map((i) => bytes.readInt16LE(44 + i * 2));
  expect(samples).toEqual([0, 32_767, -32_767, 32_767, -32_767, 16_383]);
});
