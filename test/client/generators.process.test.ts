/** The published contracts feed the generators of others: what they make compiles, and works against the service. */
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import { build } from 'esbuild';
import openapiTS, { astToString } from 'openapi-typescript';
import { generateApi } from 'swagger-typescript-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { scripted } from './support/scripted.ts';

const home = resolve(import.meta.dirname, '../..');

interface Consumer {
  /** Folder of test/fixtures/consumers. */
  readonly folder: string;
  /** Writes a client into a directory. */
  readonly generate: (input: string, output: string) => Promise<unknown>;
}

const heyApi = (input: string, output: string) => createClient({ input, output, logs: { level: 'silent' } });
const swaggerTypescriptApi = (input: string, output: string) => generateApi({ input, output, silent: true });

async function openapiTypescript(input: string, output: string): Promise<void> {
  await mkdir(output);
  await writeFile(join(output, 'api.d.ts'), astToString(await openapiTS(await readFile(input, 'utf8'))));
}

const nativeConsumers: readonly Consumer[] = [
  { folder: 'hey-api', generate: heyApi },
  { folder: 'swagger-typescript-api', generate: swaggerTypescriptApi },
];
const compatConsumers: readonly Consumer[] = [
  { folder: 'hey-api-compat', generate: heyApi },
  { folder: 'swagger-typescript-api-compat', generate: swaggerTypescriptApi },
  { folder: 'openapi-typescript-compat', generate: openapiTypescript },
];

let service: TestService;
beforeAll(async () => {
  service = await startTestService(scripted);
});
afterAll(() => service[Symbol.asyncDispose]());

/** A project with a client that was generated from a contract. */
async function createProject({ folder, generate }: Consumer, contract: string): Promise<string> {
  const project = await temporaryDirectory();
  await symlink(join(home, 'node_modules'), join(project, 'node_modules'));
  await cp(join(home, 'test/fixtures/consumers', folder), project, { recursive: true });
  await generate(join(home, 'generated', contract), join(project, 'generated'));
  return project;
}

async function compile(project: string): Promise<void> {
  const tsc = join(home, 'node_modules/@typescript/native/bin/tsc');
  await run(process.execPath, [tsc, '-p', project]).catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout);
  });
}

async function use(project: string): Promise<unknown> {
  const script = join(project, 'use.mjs');
  const entryPoints = [join(project, 'use.ts')];
  await build({ entryPoints, outfile: script, bundle: true, format: 'esm', platform: 'node' });
  return JSON.parse(await run(process.execPath, [script, service.url]));
}

describe.each(nativeConsumers)('the client of $folder', (consumer) => {
  it('compiles in a strict project, uploads, chats, streams, and reads a refusal', async () => {
    const project = await createProject(consumer, 'openapi.json');
    await compile(project);
    expect(await use(project)).toEqual({
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

describe.each(compatConsumers)('the client of $folder', (consumer) => {
  it('compiles in a strict project, uploads, chats, and reads a refusal', async () => {
    const project = await createProject(consumer, 'openapi-compat.json');
    await compile(project);
    expect(await use(project)).toEqual({
      model: 'scripted',
      text: '12 bytes of wav',
      content: 'Grüß dich, 東京.',
      refusal: 'unsupported_parameter',
      status: 400,
      param: 'n',
    });
  });
});
