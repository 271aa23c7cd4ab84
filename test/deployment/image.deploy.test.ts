/** The image: built offline (deploy/build-offline) and run read-only, not as root and without capabilities. */
import { readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createApi } from '../support/http.ts';
import { describeWith, run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { writeToneModel } from '../support/tone-model.ts';
import { describeAsRoot, recording, spoken, transcribe } from './support.ts';

vi.setConfig({ testTimeout: 120_000 });

const home = join(import.meta.dirname, '../..');
const image = 'localhost/parlance';

/** The last three are for machines like CI: hybrid cgroups, no iptables, and no right to raise limits. */
const restrictions = [
  ...['--read-only', '--tmpfs=/tmp', '--cap-drop=all', '--security-opt=no-new-privileges'],
  ...['--network=host', '--ulimit=nofile=4096:4096', '--ulimit=nproc=4096:4096'],
];

const podman = async (...args: string[]) => (await run('podman', ['--runtime=runc', ...args])).trim();

/** The output of a program in a container of its own. */
const inImage = (program: string, ...args: string[]) =>
  podman('run', '--rm', ...restrictions, `--entrypoint=${program}`, image, ...args);

/** Runs the service in the background, in a container that ends with the test. */
async function start(env: Readonly<Record<string, string>>, ...options: string[]): Promise<string> {
  const variables = Object.entries({ TRANSCRIBE_SETUP: 'off', PORT: '0', ...env }).map(([name, value]) => `--env=${name}=${value}`); // prettier-ignore
  const id = await podman('run', '--detach', ...restrictions, ...variables, ...options, image);
  onTestFinished(() => podman('rm', '--force', '--volumes', id).then(() => undefined));
  return id;
}

const stderrOf = (id: string) => run('sh', ['-c', 'exec podman logs "$0" 2>&1', id]);

describeAsRoot('the image', () => {
  describeWith(['mmdebstrap', 'buildah', 'podman', 'runc', 'whisper-cli'], 'built offline', (programs) => {
    beforeAll(() => run(join(home, 'deploy/build-offline'), [], { deadlineMs: 540_000 }), 550_000);

    test('is below 350 MB and has no keys, no history and no repository in it', async () => {
      expect(Number(await podman('image', 'inspect', '--format={{.Size}}', image))).toBeLessThan(350e6);
      const names = ['.git', '.npmrc', '.env', '.*_history', 'test', 'CHANGELOG.md'];
      const found = await inImage('sh', '-c', `find /app / /data -maxdepth 2 ${names.map((name) => `-name '${name}'`).join(' -o ')} 2>/dev/null || true`); // prettier-ignore
      expect(found.split('\n').filter((path) => path !== '' && path !== '/usr/bin/test')).toEqual([]);
    });

    test('names what is in it', async () => {
      const bom = JSON.parse(await inImage('cat', '/app/sbom.cdx.json')) as { readonly components: readonly unknown[] };
      expect(bom.components.length).toBeGreaterThan(100);
      for (const name of ['LICENSE', 'NOTICE']) {
        expect(await inImage('cat', `/app/${name}`)).toBe(readFileSync(join(home, name), 'utf8').trim());
      }
    });

    test('refuses to start for everybody without a key', async () => {
      const id = await start({});
      expect(await podman('wait', id)).toBe('1');
      expect(await stderrOf(id)).toContain('set API_KEYS');
    });

    test('serves without rights, speaks, transcribes, and ends with 0', async () => {
      const models = await temporaryDirectory();
      const model = join(models, 'tones.bin');
      await writeToneModel(model);
      for (const [path, mode] of [[models, 0o755], [model, 0o644]] as const) await chmod(path, mode); // prettier-ignore
      const mounts = [`--volume=${programs['whisper-cli']}:/opt/whisper-cli:ro`, `--volume=${model}:/opt/tones.bin:ro`];
      const env = { HOST: '127.0.0.1', WHISPER_CLI: '/opt/whisper-cli', WHISPER_MODEL: '/opt/tones.bin' };
      const id = await start({ ...env, READY_REQUIRES: 'transcription' }, ...mounts);
      const address = async () => /listens on (http\S+)/.exec(await stderrOf(id))?.[1];
      await expect.poll(address, { timeout: 60_000 }).toBeDefined();
      const url = String(await address());
      const api = createApi(url);
      expect(await api.get('/readyz')).toMatchObject({ status: 200 });

      const pid = await podman('inspect', '--format={{.State.Pid}}', id);
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\t10001\t10001\t10001\t10001$/m);
      expect(status).toMatch(/^CapEff:\t0000000000000000$/m);
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      expect(status).toMatch(/^Name:\ttini$/m);

      const speech = await fetch(`${url}/api/v1/tts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'Hello', format: 'mp3' }),
      });
      expect(speech.status).toBe(200);
      expect((await speech.bytes()).length).toBeGreaterThan(1_000);
      expect(await transcribe({ url }, recording)).toMatchObject({ status: 200, body: spoken });

      await podman('stop', '--time=60', id);
      expect(await podman('inspect', '--format={{.State.ExitCode}}', id)).toBe('0');
    });
  });
});
