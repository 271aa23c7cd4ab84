/** Every curl in the documents gives the answer that stands there. DOCS_UPDATE=1 writes the real answers into the pages. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spokenWords } from '../../src/conformance/recordings.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { matches, stepsOf, withAnswer } from './support/answers.ts';
import { blocksOf, blockWith, home, pages, readPage } from './support/pages.ts';

let service: TestService;
let directory: string;
beforeAll(async () => {
  service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
  directory = await mkdtemp(join(tmpdir(), 'parlance-docs-'));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

async function runShell(command: string): Promise<string> {
  const here = command.replaceAll('http://127.0.0.1:8484', service.url);
  const { stdout } = await promisify(execFile)('sh', ['-c', here], { cwd: directory, timeout: 30_000 });
  return stdout.replaceAll(service.url, 'http://127.0.0.1:8484');
}

const steps = pages.flatMap((page) =>
  blocksOf(page, 'console')
    .flatMap(stepsOf)
    .filter(({ command }) => command.startsWith('curl'))
    .map((step) => ({ page, ...step })),
);

describe('the answers in the documents', () => {
  it('are there', () => {
    expect(steps.length).toBeGreaterThan(10);
  });

  it.each(steps)('$page: $command', async ({ page, ...step }) => {
    const actual = await runShell(step.command);
    if (process.env.DOCS_UPDATE) await writeFile(join(home, page), withAnswer(readPage(page), step, actual));
    else if (!matches(actual, step.answer)) expect(actual).toBe(step.answer);
  });
});

describe('the first commands of the README', () => {
  it('transcribe a file of the reader', async () => {
    const command = blockWith('README.md', 'sh', 'curl').replace('FILE', fileURLToPath(spokenWords));
    expect(JSON.parse(await runShell(command))).toMatchObject({ text: 'The sandbox has heard a recording.' });
  });

  it('publish the port of the image, and keep its data', () => {
    const command = blockWith('README.md', 'sh', 'docker build');
    const [, file = ''] = /-f (\S+)/.exec(command) ?? [];
    const image = readPage(file);
    expect(image).toContain('EXPOSE 8484');
    expect(image).toContain('VOLUME /data');
    expect(command).toMatch(/ -p 127\.0\.0\.1:8484:8484 .* -v parlance:\/data parlance$/m);
  });
});
