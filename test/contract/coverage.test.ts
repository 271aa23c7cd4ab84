/** The record of what services answer, and what a run of the tests makes of it. */
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { contract } from '../../src/contract/document.ts';
import { startChildService } from '../support/child-service.ts';
import { createApi } from '../support/http.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { directoryVariable } from './coverage/recorder.ts';
import { coverageOf, readNotes } from './coverage/report.ts';
import { scripted } from './support/engines.ts';

vi.setConfig({ testTimeout: 120_000 }); // whole runs of vitest, however busy the machine is

const home = join(import.meta.dirname, '../..');

describe('the record of a service', () => {
  test('contains every response and event, even when the service is killed, but no request data', async () => {
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

describe('the coverage', () => {
  const everything = coverageOf(contract, new Set()).missing;
  const seenBy = (...notes: readonly string[]) => {
    const { missing } = coverageOf(contract, new Set(notes));
    return everything.filter((what) => !missing.includes(what));
  };

  test('counts each status of each operation, and each event', () => {
    expect(everything).toContain('createTranscription 504');
    expect(everything).toContain('getSpeechClip 206');
    expect(everything).toContain('event tool.progress');
    expect(new Set(everything).size).toBe(everything.length);
  });

  test.each([
    ['an answer', ['POST /api/v1/chat 429'], ['createChat 429']],
    ['a HEAD', ['HEAD /api/v1/tts/clips/abc 404'], ['getSpeechClip 404']],
    ['a 405', ['PATCH /api/v1/transcribe 405'], ['createTranscription 405', 'getTranscriptionAvailability 405']],
    ['an event', ['event chat.failed'], ['event chat.failed']],
  ])('knows %s', (_what, notes, seen) => {
    expect(seenBy(...notes).toSorted()).toEqual(seen);
  });

  test.each(['GET /healthz 200', 'POST /chat 200', 'DELETE /api/v1/chat 403', 'GET /api/v1/models 418', 'event other'])(
    'takes %j for nothing of the contract',
    (note) => expect(seenBy(note)).toEqual([]),
  );

  test('is a table with missing entries in brackets', () => {
    const { table } = coverageOf(contract, new Set(['GET /api/v1/models 200', 'event chat.started']));
    expect(table).toMatch(/^listChatModels +200 \[401\] \[403\] \[405\] \[500\] \[503\]$/m);
    expect(table).toMatch(/^events +chat\.started \[step\.started\]/m);
    expect(table).toContain(`2 of ${everything.length} seen`);
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

  test('a full run fails when a declared response was never seen', async () => {
    const said = await run();
    expect(said).toMatch(/^1 /);
    expect(said).toMatch(/^createChat +\[200\]/m);
    expect(said).toMatch(/what no test has seen: .*createChat 200/);
  });

  test('a partial run skips the check', async () => {
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
