/** How long clips live, how much room they may take, and that nothing of them stays. */
import { mkdtemp, readdir, readlink, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EngineError } from '../../engines/contract.ts';
import { createClipStore, standardLimits, type ClipStore } from '../../src/clips/store.ts';
import type { Clip, ClipLimits } from '../../src/clips/clip.ts';
import { getSpeechClip } from '../../src/handlers/speech.ts';
import type { Services } from '../../src/services.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const noCaller = new AbortController().signal;
const patience = { timeout: 10_000, interval: 5 };
const lax: ClipLimits = { keepMs: 600_000, clipBytes: 1000, totalBytes: 1000, holdMs: 600_000 };
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

type Piece = number | (() => Promise<unknown>);

interface TestStore {
  readonly clips: ClipStore;
  /** Makes a complete clip of so many bytes. */
  make(bytes: number, signal?: AbortSignal): Promise<Clip>;
  /** Makes a clip of so many bytes each, with what is to be waited for between them. */
  begin(...pieces: readonly Piece[]): Promise<Clip>;
  files(): Promise<string[]>;
}

async function openStore(limits: Partial<ClipLimits> = {}): Promise<TestStore> {
  const root = await temporaryDirectory();
  const directory = async () => {
    const path = await mkdtemp(join(root, 'clip-'));
    return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
  };
  const clips = createClipStore({ directory, log: quiet, limits: { ...lax, ...limits } });
  onTestFinished(() => clips[Symbol.asyncDispose]());
  const create = (audio: AsyncIterable<Uint8Array>, signal = noCaller) =>
    clips.create({ mediaType: 'audio/mpeg', audio }, { signal, id: 'a-chat' });
  return {
    clips,
    async make(bytes, signal) {
      const clip = await create(piecesOf(bytes), signal);
      await clip.settled(noCaller);
      return clip;
    },
    begin: (...pieces) => create(piecesOf(...pieces)),
    files: () => readdir(root),
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
    const { clips, make } = await openStore({ keepMs: 100 });
    const clip = await make(10);
    const [reader, other] = [clip.read({ first: 0 }, noCaller), clip.read({ first: 0 }, noCaller)];
    await Promise.all([reader.next(), other.next()]);
    await other.return(undefined);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(clips.find(clip.id)).toBe(clip);
    await reader.return(undefined);
    expect(clips.find(clip.id)).toBe(clip);
    await expect.poll(() => clips.find(clip.id), patience).toBeUndefined();
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
    const { clips, make, begin, files } = await openStore();
    const growing = await begin(100, never);
    const [first, second, third] = [await make(400), await make(400), await make(300)];
    expect([growing, first, second, third].map(({ id }) => clips.find(id) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(await files()).toHaveLength(3);
  });

  test('is taken from readers only when there is no other: they see a broken transfer', async () => {
    const { clips, make } = await openStore();
    const heard = await make(500);
    const reader = heard.read({ first: 0 }, noCaller);
    await reader.next();
    const idle = await make(400);
    await make(400);
    expect([heard, idle].map(({ id }) => clips.find(id) !== undefined)).toEqual([true, false]);
    await make(700);
    expect(clips.find(heard.id)).toBeUndefined();
    await expect(reader.next()).rejects.toMatchObject({ code: 'storage-full' });
  });

  test('is free at once, although a reader that does not read keeps the file open', async () => {
    const { make } = await openStore({ clipBytes: 1_000_000, totalBytes: 1_000_000 });
    const clip = await make(900_000);
    const reader = clip.read({ first: 0 }, noCaller);
    await reader.next();
    await make(900_000);
    expect(await openFileSizes('clip-')).toEqual([0]);
    await reader.return(undefined);
  });

  test('that only clips in the making take up is storage-full for another one, which leaves nothing', async () => {
    const { begin, files } = await openStore();
    await begin(900, never);
    await expect(begin(200)).rejects.toMatchObject({ code: 'storage-full' });
    expect(await files()).toHaveLength(1);
  });

  test('of one clip is limited: the larger one fails and goes', async () => {
    const { clips, begin, files } = await openStore();
    const { passed, open } = gate();
    const clip = await begin(900, passed, 101);
    const reading = expect(lengthOf(clip.read({ first: 0 }, noCaller))).rejects.toMatchObject({ code: 'storage-full' });
    open();
    await reading;
    expect(clips.find(clip.id)).toBeUndefined();
    await expect.poll(files, patience).toEqual([]);
  });
});

test('the longest text that the contract permits has room, in the slowest language and the largest format', () => {
  const characters = 32_000;
  const secondsForOne = 0.49; // Japanese by espeak-ng, measured
  const bytesOfASecond = 48_000; // wav at 24 kHz
  expect(standardLimits.clipBytes).toBeGreaterThan(characters * secondsForOne * bytesOfASecond);
  expect(standardLimits.totalBytes).toBeGreaterThanOrEqual(2 * standardLimits.clipBytes);
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

describe('a spool', () => {
  const spool = ({ clips }: TestStore, pieces: readonly Piece[], signal = noCaller) =>
    clips.spool({ mediaType: 'audio/mpeg', audio: piecesOf(...pieces) }, { signal });

  test('takes everything whether or not its reader reads, and goes when it has been read', async () => {
    const store = await openStore();
    let isOver = false;
    const spooled = await spool(store, [10, 20, () => Promise.resolve((isOver = true))]);
    await expect.poll(() => isOver, patience).toBe(true);
    expect(await store.files()).toHaveLength(1);
    expect(await lengthOf(spooled)).toBe(30);
    await expect.poll(store.files, patience).toEqual([]);
  });

  test('goes when its reader leaves, and ends what fills it', async () => {
    const store = await openStore({ clipBytes: 1e9, totalBytes: 1e9 }); // it is filled until its reader has left
    let isOver = false;
    const audio: AsyncIterableIterator<Uint8Array> = {
      [Symbol.asyncIterator]: () => audio,
      next: () => (isOver ? never() : Promise.resolve({ done: false, value: Buffer.alloc(1) })),
      return: () => {
        isOver = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
    const spooled = await store.clips.spool({ mediaType: 'audio/mpeg', audio }, { signal: noCaller });
    for await (const _piece of spooled) break;
    await expect.poll(() => isOver, patience).toBe(true);
    await expect.poll(store.files, patience).toEqual([]);
  });

  test('goes with its caller, even if nobody has begun to read', async () => {
    const store = await openStore();
    const caller = new AbortController();
    await spool(store, [10, never], caller.signal);
    const whole = await spool(store, [10], caller.signal);
    caller.abort(new Error('gone'));
    await expect(whole[Symbol.asyncIterator]().next()).rejects.toThrow();
    await expect.poll(store.files, patience).toEqual([]);
  });

  test('that fails tells its reader why, and nobody else', async () => {
    const store = await openStore();
    const { passed, open } = gate();
    const spooled = await spool(store, [10, passed, () => Promise.reject(new Error('no voice'))]);
    open();
    await expect(lengthOf(spooled)).rejects.toThrow('no voice');
    await expect(spool(store, [() => Promise.reject(new Error('no voice'))])).rejects.toThrow('no voice');
    await expect.poll(store.files, patience).toEqual([]);
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
