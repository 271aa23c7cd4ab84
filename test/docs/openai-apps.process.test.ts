/** The programs in the page about OpenAI-compatible apps run, and print what their comments say. */
import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { blocksOf, home } from './support/pages.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
});
afterAll(() => service[Symbol.asyncDispose]());

const programs = blocksOf('docs/guides/openai-apps.md', 'js').map((program) => ({
  program,
  client: /from '([^']+)';\n\n/.exec(program.replace(/import .* from 'node:.*\n/g, ''))?.[1],
}));

/** The comments behind `console.log(...);`. */
function outputOf(program: string): string[] {
  return [...program.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line = '']) => line);
}

describe('the programs for OpenAI-compatible apps', () => {
  it('are there', () => {
    expect(programs.map(({ client }) => client)).toEqual(['openai', '@langchain/openai', 'ai']);
  });

  it.each(programs)('$client', async ({ program }) => {
    const cwd = await temporaryDirectory();
    await symlink(join(home, 'node_modules'), join(cwd, 'node_modules'));
    const memo = await service.post('/tts', { text: 'yes no hello', format: 'wav' });
    await writeFile(join(cwd, 'memo.wav'), await memo.bytes());
    await writeFile(join(cwd, 'program.mjs'), program.replaceAll('http://127.0.0.1:8484', service.url));
    const { stdout } = await promisify(execFile)(process.execPath, ['program.mjs'], { cwd });
    expect(outputOf(program).length).toBeGreaterThan(0);
    expect(stdout.trimEnd().split('\n')).toEqual(outputOf(program));
  });
});
