/** What spec/parlance.arazzo.yaml says that a client does, done by `redocly respect` against a real service. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './support/document.ts';
import { scripted } from './support/engines.ts';
import { blockWith } from '../docs/support/pages.ts';
import { startTestService } from '../support/service.ts';

const home = join(import.meta.dirname, '../..');
const redocly = join(home, 'node_modules/.bin/redocly');

/** The exit code, and what it says. */
function respect(url: string, key: string): Promise<string> {
  const server = `parlance=${url}${root}`;
  const args = ['respect', 'spec/parlance.arazzo.yaml', '--server', server, '--input', `authorization=Bearer ${key}`];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', NO_COLOR: '1' };
  return new Promise((resolve) => {
    execFile(redocly, args, { cwd: home, env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve(`${error ? String(error.code) : '0'} ${stdout}${stderr}`);
    });
  });
}

test('every workflow works', { timeout: 90_000 }, async () => {
  await using service = await startTestService({ ...scripted, env: { API_KEYS: 'right' } });
  const said = await respect(service.url, 'right');
  expect(said).toMatch(/^0 /);
  expect(said).toContain('Workflows: 5 passed, 5 total');
});

test('every workflow works in the sandbox that the guide starts', { timeout: 90_000 }, async () => {
  const [, key = '', sandbox = ''] =
    /^API_KEYS=(\S+) PARLANCE_SANDBOX=(\S+) npm start$/m.exec(
      blockWith('docs/guides/contract-testing.md', 'sh', 'API_KEYS='),
    ) ?? [];
  expect(blockWith('docs/guides/contract-testing.md', 'sh', 'REDOCLY_')).toContain(`'Bearer ${key}'`);
  await using service = await startTestService({ env: { API_KEYS: key, PARLANCE_SANDBOX: sandbox } });
  expect(await respect(service.url, key)).toMatch(/^0 .*Workflows: 5 passed, 5 total/s);
});

test('a failing workflow fails the run', { timeout: 90_000 }, async () => {
  await using service = await startTestService({ ...scripted, env: { API_KEYS: 'right' } });
  const said = await respect(service.url, 'wrong');
  expect(said).toMatch(/^1 /);
  expect(said).toContain('Workflows: 1 passed, 4 failed, 5 total');
});
