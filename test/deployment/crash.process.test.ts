/** How the service ends: killed outright or asked to, nothing of it continues, and nothing of a recording stays. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endsSoon, insist, requestFilesIn, startChildService, type ChildService } from '../support/child-service.ts';
import type { Process } from '../support/proc.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { alive, runningChildren } from './processes.ts';
import { recording, standIns, transcribe, whisperEngine, writeModels, type Answer, type Models } from './support.ts';

const soonMs = 5_000;
const behaviors = ['hang', 'controls'];

let models: Models;
beforeAll(async () => {
  models = await writeModels(behaviors);
});
afterAll(() => models[Symbol.asyncDispose]());

interface StartOptions {
  readonly program?: string;
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
}

function start({ program = standIns.whisper, ...options }: StartOptions = {}): Promise<ChildService> {
  const engine = whisperEngine(models, behaviors, { program, slots: 2, threads: 1 });
  return startChildService({ ...options, config: `engines: { local: ${engine} }` });
}

/** Sends a recording that keeps its programs busy; resolves with them, and with what becomes of the request. */
async function occupy(service: ChildService, program = /whisper/) {
  const answer = transcribe(service, recording, { model: 'hang' }).catch((error: unknown) => error as Error);
  return { answer, programs: await runningChildren(service.pid, program) };
}

/** A process has another command line when it becomes another program: `env node` does. */
const pidsOf = (programs: readonly Process[]): number[] => programs.map(({ pid }) => pid);

async function soon(gone: () => unknown): Promise<void> {
  await expect.poll(gone, { timeout: soonMs, interval: 10 }).toEqual([]);
}

describe.skipIf(process.platform !== 'linux')('a service that is killed outright', () => {
  test.each([
    ['transcribing', { program: standIns.whisper }, /whisper-cli\.mjs/],
    ['decoding', { env: { FFMPEG: standIns['hanging ffmpeg'] } }, /sleep/],
  ])('while %s takes its programs along', async (_stage, options, program) => {
    const service = await start(options);
    const { answer, programs } = await occupy(service, program);
    service.kill('SIGKILL');
    await soon(() => alive(programs));
    expect(await answer).toBeInstanceOf(Error);
  });

  test('leaves its recordings to the next start, which removes them, but not those of a service that lives', async () => {
    const dataDir = await temporaryDirectory();
    const [killed, living] = [await start({ dataDir }), await start({ dataDir })];
    const [atKilled, atLiving] = [await occupy(killed), await occupy(living)];
    const before = await readdir(join(dataDir, 'tmp'));
    expect(before).toHaveLength(2);
    killed.kill('SIGKILL');
    await killed.exit;
    expect(await readdir(join(dataDir, 'tmp'))).toEqual(before);

    await start({ dataDir });
    const [ofLiving] = before.filter((name) => name.includes(`-${living.pid}-`));
    const after = await readdir(join(dataDir, 'tmp'));
    expect(after).toHaveLength(2);
    expect(after.filter((name) => before.includes(name))).toEqual([ofLiving]);
    expect(await requestFilesIn(dataDir)).toContainEqual(expect.stringMatching(/\/request-\w+\/upload$/));
    const hanging = atLiving.programs.filter(({ commandLine }) => commandLine.includes('whisper-cli'));
    expect(pidsOf(alive(hanging))).toEqual(pidsOf(hanging));
    expect(await transcribe(living, recording, { model: 'controls' })).toMatchObject({ status: 200 });

    await soon(() => alive(atKilled.programs));
  });
});

describe('a service that is asked to end', () => {
  test('ends as soon as the request in flight has its answer, and takes no other', async () => {
    const service = await start({ program: standIns['gated whisper'] });
    const { answer, programs } = await occupy(service);
    service.kill('SIGTERM');
    await expect.poll(() => refuses(service), { timeout: soonMs }).toBe(true);
    expect(alive(programs)).not.toEqual([]);
    await writeFile(join(models.directory, 'go'), '');
    expect(await answer).toMatchObject({ status: 200, body: { text: 'done at last' } });
    expect(await endsSoon(service)).toEqual({ code: 0, signal: null });
    expect(await readdir(join(service.dataDir, 'tmp'))).toEqual([]);
    await soon(() => alive(programs));
  });

  // The default of seven seconds is below the ten after which Docker kills.
  test('ends when SHUTDOWN_GRACE is over all the same, and its callers are told', async () => {
    const service = await start({ env: { SHUTDOWN_GRACE: '1' } });
    const { answer, programs } = await occupy(service);
    service.kill('SIGTERM');
    const told = (await answer) as Answer;
    expect(told).toMatchObject({ status: 503, body: { code: 'shutting-down' } });
    expect(await service.exit).toEqual({ code: 0, signal: null });
    await soon(() => alive(programs));
    expect(await readdir(join(service.dataDir, 'tmp'))).toEqual([]);
  });

  test('ends at once when it is asked again, by SIGINT', async () => {
    const service = await start();
    const { answer, programs } = await occupy(service);
    service.kill('SIGTERM');
    await expect.poll(() => refuses(service), { timeout: soonMs }).toBe(true);
    expect(await insist(service, 'SIGINT')).toEqual({ code: 1, signal: null });
    expect(await answer).toBeInstanceOf(Error);
    await soon(() => alive(programs));
    expect(await readdir(join(service.dataDir, 'tmp'))).toEqual([]);
  });
});

/** Whether new connections are refused. */
async function refuses({ url }: ChildService): Promise<boolean> {
  return fetch(`${url}/healthz`, { headers: { connection: 'close' } }).then(
    () => false,
    () => true,
  );
}
