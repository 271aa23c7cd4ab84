/** The published contract feeds the generators of others: what they make compiles, and works against the service. */
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import { build } from 'esbuild';
import { generateApi } from 'swagger-typescript-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { run } from '../support/programs.ts';
import { scripted } from './support/scripted.ts';

const home = resolve(import.meta.dirname, '../..');
const contract = join(home, 'generated/openapi.json');

/** Each writes a client into a directory. */
const generators = {
  'hey-api': async (output: string) => {
    await createClient({ input: contract, output, logs: { level: 'silent' } });
  },
  'swagger-typescript-api': async (output: string) => {
    await generateApi({ input: contract, output, silent: true });
  },
} as const;

let service: TestService;
beforeAll(async () => {
  service = await startTestService(scripted);
});
afterAll(() => service[Symbol.asyncDispose]());

describe.each(Object.entries(generators))('the client of %s', (name, generate) => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), `parlance-${name}-`));
    await symlink(join(home, 'node_modules'), join(project, 'node_modules'));
    await cp(join(home, 'test/fixtures/consumers', name), project, { recursive: true });
    await generate(join(project, 'generated'));
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  it('compiles in a strict project', async () => {
    const tsc = join(home, 'node_modules/@typescript/native/bin/tsc');
    await run(process.execPath, [tsc, '-p', project]).catch((error: unknown) => {
      throw new Error((error as { stdout: string }).stdout);
    });
  });

  it('uploads, chats, streams, and reads a refusal', async () => {
    const script = join(project, 'use.mjs');
    await build({
      entryPoints: [join(project, 'use.ts')],
      outfile: script,
      bundle: true,
      format: 'esm',
      platform: 'node',
    });
    expect(JSON.parse(await run(process.execPath, [script, service.url]))).toEqual({
      model: 'scripted',
      text: '12 bytes of wav',
      language: 'de',
      content: 'Grüß dich, 東京.',
      types: ['chat.started', 'step.started', ...Array<string>(3).fill('content.delta'), 'chat.completed'],
      streamed: 'Grüß dich, 東京.',
      refusal: 'invalid-request',
      status: 422,
      pointers: ['/messages'],
    });
  });
});
