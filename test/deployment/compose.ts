/**
 * deploy/compose.yaml by podman-compose, with the image that was built and a stand-in for Ollama's. All of it is in a
 * network namespace: neither the port nor the bridge and its rules are seen outside.
 */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../support/programs.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { describeWhere, needPrograms, withScratchImage } from './able.ts';
import { openNamespace, type Namespace } from './namespace.ts';

const home = join(import.meta.dirname, '../..');
const settings = `CONTAINERS_CONF=${join(import.meta.dirname, 'containers.conf')}`;
const project = 'parlance-test';
const key = 'a-key-of-twenty-characters';
const ollama = 'docker.io/ollama/ollama';

async function within(namespace: Namespace, ...command: readonly string[]): Promise<string> {
  const [enter, ...args] = namespace.enter;
  return run(enter, [...args, 'env', settings, ...command], { deadlineMs: 100_000 });
}

/** Publishes a port of a container that has nothing of ours in it. */
export async function tryPublishing(): Promise<void> {
  needPrograms('podman-compose', 'nsenter', 'ip', 'ss', 'curl');
  await using namespace = await openNamespace();
  const network = 'parlance-scratch';
  await withScratchImage(async (image, program) => {
    await within(namespace, 'podman', 'network', 'create', network);
    try {
      await within(namespace, 'podman', 'run', '--rm', `--network=${network}`, '--publish=127.0.0.1:8484:8484', image, program); // prettier-ignore
    } finally {
      await within(namespace, 'podman', 'network', 'rm', '--force', network);
    }
  });
}

/** Ollama's image is not to be had here. Where it is, by chance, it is used. */
async function provideOllama(): Promise<void> {
  const isThere = await run('podman', ['image', 'exists', ollama]).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  const directory = await temporaryDirectory();
  const containerfile = 'FROM localhost/parlance-base\nCMD ["tini", "--", "sleep", "1000"]\n';
  await writeFiles(directory, { Containerfile: containerfile });
  await run('buildah', ['bud', '--quiet', '--isolation=chroot', '--tag', ollama, directory]);
  onTestFinished(() => run('podman', ['rmi', '--force', ollama]).then(() => undefined));
}

export function describeCompose(obstacle: string | undefined): void {
  describeWhere(obstacle, 'by compose.yaml', () => {
    test('publishes the service on this machine alone, needs a key, and stops', async () => {
      await provideOllama();
      const namespace = await openNamespace();
      onTestFinished(() => namespace[Symbol.asyncDispose]());
      const compose = (variable: string, ...command: readonly string[]) =>
        within(namespace, variable, 'podman-compose', '--file', join(home, 'deploy/compose.yaml'), '--project-name', project, ...command); // prettier-ignore
      const withKey = `API_KEYS=${key}`;
      await expect(compose('NONE=', 'up', '--detach')).rejects.toThrow('set it to a secret token');

      onTestFinished(async () => {
        await compose(withKey, 'down', '--volumes');
        await within(namespace, 'podman', 'network', 'rm', '--force', `${project}_default`);
      });
      await compose(withKey, 'up', '--detach');
      const statusOf = (path: string, ...options: readonly string[]) =>
        within(namespace, 'curl', '--silent', '--output', '/dev/null', '--write-out', '%{http_code}', ...options, `http://127.0.0.1:8484${path}`).catch(String); // prettier-ignore
      await expect.poll(() => statusOf('/readyz'), { timeout: 60_000 }).toBe('200');
      expect(await statusOf('/api/v1/transcribe')).toBe('401');
      expect(await statusOf('/api/v1/transcribe', '--header', `Authorization: Bearer ${key}`)).toBe('200');

      const listening = (await within(namespace, 'ss', '-H', '--listening', '--tcp', '--udp', '--numeric')).match(/\S+:\d+(?= )/g); // prettier-ignore
      expect(listening).toEqual(['127.0.0.1:8484']);
      const { HostConfig: host } = (
        JSON.parse(await within(namespace, 'podman', 'inspect', `${project}_parlance_1`)) as {
          HostConfig: { ReadonlyRootfs: boolean; SecurityOpt: string[]; CapDrop: string[] };
        }[]
      )[0]!;
      expect(host.ReadonlyRootfs).toBe(true);
      expect(host.SecurityOpt).toContain('no-new-privileges');
      expect(host.CapDrop.length).toBeGreaterThan(5);
    });
  });
}
