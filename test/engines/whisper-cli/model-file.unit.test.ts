import { mkdir, open, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inspectModelFile } from '../../../engines/whisper-cli/model-file.ts';
import { writeToneModel } from '../../support/tone-model.ts';
import { temporaryDirectory } from './support.ts';

async function modelPath(): Promise<string> {
  return join(await temporaryDirectory(), 'ggml-test.bin');
}

async function toneModel(options?: { englishOnly: boolean }) {
  const path = await modelPath();
  await writeToneModel(path, options);
  return { path, bytes: await readFile(path) };
}

interface Shape {
  readonly vocabulary: number;
  readonly encoderLayers: number;
  readonly decoderLayers: number;
  readonly state: number;
  readonly type: number;
  /** Size of one tensor of state x state values. */
  readonly tensorBytes: number;
}

/** A model of the real size whose data is a sparse hole in the file. Returns its bytes. */
async function writeHollowModel(path: string, shape: Shape): Promise<number> {
  const { vocabulary, encoderLayers, decoderLayers, state, type, tensorBytes } = shape;
  await using file = await open(path, 'w');
  let at = 0;
  const write = async (bytes: Uint8Array) => {
    await file.write(bytes, 0, bytes.length, at);
    at += bytes.length;
  };
  const int32 = (...values: number[]) => new Uint8Array(Int32Array.from(values).buffer);
  const heads = state / 64;
  await write(
    int32(0x67676d6c, vocabulary, 1500, state, heads, encoderLayers, 448, state, heads, decoderLayers, 80, 1),
  );
  await write(int32(80, 201));
  at += 80 * 201 * 4;
  await write(int32(50_257));
  await write(Buffer.alloc(50_257 * 9, Buffer.from([...int32(5), ...Buffer.from(' word')])));
  for (let tensor = 0; tensor < 11 + 15 * encoderLayers + 24 * decoderLayers; tensor++) {
    const name = `blocks.${tensor}.weight`;
    await write(int32(2, name.length, type, state, state));
    await write(Buffer.from(name));
    at += tensorBytes;
  }
  await file.truncate(at);
  return at;
}

test.for([false, true])(
  'a complete model is valid, and says whether it is multilingual (English only: %s)',
  async (englishOnly) => {
    const { path, bytes } = await toneModel({ englishOnly });
    expect(inspectModelFile(path)).toEqual({
      ...{ ok: true, bytes: bytes.length },
      ...{ multilingual: !englishOnly, knowsCantonese: false },
    });
  },
);

test.for([
  ['f32', 0, 4 * 256 * 256],
  ['f16', 1, 2 * 256 * 256],
  ['q4_0', 2, 18 * 8 * 256],
  ['q4_1', 3, 20 * 8 * 256],
  ['q5_0', 6, 22 * 8 * 256],
  ['q5_1', 7, 24 * 8 * 256],
  ['q8_0', 8, 34 * 8 * 256],
  ['q2_K', 10, 84 * 256],
  ['q3_K', 11, 110 * 256],
  ['q4_K', 12, 144 * 256],
  ['q5_K', 13, 176 * 256],
  ['q6_K', 14, 210 * 256],
  ['bf16', 30, 2 * 256 * 256],
] as const)('a model with %s tensors is known by its length', async ([, type, tensorBytes]) => {
  const path = await modelPath();
  const shape = { vocabulary: 51_865, encoderLayers: 2, decoderLayers: 2, state: 256, type, tensorBytes };
  const bytes = await writeHollowModel(path, shape);
  expect(inspectModelFile(path)).toEqual({ ok: true, bytes, multilingual: true, knowsCantonese: false });
  await truncate(path, bytes - 1);
  expect(inspectModelFile(path)).toMatchObject({ problem: 'truncated' });
});

test('a model of 3 GB is inspected quickly', async () => {
  const path = await modelPath();
  const large = { vocabulary: 51_866, encoderLayers: 32, decoderLayers: 32, state: 1280, type: 1 };
  const bytes = await writeHollowModel(path, { ...large, tensorBytes: 2 * 1280 * 1280 });
  expect(bytes).toBeGreaterThan(3e9);
  const before = process.threadCpuUsage();
  expect(inspectModelFile(path)).toEqual({ ok: true, bytes, multilingual: true, knowsCantonese: true });
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000, 'ms').toBeLessThan(500);
});

test('a model that is cut anywhere after its first bytes is truncated', async () => {
  const { path, bytes } = await toneModel();
  const firstTensor = bytes.indexOf('encoder.positional_embedding') - 20;
  const evenly = Array.from({ length: 50 }, (_, index) => 4 + Math.floor((index / 50) * (bytes.length - 4)));
  for (const size of [bytes.length - 1, firstTensor + 21, firstTensor + 10, firstTensor, 48, 47, ...evenly].toSorted(
    (a, b) => b - a,
  )) {
    await truncate(path, size);
    expect(inspectModelFile(path), `cut at ${size}`).toMatchObject({ ok: false, problem: 'truncated' });
  }
});

test('the detail of a truncated model contains the path and the lengths', async () => {
  const { path, bytes } = await toneModel();
  await truncate(path, bytes.length - 1);
  const detail = `${path} is truncated: it has ${bytes.length - 1} bytes, expected at least ${bytes.length}`;
  expect(inspectModelFile(path)).toEqual({ ok: false, problem: 'truncated', detail });
});

test.for<[string, (bytes: Buffer) => Uint8Array]>([
  ['is empty', () => new Uint8Array()],
  ['has other content', () => Buffer.from('<!doctype html>'.repeat(100))],
  ['has an odd vocabulary', (bytes) => bytes.fill(255, 4, 8)],
  ['has a tensor of an unknown type', (bytes) => bytes.fill(77, bytes.indexOf('encoder.pos') - 12)],
  ['continues after the last tensor', (bytes) => Buffer.concat([bytes, Buffer.from('!')])],
])('a file that %s is not a model', async ([, spoil]) => {
  const { path, bytes } = await toneModel();
  await writeFile(path, spoil(bytes));
  expect(inspectModelFile(path)).toMatchObject({ ok: false, problem: 'not-a-model' });
});

/** The header is the magic and eleven numbers; the sizes of the filters follow. */
test.for<[what: string, index: number, value: number, problem: string]>([
  ['an audio context without end', 2, 2 ** 30, 'the context of the encoder cannot be 1073741824'],
  ['no width', 3, 0, 'the width of the encoder cannot be 0'],
  ['no heads', 4, 0, 'the number of encoder heads cannot be 0'],
  ['heads that do not divide the width', 4, 63, 'the encoder cannot have 63 heads for a width of 64'],
  ['no layers', 5, 0, 'the number of encoder layers cannot be 0'],
  ['a text context without end', 6, 2 ** 30, 'the context of the decoder cannot be 1073741824'],
  ['a width without end', 7, 2 ** 30, 'the width of the decoder cannot be 1073741824'],
  ['negative heads', 8, -1, 'the number of decoder heads cannot be -1'],
  ['other bands than its filters', 10, 128, 'the number of mel bands of the filters cannot be 80'],
  ['filters of other frequencies', 13, 401, 'the number of frequencies cannot be 401'],
])('a model with %s is not a model', async ([, index, value, problem]) => {
  const { path, bytes } = await toneModel();
  bytes.writeInt32LE(value, 4 * index);
  await writeFile(path, bytes);
  const detail = `${path} is not a whisper model: ${problem}`;
  expect(inspectModelFile(path)).toEqual({ ok: false, problem: 'not-a-model', detail });
});

test('a model that is too small for its width is truncated, before its tensors are looked at', async () => {
  const { path, bytes } = await toneModel();
  bytes.writeInt32LE(8_192, 4 * 3);
  await writeFile(path, bytes);
  expect(inspectModelFile(path)).toMatchObject({ ok: false, problem: 'truncated' });
});

test('a file that does not exist is missing, a directory is not a model', async () => {
  const path = await modelPath();
  expect(inspectModelFile(path)).toEqual({ ok: false, problem: 'missing', detail: `${path} does not exist` });
  expect(inspectModelFile(join(import.meta.filename, 'x'))).toMatchObject({ problem: 'missing' });
  await mkdir(path);
  expect(inspectModelFile(path)).toMatchObject({ problem: 'not-a-model' });
});
