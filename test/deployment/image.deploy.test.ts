/** The image: built offline (deploy/build-offline), run read-only, not as root and without capabilities, and by compose. */
import { readFileSync } from 'node:fs';
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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
import { describeCompose, describeRun, tryPublishing } from './compose.ts';
import { childrenOf } from './processes.ts';
import { hello, localAnswer, recording, say, spelled, spoken, transcribe } from './support.ts';

vi.setConfig({ testTimeout: 120_000 });

const home = join(import.meta.dirname, '../..');
const image = 'localhost/parlance';

/** By hand: IMAGE_PACKAGES="ffmpeg espeak-ng" npm run test:deploy. It takes minutes, so CI does not. */
const packages = process.env.IMAGE_PACKAGES?.split(' ') ?? [];

/** In test:nightly: whisper.cpp is compiled in the image, for every processor. Otherwise, the programs of CI are put in. */
const isCompiled = process.env.IMAGE_COMPILES === '1';
const buildMs = isCompiled ? 7_200_000 : 540_000;
const whisper = `/app/node_modules/@parlance/whisper-linux-${process.arch}`;

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

/** Where a container with the network of this machine listens, once it does. */
async function addressOf(id: string): Promise<string> {
  const address = async () => /listens on (http\S+)/.exec(await stderrOf(id))?.[1];
  await expect.poll(address, { timeout: 60_000 }).toBeDefined();
  return String(await address());
}

/** The process 1 of a container, as this machine sees it. */
const pidOf = async (id: string) => Number(await podman('inspect', '--format={{.State.Pid}}', id));
const statusOf = (pid: number) => readFileSync(`/proc/${pid}/status`, 'utf8');

/** A directory that every user of a container can read. */
async function provideModels(): Promise<string> {
  const models = await temporaryDirectory();
  await writeToneModel(join(models, 'tones.bin'));
  await chmod(models, 0o755);
  return models;
}

/** That whisper-host of the image has a model of `/opt/models` loaded. */
function expectHost(pid: number): void {
  const children = childrenOf(pid).map(({ commandLine }) => commandLine);
  expect(children).toContainEqual(expect.stringContaining(`${whisper}/bin/whisper-host /opt/models/tones.bin`));
}

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
  describeWith(isCompiled ? [] : ['whisper-cli', 'whisper-host'], 'built offline', (programs) => {
    beforeAll(async () => {
      const directory = await mkdtemp(join(tmpdir(), 'parlance-programs-'));
      for (const [name, path] of Object.entries(programs)) await cp(path, join(directory, name));
      const command = [`PROGRAMS=${isCompiled ? '' : directory}`, join(home, 'deploy/build-offline'), ...packages];
      await run('env', command, { deadlineMs: buildMs }).finally(() => rm(directory, { recursive: true }));
    }, buildMs);

    test('is below 380 MB', async () => {
      const size = Number(await podman('image', 'inspect', '--format={{.Size}}', image));
      expect(size).toBeLessThan(packages.length === 0 ? 380e6 : 930e6);
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
      expect(listed).toContainEqual(expect.stringMatching(/^whisper\.cpp 1\./));
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
      expect(await inImage(`cat ${whisper}/NOTICE`)).toContain('whisper.cpp');
    });

    test('has whisper-cli and whisper-host, and no compiler', async () => {
      const compilers = await inImage('for name in cc c++ gcc g++ cmake make; do command -v $name; done; true');
      expect(compilers).toBe('');
      const files = (await inImage(`ls ${whisper}/bin`)).split('\n');
      expect(files).toEqual(expect.arrayContaining(['whisper-cli', 'whisper-host']));
      const variants = files.filter((name) => name.startsWith('libggml-cpu-'));
      if (isCompiled) expect(variants.length).toBe(process.arch === 'x64' ? 14 : 6);
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
      const models = await provideModels();
      await writeVoice(models, 'voice', { kind: 'piper', isPlain: true });
      await writeChatModel(join(models, 'chat.gguf'));
      const mounts = [
        [models, '/opt/models'],
        [join(runtime, 'node_modules'), join(runtime.replace(home, '/app'), 'node_modules')],
        ...libraries.map((name) => [join(home, 'node_modules', name), `/opt/voice/node_modules/${name}`]),
      ].map(([here, there]) => `--volume=${here}:${there}:ro`);
      const voice = { VOICE_RUNTIME: '/opt/voice', VOICE_MODEL: '/opt/models/voice.onnx' };
      const env = {
        HOST: '127.0.0.1',
        WHISPER_MODEL: '/opt/models/tones.bin',
        CHAT_LOCAL_MODEL: '/opt/models/chat.gguf',
        ...voice,
      };
      const id = await start({ ...env, READY_REQUIRES: 'transcription' }, ...mounts);
      const url = await addressOf(id);
      const api = createApi(url);
      expect(await api.get('/readyz')).toMatchObject({ status: 200 });

      const pid = await pidOf(id);
      const status = statusOf(pid);
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
      expectHost(pid);
      const doctor = await podman('exec', id, 'npm', 'run', '--silent', 'doctor');
      expect(doctor).toContain('Transcription works with: local');
      expect(doctor).toContain(`${whisper}/bin/whisper-cli, from its package`);
      for (const name of packages) expect(doctor).toMatch(new RegExp(`^ *ok +${name} .*/usr/bin/${name}$`, 'm'));

      // After ten seconds it would be killed, and the code 137. By itself it takes 0.2 s.
      await podman('stop', '--time=10', id);
      expect(await podman('inspect', '--format={{.State.ExitCode}}', id)).toBe('0');
    });

    test('transcribes as any user of group 0, who can write to its DATA_DIR', async () => {
      const env = { HOST: '127.0.0.1', WHISPER_MODEL: '/opt/models/tones.bin' };
      const mount = `--volume=${await provideModels()}:/opt/models:ro`;
      // Without a volume, which podman would give to this user: Docker and Kubernetes do not.
      const id = await start(env, mount, '--user=12345:0', '--image-volume=ignore', '--read-only=false');
      expect(await transcribe({ url: await addressOf(id) }, recording)).toMatchObject({ status: 200, body: spoken });
      const pid = await pidOf(id);
      expect(statusOf(pid)).toMatch(/^Uid:\t12345\t[^]*^Gid:\t0\t/m);
      expectHost(pid);
    });

    describeRun(cannotPublish);
    describeCompose(cannotPublish);
    describeComposeFleet(cannotName, `${whisper}/bin/whisper-cli`);
  });
});
