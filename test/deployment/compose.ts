/** The image with its port published: by the command of the docs, and by podman-compose with a stand-in for Ollama's. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../support/programs.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { describeWhere, hasImage, needPrograms, withScratchImage } from './able.ts';
import { expectRestrictions, openProject } from './compose-project.ts';

const key = 'a-key-of-twenty-characters';
const ollama = 'docker.io/ollama/ollama';

/** Publishes a port of a container that has nothing of ours in it. */
export async function tryPublishing(): Promise<void> {
  needPrograms('podman-compose', 'nsenter', 'ip', 'ss', 'curl');
  await using project = await openProject('', 'parlance-scratch');
  await withScratchImage(async (image, program) => {
    await project.within('podman', 'network', 'create', project.network);
    await project.within('podman', 'run', '--rm', `--network=${project.network}`, '--publish=127.0.0.1:8484:8484', image, program); // prettier-ignore
  });
}

/** Ollama's image is not to be had here. Where it is, by chance, it is used. */
async function provideOllama(): Promise<void> {
  if (await hasImage(ollama)) return;
  const directory = await temporaryDirectory();
  const containerfile = 'FROM localhost/parlance-base\nCMD ["tini", "--", "sleep", "1000"]\n';
  await writeFiles(directory, { Containerfile: containerfile });
  await run('buildah', ['bud', '--quiet', '--isolation=chroot', '--tag', ollama, directory]);
  onTestFinished(() => run('podman', ['rmi', '--force', ollama]).then(() => undefined));
}

/** `docker run` of docs/operations.md, for a container of the project, in the background and without a lasting volume. */
function documentedRun(project: string, network: string): string {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const [, options = ''] = /^docker build .* && docker run (.*) parlance$/m.exec(docs) ?? [];
  const ours = `--detach --network=${network} --label=io.podman.compose.project=${project}`;
  return `podman run ${ours} ${options.replace('-v parlance:/data', '-v /data')} localhost/parlance`;
}

export function describeRun(obstacle: string | undefined): void {
  describeWhere(obstacle, 'by the command of the docs', () => {
    test('serves everybody on this machine without a key, and no one else', async () => {
      const name = 'parlance-run-test';
      const project = await openProject('', name);
      onTestFinished(() => project[Symbol.asyncDispose]());
      await project.within('podman', 'network', 'create', project.network);
      await project.within('sh', '-c', documentedRun(name, project.network));
      await expect.poll(() => project.statusOf('/readyz'), { timeout: 60_000 }).toBe('200');
      expect(await project.statusOf('/api/v1/transcribe')).toBe('200');
      expect(await project.statusOf('/')).toBe('200');
      expect(await project.listening()).toEqual(['127.0.0.1:8484']);
    });
  });
}

export function describeCompose(obstacle: string | undefined): void {
  describeWhere(obstacle, 'by compose.yaml', () => {
    test('publishes the service on this machine alone, needs a key, has metrics inside, and stops', async () => {
      await provideOllama();
      const project = await openProject('compose.yaml', 'parlance-test');
      onTestFinished(() => project[Symbol.asyncDispose]());
      await expect(project.compose([], 'up', '--detach')).rejects.toThrow('set it to a secret token');

      const withKey = [`API_KEYS=${key}`];
      await project.compose(withKey, 'up', '--detach');
      await expect.poll(() => project.statusOf('/readyz'), { timeout: 60_000 }).toBe('200');
      expect(await project.statusOf('/api/v1/transcribe')).toBe('401');
      expect(await project.statusOf('/api/v1/transcribe', '--header', `Authorization: Bearer ${key}`)).toBe('200');
      expect(await project.listening()).toEqual(['127.0.0.1:8484']);
      expect(await project.metricsOf('parlance_1', '127.0.0.1')).toContain('http_server_request_duration_seconds');
      await expectRestrictions(project, 'parlance_1');
      await project.compose(withKey, 'down', '--volumes');
    });
  });
}
