/** Direct speech is spooled between its engine and its one reader: the engine never waits, and no file is left. */
import { readdir } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createWorkspace } from '../../src/system/workspace.ts';
import { createSpeechSpool } from '../../src/speech/speech-spool.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const noCaller = new AbortController().signal;
const patience = { timeout: 10_000, interval: 5 };
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const never = () => new Promise<never>(() => undefined);

async function openSpool(limit = 1e9) {
  const workspace = await createWorkspace(await temporaryDirectory());
  onTestFinished(() => workspace[Symbol.dispose]());
  const speeches = createSpeechSpool({
    directory: () => workspace.accountedDirectory('speech', { limit }),
    log: quiet,
  });
  return {
    speeches,
    spool: (pieces: AsyncIterable<Uint8Array>, signal = noCaller) => speeches.spool(pieces, { signal }),
    /** The files on the disk, and the bytes that the budget counts. */
    use: async () => ({ files: (await readdir(workspace.path)).length, bytes: workspace.disk.used }),
  };
}
const nothing = { files: 0, bytes: 0 };

type Piece = number | (() => Promise<unknown>);

async function* piecesOf(...pieces: readonly Piece[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (typeof piece === 'number') yield Buffer.alloc(piece, 'x');
    else await piece();
  }
}

/** Pieces of so many bytes without end, and whether they have been ended. */
function endless(bytes: number) {
  const state = { isOver: false };
  const pieces: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => pieces,
    next: () => (state.isOver ? never() : Promise.resolve({ done: false, value: Buffer.alloc(bytes) })),
    return: () => {
      state.isOver = true;
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return { pieces, state };
}

async function lengthOf(sound: AsyncIterable<Uint8Array>): Promise<number> {
  let length = 0;
  for await (const piece of sound) length += piece.length;
  return length;
}

test('spools everything without a reader, and removes the file after the read', async () => {
  const { spool, use } = await openSpool();
  let isOver = false;
  const speech = await spool(piecesOf(10, 20, () => Promise.resolve((isOver = true))));
  await expect.poll(() => isOver, patience).toBe(true);
  expect(await use()).toEqual({ files: 1, bytes: 30 });
  expect(await lengthOf(speech)).toBe(30);
  await expect.poll(use, patience).toEqual(nothing);
});

test('stops the engine and removes the file when its reader returns', async () => {
  const { spool, use } = await openSpool();
  const { pieces, state } = endless(1);
  for await (const _piece of await spool(pieces)) break;
  await expect.poll(() => state.isOver, patience).toBe(true);
  await expect.poll(use, patience).toEqual(nothing);
});

test('removes the file when the client disconnects, even before the first read', async () => {
  const { spool, use } = await openSpool();
  const caller = new AbortController();
  await spool(piecesOf(10, never), caller.signal);
  const whole = await spool(piecesOf(10), caller.signal);
  caller.abort(new Error('gone'));
  await expect(whole[Symbol.asyncIterator]().next()).rejects.toThrow();
  await expect.poll(use, patience).toEqual(nothing);
});

test('passes errors to its reader, and rejects before the first byte', async () => {
  const { spool, use } = await openSpool();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const fail = () => Promise.reject(new Error('no voice'));
  const speech = await spool(piecesOf(10, () => promise, fail));
  resolve(undefined);
  await expect(lengthOf(speech)).rejects.toThrow('no voice');
  await expect(spool(piecesOf(fail))).rejects.toThrow('no voice');
  await expect(spool(piecesOf())).rejects.toMatchObject({ code: 'engine-failed' });
  await expect.poll(use, patience).toEqual(nothing);
});

test('does not start after a disconnect, and stops the engine', async () => {
  const { spool, use } = await openSpool();
  const { pieces, state } = endless(1);
  await expect(spool(pieces, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  expect(state.isOver).toBe(true);
  expect(await use()).toEqual(nothing);
});

test('stops the engine with storage-full at its limit, with or without a reader', async () => {
  const { spool, use } = await openSpool(1000);
  const { pieces, state } = endless(300);
  const speech = await spool(pieces);
  await expect.poll(() => state.isOver, patience).toBe(true);
  await expect(lengthOf(speech)).rejects.toMatchObject({ code: 'storage-full' });
  await expect(spool(endless(1001).pieces)).rejects.toMatchObject({ code: 'storage-full' });
  await expect.poll(use, patience).toEqual(nothing);
});

test('has removed all files after disposal', async () => {
  const { speeches, spool, use } = await openSpool();
  const caller = new AbortController();
  await Promise.all([spool(piecesOf(10, never), caller.signal), spool(piecesOf(10), caller.signal)]);
  caller.abort(new Error('the service is shutting down'));
  await speeches[Symbol.asyncDispose]();
  expect(await use()).toEqual(nothing);
});
