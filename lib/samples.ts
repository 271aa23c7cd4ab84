/** Samples of uncompressed audio, as floats with a full scale of -1 to 1. */

/** Encoding of a sample. */
export interface SampleFormat {
  readonly bytes: number;
  /** The sample at this offset. */
  readonly read: (view: DataView, offset: number) => number;
}

/** Encodings by mediabunny's names; little-endian unless the name says otherwise. */
export const sampleFormats = {
  'pcm-u8': { bytes: 1, read: (view, at) => (view.getUint8(at) - 128) / 128 },
  'pcm-s8': { bytes: 1, read: (view, at) => view.getInt8(at) / 128 },
  'pcm-s16': { bytes: 2, read: (view, at) => view.getInt16(at, true) / 2 ** 15 },
  'pcm-s16be': { bytes: 2, read: (view, at) => view.getInt16(at, false) / 2 ** 15 },
  'pcm-s24': { bytes: 3, read: (view, at) => (view.getInt8(at + 2) * 2 ** 16 + view.getUint16(at, true)) / 2 ** 23 },
  'pcm-s24be': { bytes: 3, read: (view, at) => (view.getInt8(at) * 2 ** 16 + view.getUint16(at + 1, false)) / 2 ** 23 },
  'pcm-s32': { bytes: 4, read: (view, at) => view.getInt32(at, true) / 2 ** 31 },
  'pcm-s32be': { bytes: 4, read: (view, at) => view.getInt32(at, false) / 2 ** 31 },
  'pcm-f32': { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
  'pcm-f32be': { bytes: 4, read: (view, at) => view.getFloat32(at, false) },
  'pcm-f64': { bytes: 8, read: (view, at) => view.getFloat64(at, true) },
  'pcm-f64be': { bytes: 8, read: (view, at) => view.getFloat64(at, false) },
  ulaw: { bytes: 1, read: (view, at) => muLaw(view.getUint8(at)) },
  alaw: { bytes: 1, read: (view, at) => aLaw(view.getUint8(at)) },
} as const satisfies Record<string, SampleFormat>;

export type SampleFormatName = keyof typeof sampleFormats;

/** Splits interleaved samples into one array per channel; drops an incomplete last frame. */
export function deinterleave(bytes: Uint8Array, format: SampleFormat, channels: number): Float32Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const stride = format.bytes * channels;
  const frames = Math.floor(bytes.byteLength / stride);
  return Array.from({ length: channels }, (_, channel) => {
    const samples = new Float32Array(frames);
    for (let i = 0; i < frames; i++) samples[i] = format.read(view, i * stride + channel * format.bytes);
    return samples;
  });
}

/** The mean of all channels, or the loudest channel where the channels cancel each other. */
export function mixDown(channels: readonly Float32Array[]): Float32Array {
  const [first] = channels;
  if (first === undefined) return new Float32Array(0);
  if (channels.length === 1) return first;
  const mono = new Float32Array(first.length);
  for (const channel of channels) {
    for (let i = 0; i < mono.length; i++) mono[i] = (mono[i] ?? 0) + (channel[i] ?? 0);
  }
  for (let i = 0; i < mono.length; i++) mono[i] = (mono[i] ?? 0) / channels.length;
  restoreCanceled(mono, channels);
  return mono;
}

/** 21 ms at 48 kHz: shorter than a syllable, longer than the period of a voice. */
const windowSamples = 1024;

/**
 * Where opposite phases cancel each other in a part of a mix, replaces that part with the loudest of the given
 * channels. Unrelated channels give a mix with the energy of one channel divided by their number; a canceled mix is
 * more than 10 dB below that.
 */
export function restoreCanceled<Samples extends Float32Array | Int16Array>(
  mix: Samples,
  channels: readonly Samples[],
  mixed = channels.length,
): void {
  for (let from = 0; from < mix.length; from += windowSamples) {
    const parts = [mix, ...channels].map((samples) => samples.subarray(from, from + windowSamples));
    const [energy = 0, ...energies] = parts.map(energyOf);
    const mean = energies.reduce((sum, some) => sum + some, 0) / energies.length;
    if (energy * mixed * 10 < mean) mix.set(parts[1 + energies.indexOf(Math.max(...energies))] ?? [], from);
  }
}

function energyOf(samples: Float32Array | Int16Array): number {
  let energy = 0;
  // eslint-disable-next-line @typescript-eslint/prefer-for-of -- it takes twice as long
  for (let i = 0; i < samples.length; i++) energy += (samples[i] ?? 0) ** 2;
  return energy;
}

/** Clips samples beyond full scale; NaN becomes silence. */
export function toInt16(sample: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))) || 0;
}

/** Converts all samples. It uses a loop, because `Int16Array.from` takes ten times as long. */
export function toSamples16(samples: Float32Array): Int16Array {
  const rounded = new Int16Array(samples.length);
  for (let i = 0; i < rounded.length; i++) rounded[i] = toInt16(samples[i] ?? 0);
  return rounded;
}

/** Converts samples to floats. It uses a loop, because `Float32Array.from` takes ten times as long. */
export function toFloats(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let i = 0; i < samples.length; i++) floats[i] = (samples[i] ?? 0) / 32_768;
  return floats;
}

/** Reads little-endian s16, without a copy unless the bytes begin at an odd offset. */
export function viewSamples16(bytes: Uint8Array): Int16Array {
  const { buffer, byteOffset, length } = bytes.byteOffset % 2 === 0 ? bytes : Uint8Array.from(bytes);
  return new Int16Array(buffer, byteOffset, length / 2);
}

/** ITU-T G.711: sign, three bits of exponent, four of mantissa, all inverted; 14 bits of range. */
function muLaw(code: number): number {
  const bits = ~code & 0xff;
  const magnitude = ((((bits & 0x0f) << 1) + 33) << ((bits >> 4) & 7)) - 33;
  return ((bits & 0x80) === 0 ? magnitude : -magnitude) / 2 ** 13;
}

/** ITU-T G.711: as mu-law, but only every second bit is inverted; 13 bits of range. */
function aLaw(code: number): number {
  const bits = code ^ 0x55;
  const exponent = (bits >> 4) & 7;
  const mantissa = ((bits & 0x0f) << 1) + 1;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 32) << (exponent - 1);
  return ((bits & 0x80) === 0 ? -magnitude : magnitude) / 2 ** 12;
}

/** Encodes samples in G.711. */
export function toG711(samples: Int16Array, law: 'ulaw' | 'alaw'): Uint8Array {
  const encode = law === 'ulaw' ? toMuLaw : toALaw;
  const codes = new Uint8Array(samples.length);
  for (let i = 0; i < codes.length; i++) codes[i] = encode(samples[i] ?? 0);
  return codes;
}

/** Inverse of `muLaw`. The sum with 132 has its highest bit, of 8 bits or more, in the place of the exponent. */
function toMuLaw(sample: number): number {
  const magnitude = Math.min(Math.abs(sample), 32_635) + 132;
  const exponent = 24 - Math.clz32(magnitude);
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
}

/** Inverse of `aLaw`. */
function toALaw(sample: number): number {
  const magnitude = (sample < 0 ? ~sample : sample) >> 3;
  const exponent = Math.max(0, 27 - Math.clz32(magnitude));
  const mantissa = (magnitude >> Math.max(1, exponent)) & 0x0f;
  return ((sample < 0 ? 0 : 0x80) | (exponent << 4) | mantissa) ^ 0x55;
}
