/** The notes of a service in a process of its own, and how whole runs of the tests judge notes. */
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { startChildService } from '../support/child-service.ts';
import { createApi } from '../support/http.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { directoryVariable } from './coverage/recorder.ts';
import { readNotes } from './coverage/report.ts';
import { scripted } from './support/engines.ts';

vi.setConfig({ testTimeout: 120_000 }); // whole runs of vitest, however busy the machine is

const home = join(import.meta.dirname, '../..');

describe('the record of a service', () => {
  test('has every answer and every event, even when the service is killed, but nothing that was asked for', async () => {
    const directory = await temporaryDirectory();
    const service = await startChildService({ ...scripted, env: { [directoryVariable]: directory } });
    const api = createApi(service.url);
    await api.get('/api/v1/models?twice');
    await api.get('/api/v1/models');
    await api.get('/api/v1/tts/models', { prefer: 'respond-async, Code = "200"' });
    await api.post('/api/v1/chat', {});
    await api.post('/api/v1/chat/stream', { messages: [{ role: 'user', content: 'Hello' }] });
    // A service notes its answer once it has sent it: perhaps after we have read it.
    await expect.poll(() => readNotes(directory)).toContain('POST /api/v1/chat/stream 200');
    service.kill('SIGKILL');
    await service.exit;
    expect([...readNotes(directory)].toSorted()).toEqual([
      'GET /api/v1/models 200',
      'POST /api/v1/chat 422',
      'POST /api/v1/chat/stream 200',
      'event chat.completed',
      'event chat.started',
      'event content.delta',
      'event step.started',
    ]);
    expect(await readdir(directory)).toHaveLength(1);
  });
});

describe('a run of the tests', () => {
  /** The exit code and what it says, of a run whose only test file starts no service. */
  async function run(...args: readonly string[]): Promise<string> {
    const directory = await temporaryDirectory();
    const config = {
      test: {
        include: ['test/contract/problems.test.ts', 'test/engine-host/job-queue.test.ts'],
        globalSetup: [join(home, 'test/contract/coverage/global-setup.ts')],
      },
    };
    await writeFiles(directory, { 'vitest.config.mjs': `export default ${JSON.stringify(config)}` });
    const line = [
      'run',
      '--root',
      home,
      '--config',
      join(directory, 'vitest.config.mjs'),
      '--reporter',
      'dot',
      ...args,
    ];
    const { [directoryVariable]: _ours, ...env } = process.env;
    return new Promise((resolve) => {
      execFile(join(home, 'node_modules/.bin/vitest'), line, { env, timeout: 110_000 }, (error, stdout, stderr) => {
        resolve(`${error ? String(error.code) : '0'} ${stdout}${stderr}`);
      });
    });
  }

  test('fails when it is whole and a declared answer was never seen', async () => {
    const said = await run();
    expect(said).toMatch(/^1 /);
    expect(said).toMatch(/^createChat +\[200\]/m);
    expect(said).toMatch(/what no test has seen: .*createChat 200/);
  });

  test('does not look when it runs a part', async () => {
    const parts = [
      ['test/contract/problems.test.ts'],
      ['--testNamePattern', 'has the codes of the contract'],
      ['--shard', '1/2'],
    ];
    for (const said of await Promise.all(parts.map((args) => run(...args)))) {
      expect(said).toMatch(/^0 /);
      expect(said).not.toContain('Coverage of the contract');
    }
  });
});
