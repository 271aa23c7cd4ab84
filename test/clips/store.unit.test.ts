/** Expiry and quotas of clips, and the removal of their files. */
import { readdir, readlink, stat } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EngineError } from '../../engines/contract/index.ts';
import { runInScope } from '../../src/request-scope.ts';
import { clipLimits, createClipStore, type ClipStore } from '../../src/clips/store.ts';
import type { Clip, ClipLimits } from '../../src/clips/clip.ts';
import { getSpeechClip } from '../../src/handlers/speech.ts';
import { createWorkspace } from '../../src/system/workspace.ts';
import type { Services } from '../../src/handlers/dependencies.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const noCaller = new AbortController().signal;
const patience = { timeout: 10_000, interval: 5 };
const lax: ClipLimits = {
  keepMs: 600_000,
  stallMs: 600_000,
  clipBytes: 1000,
  totalBytes: 2000,
  holdMs: 600_000,
  unreadMs: 600_000,
};
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const source = { host: '127.0.0.1', origin: undefined };

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
  /** Size of the disk budget. */
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

describe('the expiry of a clip', () => {
  test('is a fixed time after its completion', async () => {
    const { clips, make, files } = await openStore({ keepMs: 50 });
    const { id } = await make(10);
    expect(clips.find(id)).toBeDefined();
    await expect.poll(() => clips.find(id), patience).toBeUndefined();
    await expect.poll(files, patience).toEqual([]);
  });

  test('restarts with every read, and is paused while there are readers', async () => {
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

  test('follows soon after its last reader has disconnected, however long readers may stall', async () => {
    const { clips, make } = await openStore({ keepMs: 50 });
    const clip = await make(10);
    const reader = await startReading(clip);
    await new Promise((resolve) => setTimeout(resolve, 120)); // it would have expired
    expect(clips.find(clip.id)).toBe(clip);
    await reader.return(undefined);
    await expect.poll(() => clips.find(clip.id), patience).toBeUndefined();
  });

  test('is not delayed by a stalled reader, which fails', async () => {
    const { clips, begin } = await openStore({ keepMs: 50, stallMs: 50 });
    const { passed, open } = gate();
    const clip = await begin(10, passed, 10);
    const reader = await startReading(clip); // before the clip is complete, which starts its expiry
    open();
    await expect.poll(() => clips.find(clip.id), patience).toBeUndefined();
    await expect(reader.next()).rejects.toMatchObject({ code: 'clip-not-found' });
  });

  test('is paused during the synthesis', async () => {
    const { clips, begin } = await openStore({ keepMs: 20 });
    const { passed, open } = gate();
    const clip = await begin(10, passed, 10);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(clips.find(clip.id)).toBe(clip);
    open();
    await expect.poll(() => clips.find(clip.id), patience).toBeUndefined();
  });
});

describe('the clip store', () => {
  test('evicts the oldest complete clip', async () => {
    const { make, begin, left, files, bytesUsed } = await openStore();
    const growing = await begin(200, never);
    const [first, second, third] = [await make(800), await make(800), await make(600)];
    expect(left(growing, first, second, third)).toEqual([growing, second, third]);
    expect(await files()).toHaveLength(3);
    expect(bytesUsed()).toBe(1600);
  });

  test('evicts clips being read only as a last resort: readers see a broken transfer', async () => {
    const { make, left } = await openStore();
    const read = await make(1000);
    const reader = await startReading(read);
    const idle = await make(800);
    const readToo = await make(800);
    expect(left(read, idle, readToo)).toEqual([read, readToo]);
    await startReading(readToo);
    const third = await make(800);
    expect(left(read, readToo, third)).toEqual([readToo, third]);
    await expect(reader.next()).rejects.toMatchObject({ code: 'storage-full' });
  });

  test('treats a stalled reader as no reader', async () => {
    const { make, left } = await openStore({ stallMs: 0 });
    const stalled = await make(800);
    const reader = await startReading(stalled);
    const other = await make(800);
    await make(800);
    expect(left(stalled, other)).toEqual([other]);
    await expect(reader.next()).rejects.toMatchObject({ code: 'storage-full' });
  });

  test('frees space at once, even if a stalled reader keeps the file open', async () => {
    const { make } = await openStore({ clipBytes: 1_000_000, totalBytes: 2_000_000, stallMs: 0 });
    const clip = await make(900_000);
    const reader = await startReading(clip);
    await make(900_000);
    await make(900_000);
    expect(await openFileSizes('clip-')).toEqual([0]);
    await reader.return(undefined);
  });

  test('rejects with storage-full when it is full of growing clips, and leaves no files', async () => {
    const { begin, files, bytesUsed } = await openStore();
    await begin(900, never);
    await expect(begin(200)).rejects.toMatchObject({ code: 'storage-full' });
    expect(await files()).toHaveLength(1);
    expect(bytesUsed()).toBe(900);
  });

  test('limits the size of a clip: a larger one fails and is removed', async () => {
    const { clips, begin, files, bytesUsed } = await openStore();
    const { passed, open } = gate();
    const clip = await begin(900, passed, 101);
    const reading = expect(lengthOf(clip.read({ first: 0 }, noCaller))).rejects.toMatchObject({ code: 'storage-full' });
    open();
    await reading;
    expect(clips.find(clip.id)).toBeUndefined();
    await expect.poll(files, patience).toEqual([]);
    await expect.poll(bytesUsed, patience).toBe(0); // given back after the file has gone
  });

  test('evicts the oldest clip when the disk budget is exhausted', async () => {
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
  test('is the whole store while others have no clips, and shrinks to half when they have some', async () => {
    const { makeFor, left } = await openStore();
    const greedy = [await makeFor('a', 900), await makeFor('a', 900)];
    const quiet = await makeFor('b', 600);
    expect(left(...greedy, quiet)).toEqual([greedy[1], quiet]);
    const more = await makeFor('a', 200);
    expect(left(greedy[1]!, quiet, more)).toEqual([quiet, more]);
  });

  test('is evicted first when the caller itself creates more clips', async () => {
    const { makeFor, left } = await openStore();
    const quiet = await makeFor('b', 100);
    for (let i = 0; i < 20; i++) {
      const clip = await makeFor('a', 300);
      await startReading(clip); // and never again
    }
    expect(left(quiet)).toEqual([quiet]);
  });

  test('is evicted from the caller with the most bytes, even if another clip is older and this one is being read', async () => {
    const { makeFor, left } = await openStore();
    const oldest = await makeFor('b', 500);
    const large = await makeFor('a', 900);
    await startReading(large);
    const [idle, next] = [await makeFor('c', 500), await makeFor('d', 400)];
    expect(left(oldest, large, idle, next)).toEqual([oldest, idle, next]);
  });

  test('cannot grow at the expense of callers with fewer bytes', async () => {
    const { makeFor, beginFor, left } = await openStore();
    const small = [await makeFor('b', 600), await makeFor('c', 600)];
    await beginFor('a', 700, never);
    await expect(beginFor('a', 200)).rejects.toMatchObject({ code: 'storage-full' });
    expect(left(...small)).toEqual(small);
  });

  test('is at most half for growing clips, which cannot be evicted', async () => {
    const { makeFor, beginFor, left } = await openStore();
    await beginFor('a', 600, never);
    await expect(beginFor('a', 600)).rejects.toMatchObject({ code: 'storage-full' });
    const quiet = await makeFor('b', 900);
    expect(left(quiet)).toEqual([quiet]);
  });
});

test('the longest valid text fits, in the slowest language and the largest format', () => {
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

describe('a clip that fails', () => {
  test('because its audio fails at once rejects, and leaves no files', async () => {
    const { begin, files } = await openStore();
    await expect(begin(() => Promise.reject(new Error('no voice')))).rejects.toThrow('no voice');
    expect(await files()).toEqual([]);
  });

  test('because there is no audio rejects, and leaves no files', async () => {
    const { begin, files } = await openStore();
    await expect(begin()).rejects.toMatchObject({ code: 'engine-failed' });
    expect(await files()).toEqual([]);
  });

  test('because its run was canceled is removed, and its audio is stopped', async () => {
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
    const reading = expect(lengthOf(clip.read({ first: 0 }, noCaller))).rejects.toThrow('canceled');
    run.abort(new Error('the caller has disconnected'));
    await reading;
    expect(told).toBe(true);
    await expect.poll(files, patience).toEqual([]);
  });

  test('because its run failed after its completion is removed, too', async () => {
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

  test('because the store is closed is rejected', async () => {
    const { clips, begin, files } = await openStore();
    await begin(10, never);
    await clips[Symbol.asyncDispose]();
    await expect(begin(10)).rejects.toMatchObject({ code: 'shutting-down' });
    expect(await files()).toEqual([]);
  });
});

test('a clip removed while it is being opened is not found', async () => {
  const { clips, begin } = await openStore();
  const { passed, open } = gate();
  const clip = await begin(10, passed, () => Promise.reject(new EngineError('provider-error', 'It broke.')));
  const request = { id: '', query: {}, path: { id: clip.id }, headers: {}, body: undefined, source };
  const answer = await getSpeechClip({ ...request, signal: noCaller, log: quiet }, { clips } as unknown as Services);
  open();
  await expect.poll(() => clips.find(clip.id), patience).toBeUndefined();
  await expect(lengthOf(answer.body as AsyncIterable<Uint8Array>)).rejects.toMatchObject({
    code: 'clip-not-found',
  });
});

test('a range request that waits too long for completion gets the clip as it grows', async () => {
  const { clips, begin } = await openStore({ holdMs: 50 });
  const clip = await begin(10, never);
  const request = {
    id: '',
    query: {},
    path: { id: clip.id },
    headers: { Range: 'bytes=0-1' },
    body: undefined,
    source,
  };
  const answer = await getSpeechClip({ ...request, signal: noCaller, log: quiet }, { clips } as unknown as Services);
  expect(answer).toMatchObject({ status: 200, mediaType: 'audio/mpeg' });
});

test('ids are 128 random bits', async () => {
  const { make } = await openStore();
  const ids = await Promise.all(Array.from({ length: 50 }, async () => (await make(1)).id));
  expect(new Set(ids).size).toBe(50);
  for (const id of ids) expect(Buffer.from(id, 'base64url')).toHaveLength(16);
});

/** Sizes of the open files of this process whose path contains the name, also of deleted ones (proc(5)). */
async function openFileSizes(name: string): Promise<number[]> {
  const paths = (await readdir('/proc/self/fd')).map((fd) => `/proc/self/fd/${fd}`);
  const isOne = async (path: string) => (await readlink(path).catch(() => '')).includes(name);
  const sizes = await Promise.all(paths.map(async (path) => ((await isOne(path)) ? (await stat(path)).size : [])));
  return sizes.flat();
}
