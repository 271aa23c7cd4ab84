/** The encoder of G.711 against the decoder, and against ffmpeg 5.1 (`-c:a pcm_mulaw`, `pcm_alaw`), which rounds at other limits. */
import { describe, expect, it, test } from 'vitest';
import { deinterleave, sampleFormats, toG711, toSamples16 } from '../../lib/samples.ts';

const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
const decode = (bytes: Uint8Array, law: 'ulaw' | 'alaw') => toSamples16(deinterleave(bytes, sampleFormats[law], 1)[0]!);

describe.each(['ulaw', 'alaw'] as const)('%s', (law) => {
  it('encodes each decoded code as a code of the same sample', () => {
    const samples = decode(codes, law);
    expect(decode(toG711(samples, law), law)).toEqual(samples);
  });

  it('changes each sample by a 32nd at most, and a quiet one by 8', () => {
    const samples = Int16Array.from({ length: 65_536 }, (_, i) => i - 32_768);
    const decoded = decode(toG711(samples, law), law);
    const wrong = samples.filter(
      (sample, i) => Math.abs(sample - decoded[i]!) > Math.max(8, (Math.abs(sample) + 132) / 32),
    );
    expect([...wrong]).toEqual([]);
  });
});

test('ffmpeg encodes the same', () => {
  const samples = [0, 1, 7, -8, 100, -100, 511, -513, 1000, -1000, 4095, -4300, 12345, -12345, 32124, -32124, 32767, -32768]; // prettier-ignore
  const encoded = (law: 'ulaw' | 'alaw') => [...toG711(Int16Array.from(samples), law)];
  expect(encoded('ulaw')).toEqual([255, 255, 254, 126, 242, 114, 219, 91, 206, 78, 175, 46, 151, 23, 128, 0, 128, 0]); // prettier-ignore
  expect(encoded('alaw')).toEqual([213, 213, 213, 85, 211, 83, 202, 117, 250, 122, 154, 5, 189, 61, 170, 42, 170, 42]); // prettier-ignore
});
