import { readdir, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { TurnRecording } from '../../src/realtime/turn-recording.ts';
import type { AccountedDirectory } from '../../src/system/workspace.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const header = 44;
const twenty = { samples: Int16Array.from({ length: 320 }, (_, i) => i), rate: 16_000 };

/** A recording, and the sizes of its writes. */
async function record() {
  const writes: number[] = [];
  const path = await temporaryDirectory();
  const account = { take: (bytes: number) => void writes.push(bytes), release: () => undefined };
  const recording = new TurnRecording({ path, account } as unknown as AccountedDirectory);
  const add = async (frames: number) => {
    for (let frame = 0; frame < frames; frame += 1) {
      recording.push(twenty);
      await recording.flush();
    }
  };
  return { path, recording, writes, add };
}

it('is written at its beginning, once a second, and at its end', async () => {
  const { recording, writes, add } = await record();
  await add(130);
  expect(writes).toEqual([header + 640, 32_000, 32_000]);
  expect(recording.ms).toBe(2_600);
  await using file = await recording.finish();
  expect(writes).toEqual([header + 640, 32_000, 32_000, 29 * 640]);
  expect(file.recording).toMatchObject({ bytes: header + 130 * 640, slice: { endMs: 2_600 } });
  const bytes = await readFile(file.recording.path);
  expect(bytes.subarray(header).equals(Buffer.concat(Array(130).fill(Buffer.from(twenty.samples.buffer))))).toBe(true);
});

it('is whole in a copy, and continues', async () => {
  const { path, recording, add } = await record();
  await add(30);
  {
    await using copy = await recording.copy();
    expect((await readFile(copy.recording.path)).length).toBe(header + 30 * 640);
  }
  await add(1);
  {
    await using file = await recording.finish();
    expect((await readFile(file.recording.path)).length).toBe(header + 31 * 640);
  }
  expect(await readdir(path)).toEqual([]);
});
