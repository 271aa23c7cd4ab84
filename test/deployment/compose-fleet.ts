/**
 * deploy/compose.fleet.yaml by podman-compose, with the image that was built, and Debian's haproxy and redis-server in
 * images that are named like HAProxy's and Valkey's.
 */
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { requireProgram, run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { writeToneModel } from '../support/tone-model.ts';
import { buildScratchImage, describeWhere, hasImage, needPrograms } from './able.ts';
import { expectRestrictions, openProject } from './compose-project.ts';
import { recording, spoken } from './support.ts';

const key = 'a-key-of-twenty-characters';
const standIns = [
  ['docker.io/valkey/valkey:8', 'redis-server', 'valkey-server'],
  ['docker.io/library/haproxy:3.2', 'haproxy', 'haproxy'],
] as const;

/** Containers find each other by name only where podman has a name server for them. */
export async function tryNames(): Promise<void> {
  needPrograms('haproxy', 'redis-server');
  const network = 'parlance-scratch';
  await run('podman', ['network', 'create', network]);
  const hasNames = await run('podman', ['network', 'inspect', '--format={{.DNSEnabled}}', network]);
  await run('podman', ['network', 'rm', '--force', network]);
  if (hasNames.trim() !== 'true')
    throw new Error('podman has no name server: golang-github-containernetworking-plugin-dnsname or aardvark-dns');
}

async function provideImages(): Promise<void> {
  for (const [image, program, name] of standIns) {
    if (await hasImage(image)) continue;
    await buildScratchImage(image, requireProgram(program), `/usr/local/bin/${name}`);
    onTestFinished(() => run('podman', ['rmi', '--force', image]).then(() => undefined));
  }
}

/**
 * Makes the directory for MODELS: a model, and a program that waits while the file `hold` exists and then runs whisper-cli.
 * Only `waiting.yaml`, which is merged into the compose file, uses the program.
 */
async function provideModels(whisper: string): Promise<string> {
  const directory = await temporaryDirectory();
  for (const name of ['', 'models']) {
    await mkdir(join(directory, name), { recursive: true });
    await chmod(join(directory, name), 0o755);
  }
  await writeToneModel(join(directory, 'models/ggml-base.bin'));
  await chmod(join(directory, 'models/ggml-base.bin'), 0o644);
  const script = `#!/bin/sh\nwhile [ -e /models/hold ]; do sleep 0.05; done\nexec ${whisper} "$@"\n`;
  await writeFile(join(directory, 'whisper-cli'), script);
  await chmod(join(directory, 'whisper-cli'), 0o755);
  const waiting = { services: { worker: { environment: { WHISPER_CLI: '/models/whisper-cli' } } } };
  await writeFile(join(directory, 'waiting.yaml'), JSON.stringify(waiting));
  await writeFile(join(directory, 'recording.wav'), recording);
  return directory;
}

/** `whisper` is the path of whisper-cli in the image. */
export function describeComposeFleet(obstacle: string | undefined, whisper: string): void {
  describeWhere(obstacle, 'by compose.fleet.yaml', () => {
    test('transcribes on its workers, even when one is killed; publishes one port; needs a key and a secret', async () => {
      await provideImages();
      const models = await provideModels(whisper);
      const project = await openProject('compose.fleet.yaml', 'parlance-fleet-test');
      onTestFinished(() => project[Symbol.asyncDispose]());
      const [withKey, withSecret] = [`API_KEYS=${key}`, `FLEET_SECRET=${'s'.repeat(32)}`];
      const up = (...variables: string[]) =>
        project.compose([`MODELS=${models}`, ...variables], '--file', join(models, 'waiting.yaml'), 'up', '--detach');
      await expect(up(withKey)).rejects.toThrow('set it to a secret of at least 32 characters');
      await expect(up(withSecret)).rejects.toThrow('set it to a secret token');

      await up(withKey, withSecret);
      const authorized = ['--header', `Authorization: Bearer ${key}`];
      const ask = async (...options: readonly string[]) => {
        const url = 'http://127.0.0.1:8484/api/v1/transcribe';
        const answer = await project.within('curl', '--silent', ...authorized, ...options, url).catch(() => '{}');
        return JSON.parse(answer.startsWith('{') ? answer : '{}') as object;
      };
      const ready = { available: true, code: 'ready' };
      await expect.poll(() => ask(), { timeout: 90_000 }).toMatchObject(ready);
      // HAProxy passes requests to both: each has to know the workers, by its own connection to Redis.
      for (const host of ['front-a', 'front-b']) {
        const get = () =>
          project.fetchFrom(`${host}_1`, `http://${host}:8484/api/v1/transcribe`, { authorization: `Bearer ${key}` });
        await expect.poll(() => get().catch(String), { timeout: 90_000 }).toMatch(JSON.stringify(ready).slice(1, -1));
      }
      expect(await project.statusOf('/api/v1/transcribe')).toBe('401');

      // Fronts have no model: a worker does it.
      const transcribe = () => ask('--form', `file=@${models}/recording.wav`);
      expect(await transcribe()).toMatchObject(spoken);

      const fronts = ['front-a_1', 'front-b_1'];
      expect(await project.listening()).toEqual(['127.0.0.1:8484']);
      for (const host of ['front-a', 'front-b', 'worker'])
        expect(await project.metricsOf('front-a_1', host)).toContain('http_server_request_duration_seconds');
      for (const service of [...fronts, 'worker_1', 'worker_2', 'haproxy_1', 'valkey_1'])
        await expectRestrictions(project, service);

      await writeFile(join(models, 'hold'), '');
      const answer = transcribe();
      const workers = ['worker_1', 'worker_2'].map((worker) => project.container(worker));
      const busyWorker = async () => {
        for (const worker of workers)
          if ((await project.within('podman', 'top', worker, 'args')).includes('/models/whisper-cli')) return worker;
        return undefined;
      };
      await expect.poll(busyWorker, { timeout: 60_000 }).toBeDefined();
      await project.within('podman', 'kill', '--signal=KILL', String(await busyWorker()));
      await rm(join(models, 'hold'));
      expect(await answer).toMatchObject(spoken);
      const logs = await Promise.all(fronts.map((front) => project.within('podman', 'logs', project.container(front))));
      expect(logs.join('')).toContain('a worker was lost during a transcription');
    });
  });
}
