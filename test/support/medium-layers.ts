/**
 * Convolutions with random weights in the shape of Piper's medium quality: text encoder (6 layers, 192 channels; attention
 * left out), flow (4 couplings of 4 layers), HiFi-GAN (256 channels, rates 8, 8, 4). 256 samples per frame.
 */
import type { Graph } from './onnx-writer.ts';

/** Names of values in the graph. */
export interface Spoken {
  readonly ids: string;
  /** The token of each sample. */
  readonly indexes: string;
  readonly total: string;
  /** Number of tokens. */
  readonly size: number;
  readonly zero: string;
  readonly one: string;
}

/** Returns one value per sample, between -1 and 1. */
export function addMediumLayers(g: Graph, { ids, indexes, total, size, zero, one }: Spoken): string {
  const random = weights();
  const conv = (x: string, from: number, to: number, kernel: number, dilation = 1): string => {
    const pad = ((kernel - 1) * dilation) / 2;
    const filter = g.floats(random(to * from * kernel, 1 / Math.sqrt(from * kernel)), [to, from, kernel]);
    const attributes = { kernel_shape: [kernel], dilations: [dilation], pads: [pad, pad], strides: [1] };
    return g.op('Conv', [x, filter, g.floats(new Float32Array(to))], attributes);
  };
  const relu = (x: string): string => g.op('LeakyRelu', [x], { alpha: 0.1 });
  const add = (x: string, y: string): string => g.op('Add', [x, y]);
  const embedded = g.op('Gather', [g.floats(random(size * 192, 1), [size, 192]), ids], { axis: 0 });
  let x = g.op('Unsqueeze', [g.op('Transpose', [embedded], { perm: [1, 0] }), zero]);
  for (let layer = 0; layer < 6; layer++) {
    for (let part = 0; part < 4; part++) x = add(x, conv(x, 192, 192, 1));
    x = g.op('Tanh', [add(x, conv(relu(conv(x, 192, 768, 3)), 768, 192, 3))]);
  }
  const frames = g.op('Slice', [indexes, zero, total, zero, g.constant([256])]);
  x = g.op('Gather', [x, frames], { axis: 2 });
  for (let layer = 0; layer < 16; layer++) {
    const gates = g.op('Tanh', [conv(x, 192, 384, 5)]);
    const half = (from: number) => g.op('Slice', [gates, g.constant([from]), g.constant([from + 192]), one]);
    const flow = conv(g.op('Mul', [half(0), half(192)]), 192, 384, 1);
    x = g.op('Tanh', [add(x, g.op('Slice', [flow, zero, g.constant([192]), one]))]);
  }
  x = conv(x, 192, 256, 7);
  let channels = 256;
  for (const rate of [8, 8, 4]) {
    const half = channels / 2;
    const filter = g.floats(random(channels * half * 2 * rate, 1 / Math.sqrt(channels)), [channels, half, 2 * rate]);
    const attributes = { kernel_shape: [2 * rate], strides: [rate], pads: [rate / 2, rate / 2] };
    x = g.op('ConvTranspose', [relu(x), filter, g.floats(new Float32Array(half))], attributes);
    channels = half;
    const blocks = dilations.map(([width, steps]) =>
      steps.reduce((y, dilation) => add(y, conv(relu(y), half, half, width, dilation)), x),
    );
    x = g.op('Mul', [g.op('Sum', blocks), g.floats([1 / 3])]);
  }
  const sound = g.op('Reshape', [g.op('Tanh', [conv(relu(x), channels, 1, 7)]), g.constant([-1])]);
  return g.op('Slice', [sound, zero, total]);
}

const dilations: readonly (readonly [width: number, steps: readonly number[]])[] = [
  [3, [1, 2]],
  [5, [2, 6]],
  [7, [3, 12]],
];

/** The same numbers every time: millions, which `Float32Array.from` would take a second for. */
function weights(): (count: number, scale: number) => Float32Array {
  let seed = 1;
  return (count, scale) => {
    const values = new Float32Array(count);
    for (let at = 0; at < count; at++) {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      values[at] = (seed / 2 ** 31 - 1) * scale;
    }
    return values;
  };
}
