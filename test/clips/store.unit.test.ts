/** How long clips live, how much room they may take, and that nothing of them stays. */
import { readdir, readlink, stat } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EngineError } from '../../engines/contract/index.ts';
import { runInScope } from '../../src/caller.ts';
import { clipLimits, createClipStore, type ClipStore } from '../../src/clips/store.ts';
import type { Clip, ClipLimits } from '../../src/clips/clip.ts';
import { getSpeechClip } from '../../src/handlers/speech.ts';
import { createWorkspace } from '../../src/system/workspace.ts';
import type { Services } from '../../src/handlers/dependencies.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const noCaller = new AbortController().signal;
const patience = { timeout: 10_000, interval: 5 };
const lax: ClipLimits = { keepMs: 600_000, stallMs: 600_000, clipBytes: 1000, totalBytes: 2000, holdMs: 600_000 };
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

type Piece = number | (() => Promise<unknown>);

interface TestStore {
  readonly clips: ClipStore;
  /** Makes a complete clip of so many bytes. */
  make(bytes: number, signal?: AbortSignal): Promise<Clip>;
  /** Makes a clip of so many bytes each, with what is to be waited for between them. */
  begin(...pieces: readonly Piece[]): Promise<Clip>;
  /** Makes a complete clip of so many bytes for a caller. */
  makeFor(caller: string, bytes: number): Promise<Clip>;
  beginFor(caller: string, ...pieces: readonly Piece[]): Promise<Clip>;
  /** Those of them that are still there. */
  left(...made: readonly Clip[]): Clip[];
  files(): Promise<string[]>;
  /** Of the disk budget. */
  bytesUsed(): number;
}

async function openStore({
  diskBytes,
  ...limits
}: Partial<ClipLimits> & { diskBytes?: number } = {}): Promise<TestStore> {
  const workspace = await createWorkspace(await temporaryDirectory(), diskBytes);
  onTestFinished(() => workspace[Symbol.dispose]());
  const directory = () => workspace.accountedDirectory('clip', { holder: 'clips' });
  const clips = createClipStore({ directory, log: quiet, limits: { ...lax, ...limits } });
  onTestFinished(() => clips[Symbol.asyncDispose]());
  const create = (audio: AsyncIterable<Uint8Array>, signal = noCaller) =>
    clips.create({ mediaType: 'audio/mpeg', audio }, { signal, id: 'a-chat' });
  const make: TestStore['make'] = async (bytes, signal) => {
    const clip = await create(piecesOf(bytes), signal);
    await clip.settled(noCaller);
    return clip;
  };
  const begin: TestStore['begin'] = (...pieces) => create(piecesOf(...pieces));
  return {
    clips,
    make,
    begin,
    makeFor: (caller, bytes) => runInScope({ caller }, () => make(bytes)),
    beginFor: (caller, ...pieces) => runInScope({ caller }, () => begin(...pieces)),
    left: (...made) => made.filter(({ id }) => clips.find(id)),
    files: () => readdir(workspace.path),
    bytesUsed: () => workspace.disk.used,
  };
}

async function* piecesOf(...pieces: readonly Piece[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (typeof piece === 'number') yield Buffer.alloc(piece, 'x');
    else await piece();
  }
}

function gate() {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return { passed: () => promise, open: () => resolve(undefined) };
}

/** A reader that has taken one piece; it leaves with the test. */
async function startReading(clip: Clip): Promise<AsyncGenerator<Uint8Array>> {
  const reader = clip.read({ first: 0 }, noCaller);
  onTestFinished(() => void reader.return(undefined));
  await reader.next();
  return reader;
}

async function lengthOf(sound: AsyncIterable<Uint8Array>): Promise<number> {
  let length = 0;
  for await (const piece of sound) length += piece.length;
  return length;
}

const never = () => new Promise<never>(() => undefined);

describe('the time of a clip', () => {
  test('is over so long after it was completed', async () => {
    const { clips, make, files } = await openStore({ keepMs: 50 });
    const { id } = await make(10);
    expect(clips.find(id)).toBeDefined();
    await expect.poll(() => clips.find(id), patience).toBeUndefined();
    await expect.poll(files, patience).toEqual([]);
  });

  test('begins again with everyone who reads it, and does not run while anyone does', async () => {
    // Longer than a busy machine keeps a process waiting.
    const { clips, make } = await openStore({ keepMs: 1_000 });
    const clip = await make(10);
    const [reader, other] = [clip.read({ first: 0 }, noCaller), clip.read({ first: 0 }, noCaller)];
    await Promise.all([reader.next(), other.next()]);
    await other.return(undefined);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(clips.find(clip.id)).toBe(clip);
    await reader.return(undefined);
    await startReading(clip);
    expect(clips.find(clip.id)).toBe(clip);
  });

  test('runs out while a reader is stalled: it ends with a failure', async () => {
    const { clips, make } = await openStore({ keepMs: 50, stallMs: 50 });
    const clip = await make(10);
    const reader = await startReading(clip);
    await expect.poll(() => clips.find(clip.id), patience).toBeUndefined();
    await expect(reader.next()).rejects.toMatchObject({ code: 'clip-not-found' });
  });

  test('does not run while it is being made', async () => {
    const { clips, begin } = await openStore({ keepMs: 20 });
    const { passed, open } = gate();
    const clip = await begin(10, passed, 10);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(clips.find(clip.id)).toBe(clip);
    open();
    await expect.poll(() => clips.find(clip.id), patience).toBeUndefined();
  });
});

describe('the room for clips', () => {
  test('is made by the oldest complete one', async () => {
    const { make, begin, left, files, bytesUsed } = await openStore();
    const growing = await begin(200, never);
    const [first, second, third] = [await make(800), await make(800), await make(600)];
    expect(left(growing, first, second, third)).toEqual([growing, second, third]);
    expect(await files()).toHaveLength(3);
    expect(bytesUsed()).toBe(1600);
  });

  test('is taken from readers only when there is no other: they see a broken transfer', async () => {
    const { make, left } = await openStore();
    const heard = await make(1000);
    const reader = await startReading(heard);
    const idle = await make(800);
    const heardToo = await make(800);
    expect(left(heard, idle, heardToo)).toEqual([heard, heardToo]);
    await startReading(heardToo);
    const third = await make(800);
    expect(left(heard, heardToo, third)).toEqual([heardToo, third]);
    await expect(reader.next()).rejects.toMatchObject({ code: 'storage-full' });
  });

  test('is taken from a reader that has stalled as if it did not read', async () => {
    const { make, left } = await openStore({ stallMs: 0 });
    const stalled = await make(800);
    const reader = await startReading(stalled);
    const other = await make(800);
    await make(800);
    expect(left(stalled, other)).toEqual([other]);
    await expect(reader.next()).rejects.toMatchObject({ code: 'storage-full' });
  });

  test('is free at once, although a reader that does not read keeps the file open', async () => {
    const { make } = await openStore({ clipBytes: 1_000_000, totalBytes: 2_000_000, stallMs: 0 });
    const clip = await make(900_000);
    const reader = await startReading(clip);
    await make(900_000);
    await make(900_000);
    expect(await openFileSizes('clip-')).toEqual([0]);
    await reader.return(undefined);
  });

  test('that only clips in the making take up is storage-full for another one, which leaves nothing', async () => {
    const { begin, files, bytesUsed } = await openStore();
    await begin(900, never);
    await expect(begin(200)).rejects.toMatchObject({ code: 'storage-full' });
    expect(await files()).toHaveLength(1);
    expect(bytesUsed()).toBe(900);
  });

  test('of one clip is limited: the larger one fails and goes', async () => {
    const { clips, begin, files, bytesUsed } = await openStore();
    const { passed, open } = gate();
    const clip = await begin(900, passed, 101);
    const reading = expect(lengthOf(clip.read({ first: 0 }, noCaller))).rejects.toMatchObject({ code: 'storage-full' });
    open();
    await reading;
    expect(clips.find(clip.id)).toBeUndefined();
    await expect.poll(files, patience).toEqual([]);
    expect(bytesUsed()).toBe(0);
  });

  test('ends where the disk budget does: the oldest clip goes for a new one', async () => {
    const { make, begin, left, bytesUsed } = await openStore({ diskBytes: 2000 });
    const [first, second] = [await make(500), await make(400)];
    const third = await make(300);
    expect(left(first, second, third)).toEqual([second, third]);
    expect(bytesUsed()).toBe(700);
    await begin(300, never);
    await expect(begin(701)).rejects.toMatchObject({ code: 'storage-full' });
  });
});

describe('the share of a caller', () => {
  test('is all of the store while others have nothing, and shrinks to half when they have', async () => {
    const { makeFor, left } = await openStore();
    const greedy = [await makeFor('a', 900), await makeFor('a', 900)];
    const quiet = await makeFor('b', 600);
    expect(left(...greedy, quiet)).toEqual([greedy[1], quiet]);
    const more = await makeFor('a', 200);
    expect(left(greedy[1]!, quiet, more)).toEqual([quiet, more]);
  });

  test('is what the caller himself loses first, however many clips he makes and leaves unread', async () => {
    const { makeFor, left } = await openStore();
    const quiet = await makeFor('b', 100);
    for (let i = 0; i < 20; i++) {
      const clip = await makeFor('a', 300);
      await startReading(clip); // and never again
    }
    expect(left(quiet)).toEqual([quiet]);
  });

  test('is taken from the caller who holds most, whoever has the oldest clip, and even when he reads', async () => {
    const { makeFor, left } = await openStore();
    const oldest = await makeFor('b', 500);
    const large = await makeFor('a', 900);
    await startReading(large);
    const [idle, next] = [await makeFor('c', 500), await makeFor('d', 400)];
    expect(left(oldest, large, idle, next)).toEqual([oldest, idle, next]);
  });

  test('cannot grow at the cost of callers who hold less', async () => {
    const { makeFor, beginFor, left } = await openStore();
    const small = [await makeFor('b', 600), await makeFor('c', 600)];
    await beginFor('a', 700, never);
    await expect(beginFor('a', 200)).rejects.toMatchObject({ code: 'storage-full' });
    expect(left(...small)).toEqual(small);
  });

  test('is at most half for clips in the making, which nobody can evict', async () => {
    const { makeFor, beginFor, left } = await openStore();
    await beginFor('a', 600, never);
    await expect(beginFor('a', 600)).rejects.toMatchObject({ code: 'storage-full' });
    const quiet = await makeFor('b', 900);
    expect(left(quiet)).toEqual([quiet]);
  });
});

test('the longest text that the contract permits has room, in the slowest language and the largest format', () => {
  const characters = 32_000;
  const secondsForOne = 0.49; // Japanese by espeak-ng, measured
  const bytesOfASecond = 48_000; // wav at 24 kHz
  const { clipBytes } = clipLimits(4 * 1024 ** 3); // the default
  expect(clipBytes).toBeGreaterThan(characters * secondsForOne * bytesOfASecond);
});

test('clips take at most half of the disk budget and 2 GiB, and one clip half of that', () => {
  const gibibyte = 1024 ** 3;
  expect(clipLimits(gibibyte)).toMatchObject({ totalBytes: gibibyte / 2, clipBytes: gibibyte / 4 });
  expect(clipLimits(100 * gibibyte)).toMatchObject({ totalBytes: 2 * gibibyte, clipBytes: gibibyte });
});

describe('a clip that cannot be made', () => {
  test('because its audio fails at once is thrown, and leaves nothing', async () => {
    const { begin, files } = await openStore();
    await expect(begin(() => Promise.reject(new Error('no voice')))).rejects.toThrow('no voice');
    expect(await files()).toEqual([]);
  });

  test('because there is no sound is thrown, and leaves nothing', async () => {
    const { begin, files } = await openStore();
    await expect(begin()).rejects.toMatchObject({ code: 'engine-failed' });
    expect(await files()).toEqual([]);
  });

  test('because its run has ended goes, and its audio is told so', async () => {
    const { clips, files } = await openStore();
    const run = new AbortController();
    let told = false;
    const source = piecesOf(10, never);
    const audio: AsyncIterableIterator<Uint8Array> = {
      [Symbol.asyncIterator]: () => audio,
      next: () => source.next(),
      return: () => {
        told = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
    const clip = await clips.create({ mediaType: 'audio/mpeg', audio }, { signal: run.signal, id: 'a-chat' });
    const reading = expect(lengthOf(clip.read({ first: 0 }, noCaller))).rejects.toThrow('given up');
    run.abort(new Error('the caller has left'));
    await reading;
    expect(told).toBe(true);
    await expect.poll(files, patience).toEqual([]);
  });

  test('because its run failed after it was complete goes, too', async () => {
    const { clips, make, files } = await openStore();
    const run = new AbortController();
    const clip = await make(10, run.signal);
    const reader = clip.read({ first: 5 }, noCaller);
    expect(clips.find(clip.id)).toBe(clip);
    run.abort(new Error('the model broke'));
    expect(clips.find(clip.id)).toBeUndefined();
    await expect(reader.next()).rejects.toMatchObject({ code: 'clip-not-found' });
    await expect.poll(files, patience).toEqual([]);
  });

  test('because the store has ended is refused', async () => {
    const { clips, begin, files } = await openStore();
    await begin(10, never);
    await clips[Symbol.asyncDispose]();
    await expect(begin(10)).rejects.toMatchObject({ code: 'shutting-down' });
    expect(await files()).toEqual([]);
  });
});

test('a clip that goes while it is being opened is no more, whatever has become of it', async () => {
  const { clips, begin } = await openStore();
  const { passed, open } = gate();
  const clip = await begin(10, passed, () => Promise.reject(new EngineError('provider-error', 'It broke.')));
  const request = { id: '', query: {}, path: { id: clip.id }, headers: {}, body: undefined };
  const answer = await getSpeechClip({ ...request, signal: noCaller, log: quiet }, { clips } as unknown as Services);
  open();
  await expect.poll(() => clips.find(clip.id), patience).toBeUndefined();
  await expect(lengthOf(answer.body as AsyncIterable<Uint8Array>)).rejects.toMatchObject({
    code: 'clip-not-found',
  });
});

test('who waits for a part of a clip that takes too long gets it as it grows', async () => {
  const { clips, begin } = await openStore({ holdMs: 50 });
  const clip = await begin(10, never);
  const request = { id: '', query: {}, path: { id: clip.id }, headers: { Range: 'bytes=0-1' }, body: undefined };
  const answer = await getSpeechClip({ ...request, signal: noCaller, log: quiet }, { clips } as unknown as Services);
  expect(answer).toMatchObject({ status: 200, mediaType: 'audio/mpeg' });
});

test('ids are 128 random bits', async () => {
  const { make } = await openStore();
  const ids = await Promise.all(Array.from({ length: 50 }, async () => (await make(1)).id));
  expect(new Set(ids).size).toBe(50);
  for (const id of ids) expect(Buffer.from(id, 'base64url')).toHaveLength(16);
});

/** Of the files with this in their names that this process holds open, although they are gone (proc(5)). */
async function openFileSizes(name: string): Promise<number[]> {
  const paths = (await readdir('/proc/self/fd')).map((fd) => `/proc/self/fd/${fd}`);
  const isOne = async (path: string) => (await readlink(path).catch(() => '')).includes(name);
  const sizes = await Promise.all(paths.map(async (path) => ((await isOne(path)) ? (await stat(path)).size : [])));
  return sizes.flat();
}
