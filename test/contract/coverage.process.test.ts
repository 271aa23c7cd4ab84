/** The notes of a service in a process of its own, and how whole runs of the tests judge notes. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { startChildService } from '../support/child-service.ts';
import { createApi } from '../support/http.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { nativeContract, openaiContract } from '../../src/contract/document.ts';
import { directoryVariable, keptVariable } from './coverage/recorder.ts';
import { coverageOf, keepNotes, readNotes } from './coverage/report.ts';
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

describe('a run of the tests', () => {
  /** The exit code and the output of a run whose projects have a file each, none of which starts a service. */
  async function run(kept: string, args: readonly string[] = [], own: Readonly<Record<string, string>> = {}) {
    const directory = await temporaryDirectory();
    const project = (name: string, file: string) => ({ extends: true, test: { name, include: [file] } });
    const config = {
      test: {
        isolate: false,
        maxWorkers: 1,
        globalSetup: [join(home, 'test/contract/coverage/global-setup.ts')],
        projects: [
          project('unit', 'test/contract/problems.unit.test.ts'),
          project('service', 'test/request-scope.unit.test.ts'),
          project('isolated', 'test/lib/languages.unit.test.ts'),
          project('process', 'test/lib/json.unit.test.ts'),
          project('system', 'test/request-scope.unit.test.ts'),
        ],
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
    const { [directoryVariable]: _ours, CONTRACT_COVERAGE: _required, ...outer } = process.env;
    const env = { ...outer, [keptVariable]: kept, ...own };
    return new Promise<string>((resolve) => {
      execFile(join(home, 'node_modules/.bin/vitest'), line, { env, timeout: 110_000 }, (error, stdout, stderr) => {
        resolve(`${error ? String(error.code) : '0'} ${stdout}${stderr}`);
      });
    });
  }

  const fast = ['--project', 'unit', '--project', 'service', '--project', 'isolated'];
  const system = ['--project', 'process', '--project', 'system'];
  const keptFile = async () => join(await temporaryDirectory(), 'contract-notes.json');

  test('of all projects fails when a declared answer was never seen', async () => {
    const said = await run(await keptFile());
    expect(said).toMatch(/^1 /);
    expect(said).toMatch(/^createChat +\[200\]/m);
    expect(said).toMatch(/what no test has seen: .*createChat 200/);
  });

  test('of unit and service only takes notes, and the system run checks the notes of both', async () => {
    const kept = await keptFile();
    const first = await run(kept, fast);
    expect(first).toMatch(/^0 /);
    expect(first).not.toContain('Coverage of the contract');
    expect(first.trim()).toMatch(/Not run: the system tests. Run them with: npm run test:system$/);

    const { fingerprint } = JSON.parse(await readFile(kept, 'utf8')) as { fingerprint: string };
    await keepNotes(kept, fingerprint, everyNote(['createChat']));
    const incomplete = await run(kept, system);
    expect(incomplete).toMatch(/^1 /);
    expect(incomplete).toMatch(/^createChat +\[200\]/m);
    expect(incomplete).toMatch(/^createSpeech +200/m);

    await keepNotes(kept, fingerprint, everyNote());
    const complete = await run(kept, system);
    expect(complete).toMatch(/^0 /);
    expect(complete).toContain('Coverage of the contract');
  });

  const required = { CONTRACT_COVERAGE: 'required' };

  test('of system does not count the notes of other sources, and in CI fails without newer ones', async () => {
    const kept = await keptFile();
    await keepNotes(kept, 'of other sources', everyNote());
    const [here, onCi] = await Promise.all([run(kept, system), run(kept, system, required)]);
    expect(here).toMatch(/^0 /);
    expect(onCi).toMatch(/^1 /);
    for (const said of [here, onCi]) expect(said).toContain('Contract coverage is not judged: npm test has not run');
  });

  test('does not check a partial run, which fails in CI', async () => {
    const parts = [['test/contract/problems.unit.test.ts'], ['--shard', '1/2']];
    const kept = await keptFile();
    for (const args of parts) {
      const onCi = await run(kept, args, required);
      expect(onCi).toMatch(/^1 /);
      expect(onCi).not.toContain('Coverage of the contract');
      expect(onCi).toContain('Contract coverage is not judged, and it is required');
    }
    const here = await run(kept, [...fast, '--testNamePattern', 'has the codes of the contract']);
    expect(here).toMatch(/^0 /);
    expect(here).not.toContain('Coverage of the contract');
    await expect(readFile(kept)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

/** What services would note if they gave every answer that the contract declares, but for these operations. */
function everyNote(without: readonly string[] = []): Set<string> {
  return new Set(
    [nativeContract, openaiContract].flatMap(({ document, operations, root }) => {
      const answers = [...operations]
        .filter(([id]) => !without.includes(id))
        .flatMap(([, { method, path, responses }]) =>
          Object.keys(responses).map((status) => `${method.toUpperCase()} ${root}${path} ${status}`),
        );
      const kinds = coverageOf(document, new Set(answers)).missing.flatMap((what) => {
        const [id = '', kind = ''] = what.split(' ');
        if (id === 'event') return [what];
        return without.includes(id) ? [] : [`chunk ${root}${operations.get(id)?.path ?? ''} ${kind}`];
      });
      return [...answers, ...kinds];
    }),
  );
}
