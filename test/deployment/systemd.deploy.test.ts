/** deploy/parlance.service under a real systemd: its restrictions let the service work, and a stop lets it finish. */
import { constants, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { writeChatModel } from '../support/chat-model.ts';
import { freePort } from '../support/free-port.ts';
import { createApi } from '../support/http.ts';
import { describeWith, run as runHere } from '../support/programs.ts';
import { writeToneModel } from '../support/tone-model.ts';
import { writeVoice } from '../support/voice-model.ts';
import { describeWhere, needPrograms, obstacleTo } from './able.ts';
import { boot, type Booted } from './boot.ts';
import { runningChildren, childrenOf } from './processes.ts';
import { hello, localAnswer, recording, say, spelled, transcribe } from './support.ts';

vi.setConfig({ testTimeout: 120_000 });

const home = join(import.meta.dirname, '../..');

/** The restrictions of the unit, around what builds whisper.cpp: make, a compiler and npm with a cache. */
const building = readFileSync(join(home, 'deploy/parlance.service'), 'utf8')
  .replace(/^ExecStart=.*$/m, 'Type=oneshot\nExecStart=/usr/bin/env make --file=/srv/Makefile')
  .replace(/^Restart=.*$/m, '');
const makefile = `all:
\techo 'int main() {}' | c++ -x c++ -o "$$DATA_DIR/compiled" - && "$$DATA_DIR/compiled"
\tmkdir -p "$$(npm config get cache)"
`;

const directory = mkdtempSync(join(tmpdir(), 'parlance-systemd-'));
const models = join(directory, 'models');
const port = await freePort();

/** The means of the unit, around a program that is not ours. */
const able = `[Service]
Type=oneshot
ExecStart=/usr/bin/true
DynamicUser=yes
StateDirectory=able
ProtectSystem=strict
PrivateTmp=yes
PrivateDevices=yes
PrivateUsers=yes
ProtectProc=invisible
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictNamespaces=yes
SystemCallFilter=@system-service
CapabilityBoundingSet=
`;

let machine: Booted | undefined;
const obstacle = await obstacleTo(async () => {
  needPrograms('systemd-nspawn', 'unshare', 'nsenter', 'mount');
  for (const path of [models, join(directory, 'etc')]) mkdirSync(path, { mode: 0o755 });
  const environment = {
    PORT: port,
    TRANSCRIBE_SETUP: 'off',
    WHISPER_CLI: '/opt/parlance/test/deployment/programs/whisper-cli-fifo.sh',
    WHISPER_MODEL: '/srv/tones.bin',
    VOICE_MODEL: '/srv/voice.onnx',
    CHAT_LOCAL_MODEL: '/srv/chat.gguf',
  };
  const files = {
    'able.service': able,
    'building.service': building,
    'models/Makefile': makefile,
    'etc/environment': Object.entries(environment).map(([name, value]) => `${name}=${value}\n`).join(''), // prettier-ignore
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  machine = await boot({
    '/etc/systemd/system/able.service': join(directory, 'able.service'),
    '/etc/systemd/system/building.service': join(directory, 'building.service'),
    '/etc/systemd/system/parlance.service': join(home, 'deploy/parlance.service'),
    '/etc/parlance': join(directory, 'etc'),
    '/opt/parlance': home,
    '/usr/bin/node': process.execPath,
    '/srv': models,
  });
  await machine.run('systemctl', 'start', 'able');
});

afterAll(async () => {
  try {
    await machine?.[Symbol.asyncDispose]();
  } finally {
    rmSync(directory, { recursive: true });
  }
});

describeWhere(obstacle, 'the unit', () => {
  describeWith(['espeak-ng', 'ffmpeg', 'make'], 'in a booted systemd', () => {
    const url = `http://127.0.0.1:${port}`;
    const { run } = machine!;
    const show = async (property: string) => (await run('systemctl', 'show', '--property', property, '--value', 'parlance')).trim(); // prettier-ignore

    test('lets the service build whisper.cpp', async () => {
      await run('systemctl', 'start', 'building').catch(async (error: unknown) => {
        throw new Error(await run('journalctl', '--unit', 'building'), { cause: error });
      });
      expect(await run('systemctl', 'show', '--property=Result', '--value', 'building')).toBe('success\n');
    });

    test('is active, speaks with espeak-ng and with a Piper voice, encodes, and answers', async () => {
      await writeToneModel(join(models, 'tones.bin'));
      await writeChatModel(join(models, 'chat.gguf'));
      await writeVoice(models, 'voice', { kind: 'piper', isPlain: true });
      await run('systemctl', 'start', 'parlance');
      const isUp = () => fetch(`${url}/readyz`).then(({ status }) => status, () => run('journalctl', '--unit', 'parlance')); // prettier-ignore
      await expect.poll(isUp, { timeout: 60_000 }).toBe(200);
      for (const format of ['mp3', 'opus', 'wav']) {
        const speech = await createApi(url).post('/api/v1/tts', { text: 'Hello', format, model: 'espeak' });
        expect({ format, status: speech.status }).toEqual({ format, status: 200 });
      }
      expect(await say(url, 'Hello')).toBe(spelled);
      expect(await createApi(url).post('/api/v1/chat', hello)).toMatchObject(localAnswer);
      expect(await show('ActiveState')).toBe('active');
    });

    test('lets a request with a running child finish when it is stopped', async () => {
      const service = childrenOf(machine!.pid).find(({ commandLine }) => commandLine.includes('parlance.ts start'))!;
      const output = join(models, 'output');
      await runHere('mkfifo', ['--mode=644', output]);
      const answer = transcribe({ url }, recording);
      await runningChildren(service.pid, /whisper-cli-fifo/);
      await run('systemctl', 'stop', '--no-block', 'parlance');
      const isRefused = () => fetch(`${url}/healthz`).then(() => false, () => true); // prettier-ignore
      await expect.poll(isRefused).toBe(true);
      const spoken = { result: { language: 'en' }, transcription: [{ text: ' done at last' }] };
      // Fails, rather than waits, when nothing reads any more.
      await writeFile(output, `${JSON.stringify(spoken)}\n`, { flag: constants.O_WRONLY | constants.O_NONBLOCK });
      expect(await answer).toMatchObject({ status: 200, body: { text: 'done at last' } });
      await expect.poll(() => show('ActiveState')).toBe('inactive');
      expect([await show('Result'), await show('ExecMainStatus')]).toEqual(['success', '0']);
    });
  });
});
