/** The counters of today in their file. */
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openBudgets } from '../../src/limits/usage-file.ts';

let dir: string;
let path: string;
let errors: { facts: object; message: string }[];
const log = { error: (facts: object, message: string) => void errors.push({ facts, message }) };

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parlance-usage-'));
  path = join(dir, 'data', 'usage.json');
  errors = [];
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-22T12:00:00Z') });
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(dir, { recursive: true });
});

const open = (everyMs?: number) => openBudgets({ path, log, ...(everyMs !== undefined && { everyMs }) });

it('is written when the budgets are disposed, and read at the next start', async () => {
  const before = await open();
  before.charge('web-app', { audioMs: 1_840.4 });
  before.charge('web-app', { tokens: 17 });
  before.charge('bot', { tokens: 3 });
  await before[Symbol.asyncDispose]();
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    version: 1,
    day: '2026-11-22',
    keys: { 'web-app': { audio_ms: 1840, tokens: 17 }, bot: { audio_ms: 0, tokens: 3 } },
  });
  expect(await readdir(join(dir, 'data'))).toEqual(['usage.json']);

  await using after = await open();
  after.charge('web-app', { tokens: 3 });
  expect(after.used('web-app')).toEqual({ audioMs: 1840, tokens: 20 });
  expect(errors).toEqual([]);
});

it('is written in between, but only when a counter has changed', async () => {
  await using budgets = await open(1);
  budgets.charge('web-app', {});
  budgets.charge('web-app', { tokens: 5 });
  await vi.waitFor(async () => expect(await readFile(path, 'utf8')).toContain('"tokens":5'), { timeout: 30_000 });
  await rm(path);
  const other = join(dir, 'other.json');
  await using busy = await openBudgets({ path: other, log, everyMs: 1 });
  busy.charge('web-app', { tokens: 1 });
  await vi.waitFor(async () => expect(await readFile(other, 'utf8')).toContain('"tokens":1'), { timeout: 30_000 });
  expect(await readdir(join(dir, 'data'))).toEqual([]);
});

it('of another day is ignored', async () => {
  const before = await open();
  before.charge('web-app', { tokens: 17 });
  await before[Symbol.asyncDispose]();
  vi.setSystemTime('2026-11-23T00:00:00Z');
  await using after = await open();
  expect(after.used('web-app')).toEqual({ audioMs: 0, tokens: 0 });
});

it.each([
  ['is cut off', '{"version":1,"day":"2026-11-22","ke'],
  ['is empty', ''],
  ['is of another version', '{"version":2,"day":"2026-11-22","keys":{}}'],
  ['has a negative amount', '{"version":1,"day":"2026-11-22","keys":{"a":{"audio_ms":0,"tokens":-1}}}'],
  ['has no keys', '{"version":1,"day":"2026-11-22","keys":[]}'],
])('that %s is kept aside and logged; the budgets start from zero', async (_what, text) => {
  await (await open())[Symbol.asyncDispose]();
  path = join(dir, 'usage.json');
  await writeFile(path, text);
  await using budgets = await open();
  expect(budgets.used('a')).toEqual({ audioMs: 0, tokens: 0 });
  expect(await readFile(`${path}.unreadable`, 'utf8')).toBe(text);
  expect(errors).toEqual([
    {
      facts: { path, err: expect.any(Error) as Error, keptAs: `${path}.unreadable` },
      message: 'the daily usage of the API keys could not be read; the budgets start from zero',
    },
  ]);
});

it('that cannot be written is logged, and counting continues', async () => {
  await writeFile(join(dir, 'data'), 'a file in the place of the directory');
  const budgets = await openBudgets({ path, log: { error: () => undefined } });
  budgets.charge('web-app', { tokens: 5 });
  expect(budgets.used('web-app').tokens).toBe(5);
  await budgets[Symbol.asyncDispose]();
  const failing = await openBudgets({ path, log });
  errors = [];
  failing.charge('web-app', { tokens: 5 });
  await failing[Symbol.asyncDispose]();
  expect(errors.map(({ message }) => message)).toEqual(['the daily usage of the API keys could not be written']);
});

it('is written as soon as that is possible again', async () => {
  await writeFile(join(dir, 'data'), 'a file in the place of the directory');
  const budgets = await openBudgets({ path, log, everyMs: 1 });
  errors = [];
  budgets.charge('web-app', { tokens: 5 });
  await vi.waitFor(() => expect(errors).not.toEqual([]), { timeout: 30_000 });
  await rm(join(dir, 'data'));
  await budgets[Symbol.asyncDispose]();
  expect(await readFile(path, 'utf8')).toContain('"tokens":5');
});
