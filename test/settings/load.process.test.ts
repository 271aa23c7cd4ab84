import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Environment } from '../../src/settings/load.ts';
import { compileCache } from '../support/child-service.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await temporaryDirectory();
  file = join(folder, 'parlance.config.yaml');
});

describe('a start with wrong settings', { timeout: 120_000 }, () => {
  const main = resolve(import.meta.dirname, '../../src/bin/start.ts');

  async function start(env: Environment, files: Readonly<Record<string, string>> = {}) {
    await writeFiles(folder, files);
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, [main], {
      cwd: folder,
      env: { PATH, HOME, PORT: '0', DATA_DIR: join(folder, 'data'), TRANSCRIBE_SETUP: 'off', ...compileCache, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [code, stdout, stderr] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
    return { code, stdout, stderr };
  }

  async function expectRefused(message: string | RegExp, ...call: Parameters<typeof start>) {
    const { code, stdout, stderr } = await start(...call);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^Parlance cannot start\.\n/);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stdout).toBe('');
    expect(code).toBe(1);
  }

  it('ends with exit code 1 and a message for a wrong variable', () =>
    expectRefused('PORT: "eighty" is not allowed: it must be an integer from 0 to 65535', { PORT: 'eighty' }));

  it('ends with exit code 1 and a message for a wrong value in the file', () =>
    expectRefused('logLevel): "loud" is not allowed', {}, { 'parlance.config.yaml': 'logLevel: loud' }));

  it('ends with exit code 1 and a message for a file that is not YAML', () =>
    expectRefused(`${file} is not YAML`, {}, { 'parlance.config.yaml': 'corsOrigins: [' }));

  it('ends with exit code 1 and a message for an unset variable in the file', () =>
    expectRefused('the variable NOPE is not set', {}, { 'parlance.config.yaml': 'ttsVoice: ${NOPE}' }));

  it('ends with exit code 1 and a message for a provider that is the service itself', () => {
    const yaml = 'engines: { cloud: { use: llm-agent, baseUrl: "http://localhost:8484/v1" } }';
    const says = `${file}: engines.cloud.baseUrl: the URL is that of this service itself (HOST and PORT)`;
    return expectRefused(says, { PORT: '8484' }, { 'parlance.config.yaml': yaml });
  });

  it('ends with exit code 1 and a message for a missing file', () =>
    expectRefused('PARLANCE_CONFIG (--config): there is no file', { PARLANCE_CONFIG: 'nowhere.yaml' }));

  it('ends with exit code 1 and a message for a wrong option of an engine', () => {
    const yaml = 'engines: { ear: { use: whisper-cli, models: [{ id: a, file: a.bin }], thraeds: 2 } }';
    return expectRefused(
      'engines.ear: unknown setting "thraeds"; did you mean "threads"?',
      {},
      { 'parlance.config.yaml': yaml },
    );
  });

  it('ends with exit code 1 and a message for an unknown engine', () =>
    expectRefused(
      /engines\.ear\.use: unknown engine "wisper-cli"; did you mean whisper-cli\? use one of .*whisper-cli/,
      {},
      {
        'parlance.config.yaml': 'engines: { ear: { use: wisper-cli } }',
      },
    ));

  it('ends with exit code 1 and a message for an engine that fails to start', () =>
    expectRefused(
      'engines.ear: the engine broken could not be created: no license',
      {},
      {
        'package.json': '{ "type": "module" }',
        'broken.js': `export default {
        contract: 1, name: 'broken', capability: 'chat', options: { type: 'object', properties: {} },
        create() { throw new Error('no license'); },
      };`,
        'parlance.config.yaml': 'engines: { ear: { use: ./broken.js } }',
      },
    ));

  it('ends with exit code 1 and a message for a default model that no engine serves', () =>
    expectRefused(
      'TRANSCRIBE_MODEL (in the file: transcribeModel): no engine serves the transcription model "large"; known: local',
      { TRANSCRIBE_MODEL: 'large' },
    ));

  it('ends with exit code 1 and a message for a port that is in use', async () => {
    const other = createServer();
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    await expectRefused(`PORT: another process listens on 127.0.0.1:${port} (EADDRINUSE)`, { PORT: String(port) });
  });

  it('ends with exit code 1 and a message for an address of another machine', () =>
    expectRefused('HOST: this machine has no address 192.0.2.1 (EADDRNOTAVAIL)', {
      HOST: '192.0.2.1',
      ALLOW_OPEN: 'true',
      PORT: '0',
    }));

  it('ends with exit code 1 and a message for a name without an address, such as conda sets', () => {
    const host = 'x'.repeat(64); // longer than any name: no server is asked
    return expectRefused(`HOST: the name ${host} has no address (ENOTFOUND); set HOST`, {
      HOST: host,
      ALLOW_OPEN: 'true',
    });
  });
});
