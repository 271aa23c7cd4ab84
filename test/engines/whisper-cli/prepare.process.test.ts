import { hash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { builtProgramPath, isBuilding } from '../../../engines/whisper-cli/build.ts';
import { isDownloading } from '../../../engines/lib/download/download.ts';
import { acquireLock, lockOf } from '../../../lib/file-lock.ts';
import { createHttpClient } from '../../../lib/http-client.ts';
import { catalogue, maxModelBytes, modelNames, modelUrl } from '../../../engines/whisper-cli/catalogue.ts';
import { streamProgram } from '../../../src/system/child-process/stream-program.ts';
import {
  downloadedModelPath,
  type Done,
  type PrepareOptions,
  prepareWhisper,
} from '../../../engines/whisper-cli/prepare.ts';
import { writeToneModel } from '../../support/tone-model.ts';
import { good, machine, pathWith, recordingLog, serve, status, temporaryDirectory } from './support.ts';
import { noise } from '../../support/noise.ts';
import { entriesOf } from '../../support/temporary.ts';

/** Stands in for the base model, whose real bytes are not available to tests. */
const model = vi.hoisted(() => ({ bytes: new Uint8Array(), sha1: '' }));
model.bytes = noise(100_000);
model.sha1 = hash('sha1', model.bytes);

vi.mock('../../../engines/whisper-cli/catalogue.ts', async (original) => {
  const real = await original<typeof import('../../../engines/whisper-cli/catalogue.ts')>();
  return { ...real, catalogue: { ...real.catalogue, base: model } };
});

const client = createHttpClient({});
const { fetch } = client;
afterAll(() => client[Symbol.asyncDispose]());

async function preparation(changes: Partial<PrepareOptions> = {}) {
  const dataDir = join(await temporaryDirectory(), 'data');
  const steps: [step: string, done: Done][] = [];
  const failures: [step: string, why: string][] = [];
  const all: PrepareOptions = {
    dataDir,
    programs: [],
    models: [],
    mirror: 'http://127.0.0.1:9/no-mirror-here',
    env: {},
    cores: 1,
    start: streamProgram,
    fetch,
    signal: new AbortController().signal,
    progress: (step, done) => steps.push([step, done]),
    failed: (step, why) => failures.push([step, why]),
    log: recordingLog(),
    ...changes,
  };
  return { ...all, steps, failures };
}

test('a model is downloaded from the mirror into the data directory', async () => {
  const { url, requests } = await serve(good(model.bytes));
  const wanted = await preparation({ models: ['base'], mirror: `${url}/models/` });
  await prepareWhisper(wanted);
  expect(requests.map((request) => request.url)).toEqual(['/models/ggml-base.bin']);
  expect(await readFile(join(wanted.dataDir, 'models/ggml-base.bin'))).toEqual(model.bytes);
  expect(wanted.steps[0]).toEqual(['downloading ggml-base.bin', 0]);
  expect(wanted.steps.at(-1)).toEqual(['downloading ggml-base.bin', 1]);
});

test('a complete custom model under that name is not replaced', async () => {
  const wanted = await preparation({ models: ['base'] });
  const path = downloadedModelPath(wanted.dataDir, 'base');
  await mkdir(dirname(path), { recursive: true });
  await writeToneModel(path);
  await prepareWhisper(wanted);
  expect(wanted.steps).toEqual([]);
});

test('nothing is done if nothing is missing', async () => {
  const wanted = await preparation();
  await prepareWhisper(wanted);
  expect(wanted.steps).toEqual([]);
  await expect(entriesOf(wanted.dataDir)).rejects.toThrow('ENOENT');
});

test('a build that fails does not stop the download', async () => {
  const { url } = await serve(good(model.bytes));
  const PATH = await pathWith({ ...machine, npm: 'npm-offline' });
  const wanted = await preparation({
    programs: ['whisper-cli', 'whisper-host'],
    models: ['base'],
    mirror: url,
    env: { PATH },
  });
  await expect(prepareWhisper(wanted)).rejects.toThrow('npm error code ENOTFOUND');
  expect(wanted.steps).toContainEqual(['building whisper-cli', 0]);
  expect(await entriesOf(join(wanted.dataDir, 'models'))).toEqual(['ggml-base.bin']);
});

test('the error contains all failures and the manual fix', async () => {
  const { url } = await serve(status(404));
  const wanted = await preparation({ programs: ['whisper-cli', 'whisper-host'], models: ['base'], mirror: url });
  const error: unknown = await prepareWhisper(wanted).catch((error: unknown) => error);
  const lines = (error as Error).message.split('\n');
  const path = downloadedModelPath(wanted.dataDir, 'base');
  expect(lines).toEqual([
    expect.stringContaining('apt-get install npm tar cmake make g++'),
    `${url}/ggml-base.bin cannot be downloaded: the server answered 404 Not Found. ` +
      `Without a network, copy it to ${path} manually`,
  ]);
  expect(wanted.failures.map(([step]) => step)).toEqual(['building whisper-cli', 'downloading ggml-base.bin']);
  expect(wanted.failures[1]![1]).toBe(lines[1]);
});

test('what another process makes is waited for, and said', async () => {
  const { url, requests } = await serve(good(model.bytes));
  const wanted = await preparation({ programs: ['whisper-cli'], models: ['base'], mirror: url });
  const path = downloadedModelPath(wanted.dataDir, 'base');
  const program = builtProgramPath(wanted.dataDir);
  const { signal } = wanted;
  const others = await Promise.all([program, path].map((made) => acquireLock(lockOf(made), { signal })));
  const prepared = prepareWhisper(wanted);
  await expect.poll(() => wanted.steps).toHaveLength(3);
  expect(wanted.steps).toEqual(
    expect.arrayContaining([
      ['building whisper-cli', 'waiting'],
      ['downloading ggml-base.bin', 'waiting'],
    ]),
  );
  expect([isBuilding(wanted.dataDir), isDownloading(path)]).toEqual([true, true]);
  await writeFile(program, '', { mode: 0o755 });
  await writeFile(path, model.bytes);
  for (const lock of others) lock[Symbol.dispose]();
  await prepared;
  expect(wanted.steps.slice(-2)).toEqual(
    expect.arrayContaining([
      ['building whisper-cli', 1],
      ['downloading ggml-base.bin', 1],
    ]),
  );
  expect(requests).toEqual([]);
  expect([isBuilding(wanted.dataDir), isDownloading(path)]).toEqual([false, false]);
});

test('an abort ends both with its reason', async () => {
  const controller = new AbortController();
  const { url } = await serve(() => controller.abort(new Error('enough')));
  const PATH = await pathWith({ ...machine, npm: 'cmake-endless' });
  const { signal } = controller;
  const wanted = await preparation({
    programs: ['whisper-cli', 'whisper-host'],
    models: ['base'],
    mirror: url,
    env: { PATH },
    signal,
  });
  await expect(prepareWhisper(wanted)).rejects.toThrow('enough');
});

test('the catalogue is complete', () => {
  expect(modelNames).toEqual(['tiny', 'base', 'base.en', 'small', 'large-v3-turbo', 'large-v3-turbo-q5_0']);
  for (const { sha1 } of Object.values(catalogue)) expect(sha1).toMatch(/^[0-9a-f]{40}$/);
  expect(modelUrl('base.en', 'https://mirror.example/whisper')).toBe('https://mirror.example/whisper/ggml-base.en.bin');
  expect(maxModelBytes('tiny')).toBe(76 * 1024 * 1024);
});
