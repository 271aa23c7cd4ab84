/** The image: built offline (deploy/build-offline), run read-only, not as root and without capabilities, and by compose. */
import { readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { productionPackages } from '../../scripts/generate/notice.ts';
import { runtime } from '../engines/llama-local/support.ts';
import { writeChatModel } from '../support/chat-model.ts';
import { createApi } from '../support/http.ts';
import { describeWith, run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { writeToneModel } from '../support/tone-model.ts';
import { writeVoice } from '../support/voice-model.ts';
import { describeWhere, needPrograms, obstacleTo, restrictions, tryContainers } from './able.ts';
import { describeComposeFleet, tryNames } from './compose-fleet.ts';
import { describeCompose, tryPublishing } from './compose.ts';
import { hello, localAnswer, recording, say, spelled, spoken, transcribe } from './support.ts';

vi.setConfig({ testTimeout: 120_000 });

const home = join(import.meta.dirname, '../..');
const image = 'localhost/parlance';

/** By hand: IMAGE_PACKAGES="ffmpeg espeak-ng" npm run test:deploy. It takes minutes, so CI does not. */
const packages = process.env.IMAGE_PACKAGES?.split(' ') ?? [];

/** What `npm run setup -- voice` installs. */
const libraries = ['sherpa-onnx-node', `sherpa-onnx-linux-${process.arch}`];

const podman = async (...args: string[]) => (await run('podman', ['--runtime=runc', ...args])).trim();

/** The output of a program in a container of its own, by default as root and with all rights that a container has. */
const inImage = (script: string, ...options: string[]) =>
  podman('run', '--rm', '--user=0', ...restrictions, '--entrypoint=sh', ...options, image, '-c', script);

/** Runs the service in the background, in a container that ends with the test. */
async function start(env: Readonly<Record<string, string>>, ...options: string[]): Promise<string> {
  const variables = Object.entries({ TRANSCRIBE_SETUP: 'off', PORT: '0', ...env }).map(([name, value]) => `--env=${name}=${value}`); // prettier-ignore
  const id = await podman('run', '--detach', ...restrictions, ...variables, ...options, image);
  onTestFinished(() => podman('rm', '--force', '--volumes', id).then(() => undefined));
  return id;
}

const stderrOf = (id: string) => run('sh', ['-c', 'exec podman logs "$0" 2>&1', id]);

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}

const obstacle = await obstacleTo(async () => {
  await tryContainers();
  needPrograms('mmdebstrap');
  await run(join(home, 'deploy/rootfs'), packages, { deadlineMs: 600_000 });
});

const cannotPublish = obstacle ?? (await obstacleTo(tryPublishing));
const cannotName = cannotPublish ?? (await obstacleTo(tryNames));

describeWhere(obstacle, 'the image', () => {
  describeWith(['whisper-cli'], 'built offline', (programs) => {
    beforeAll(() => run(join(home, 'deploy/build-offline'), packages, { deadlineMs: 540_000 }), 550_000);

    test('is below 350 MB', async () => {
      const size = Number(await podman('image', 'inspect', '--format={{.Size}}', image));
      expect(size).toBeLessThan(packages.length === 0 ? 350e6 : 900e6);
    });

    test('has no repository, no history of a shell, no configuration of npm and no private key in it', async () => {
      const names = ['.git', '.npmrc', '.env', '.netrc', '.*_history', '.ssh', 'id_rsa*', '*.key', 'npmrc'];
      const found = await inImage(`
        find / -xdev \\( ${names.map((name) => `-name '${name}'`).join(' -o ')} \\)
        find /root /home /data /mnt /tmp -mindepth 1 -not -name '.bashrc' -not -name '.profile'
        grep --recursive --files-with-matches '^-----BEGIN .*PRIVATE KEY-----$' /app /etc /usr/local/lib /var || true`);
      expect(found).toBe('');
      expect((await inImage('ls /app')).split('\n')).toEqual(
        ['LICENSE', 'NOTICE', 'engines', 'generated', 'lib', 'node_modules', 'package-lock.json', 'package.json', 'sbom.cdx.json', 'scripts', 'src'], // prettier-ignore
      );
    });

    test('lists what is in it: the packages of npm, Node.js, and the packages of Debian', async () => {
      const { components } = JSON.parse(await inImage('cat /app/sbom.cdx.json')) as { components: Component[] };
      const listed = components.map(({ group, name, version }) => `${group ? `${group}/` : ''}${name} ${version}`);
      const installed = productionPackages().map(({ name, version }) => `${name} ${version}`);
      expect(installed.filter((name) => !listed.includes(name))).toEqual([]);
      expect(listed).toContain(`node ${(await inImage('node --version')).slice(1)}`);
      const debian = (await inImage("dpkg-query --show --showformat='${Package} ${Version}\\n'")).split('\n');
      expect(debian).toContainEqual(expect.stringMatching(/^tini /));
      expect(debian.filter((name) => !listed.includes(name))).toEqual([]);
      expect(new Set(components.map(({ purl }) => purl)).size).toBe(components.length);
    });

    test('says that it has GPL code in it, where the source is, and has the licenses', async () => {
      for (const name of ['LICENSE', 'NOTICE']) {
        expect(await inImage(`cat /app/${name}`)).toBe(readFileSync(join(home, name), 'utf8').trim());
      }
      expect(await inImage('cat /app/NOTICE')).toMatch(
        /espeak-ng-emscripten \(GPL-3\.0\)[^]*offer its source \(https:/,
      );
      expect(await inImage('ls /app/node_modules/@echogarden/espeak-ng-emscripten')).toMatch(/^(COPYING|LICENSE)/m);
      expect(await inImage('ls /usr/share/doc/tini /usr/share/doc/libc6')).toMatch(/copyright[^]*copyright/);
    });

    test('refuses to start for everybody without a key', async () => {
      const id = await start({});
      expect(await podman('wait', id)).toBe('1');
      expect(await stderrOf(id)).toContain('set API_KEYS');
    });

    test('has what a fleet needs in it: a worker without any key waits for its Redis', async () => {
      const fleet = { FLEET_URL: 'redis://127.0.0.1:1', FLEET_SECRET: 's'.repeat(32), FLEET_ROLE: 'worker' };
      const id = await start(fleet);
      await expect.poll(() => stderrOf(id), { timeout: 60_000 }).toContain('Parlance works for its fleet');
      expect(await stderrOf(id)).toContain('Redis cannot be reached');
    });

    test('serves without rights, speaks, transcribes, and ends with 0', async () => {
      const models = await temporaryDirectory();
      const model = join(models, 'tones.bin');
      await writeToneModel(model);
      await chmod(models, 0o755);
      await writeVoice(models, 'voice', { kind: 'piper', isPlain: true });
      await writeChatModel(join(models, 'chat.gguf'));
      const mounts = [
        [programs['whisper-cli'], '/opt/whisper-cli'],
        [models, '/opt/models'],
        [join(runtime, 'node_modules'), join(runtime.replace(home, '/app'), 'node_modules')],
        ...libraries.map((name) => [join(home, 'node_modules', name), `/opt/voice/node_modules/${name}`]),
      ].map(([here, there]) => `--volume=${here}:${there}:ro`);
      const voice = { VOICE_RUNTIME: '/opt/voice', VOICE_MODEL: '/opt/models/voice.onnx' };
      const env = {
        HOST: '127.0.0.1',
        WHISPER_CLI: '/opt/whisper-cli',
        WHISPER_MODEL: '/opt/models/tones.bin',
        CHAT_LOCAL_MODEL: '/opt/models/chat.gguf',
        ...voice,
      };
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
      expect(status).toMatch(/^CapBnd:\t0000000000000000$/m);
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      expect(status).toMatch(/^Name:\ttini$/m);
      const write = podman('exec', id, 'sh', '-c', 'echo > /app/written');
      await expect(write).rejects.toThrow(/Read-only file system/);

      expect(await say(url, 'Hello')).toBe(spelled);
      expect(await api.post('/api/v1/chat', hello)).toMatchObject(localAnswer);
      expect(await api.post('/api/v1/tts', { text: 'Hello', format: 'mp3', model: 'espeak' })).toMatchObject({
        status: 200,
      });
      expect(await transcribe({ url }, recording)).toMatchObject({ status: 200, body: spoken });
      const doctor = await podman('exec', id, 'npm', 'run', '--silent', 'doctor');
      expect(doctor).toContain('Transcription works with: local');
      for (const name of packages) expect(doctor).toMatch(new RegExp(`^ *ok +${name} .*/usr/bin/${name}$`, 'm'));

      // After ten seconds it would be killed, and the code 137. By itself it takes 0.2 s.
      await podman('stop', '--time=10', id);
      expect(await podman('inspect', '--format={{.State.ExitCode}}', id)).toBe('0');
    });

    describeCompose(cannotPublish);
    describeComposeFleet(cannotName, programs['whisper-cli']);
  });
});
