/**
 * `npm run generate`: writes generated/, NOTICE and the generated parts of docs/. The API documents are generated from
 * spec/, the schema of the settings file from src/settings/table.ts and the engines' options. With --check it writes
 * nothing, and fails if a file is stale.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import openapiTS, { astToString } from 'openapi-typescript';
import { buildPage } from '../../page/build.ts';
import { grantableOperations, keysFileSchema } from '../../src/keys/schema.ts';
import { configSchema } from '../../src/settings/config-schema.ts';
import { toAsyncApi } from './asyncapi.ts';
import { errorSections } from './error-page.ts';
import { completeForms, nativeForms, openaiForms } from './forms.ts';
import { notice } from './notice.ts';
import { pages } from './pages.ts';
import { addErrorExamples } from './openai-error-examples.ts';
import { addProblemExamples, type WithOperations } from './problem-examples.ts';
import { shareAnswers, type Shareable } from './share.ts';

interface SchemaRef {
  $ref: string;
}

/** The part of an OpenAPI document that this script reads. */
interface Document extends WithOperations {
  openapi: string;
  info: { version: string };
  components: {
    schemas: Record<string, { description?: string; oneOf?: SchemaRef[]; examples?: { type: string }[] }>;
    headers: Record<string, { required?: boolean }>;
  };
  paths: WithOperations['paths'] & Shareable['paths'];
}

interface StreamSchema {
  oneOf: { properties: { data: { contentSchema: SchemaRef } } }[];
}

const run = promisify(execFile);
const home = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The native contract as OpenAPI 3.2, the first version that can describe a single event of a stream (`itemSchema`).
 */
async function compileNative(): Promise<Document> {
  const document = await compileSpec('spec', 'openapi-3.2.json');
  addProblemExamples(document);
  completeForms(document, nativeForms);
  shareAnswers(document);
  return document;
}

/** The contract of the OpenAI-compatible API. */
async function compileCompat(): Promise<Document> {
  const document = await compileSpec('spec/openai', 'openapi-compat.json');
  addErrorExamples(document);
  completeForms(document, openaiForms);
  shareAnswers(document);
  return document;
}

/** Compiles the TypeSpec of a folder to the OpenAPI document that its tspconfig.yaml names. */
async function compileSpec(folder: string, file: string): Promise<Document> {
  const output = await mkdtemp(join(tmpdir(), 'parlance-spec-'));
  try {
    const tsp = join(home, 'node_modules/@typespec/compiler/cmd/tsp.js');
    const args = ['compile', folder, '--config', `${folder}/tspconfig.yaml`, '--output-dir', output];
    await run(process.execPath, [tsp, ...args], { cwd: home, timeout: 120_000 });
    return JSON.parse(await readFile(join(output, file), 'utf8'), simplify) as Document;
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

/**
 * Removes what TypeSpec adds: `allOf` around a reference in a form, and an example summary that only repeats the name.
 */
function simplify(key: string, value: { allOf?: object[]; summary?: string } | null): unknown {
  const { allOf: [only, ...others] = [], ...rest } = value ?? {};
  if (only && others.length === 0) return { ...only, ...rest };
  return value?.summary === key ? { ...value, summary: undefined } : value;
}

/** The same contract as OpenAPI 3.1 for generators and linters: a stream's schema is the union of its events. */
function toOpenApi31(document: Document): Document {
  const downgraded = JSON.parse(
    JSON.stringify(document, (_key, value: unknown) =>
      isMediaTypeOfStream(value) ? streamOf(value.itemSchema, document) : value,
    ),
  ) as Document;
  // Modelina supports only 3.1.0; from a 3.1.1 document, it generates a single type, "Root".
  return { ...downgraded, openapi: '3.1.0' };
}

function isMediaTypeOfStream(value: unknown): value is { itemSchema: StreamSchema } {
  return typeof value === 'object' && value !== null && 'itemSchema' in value;
}

/** The examples of a union are the events of a whole stream. TypeSpec emits them from the last to the first. */
function streamOf(stream: StreamSchema, { components }: Document): object {
  const events = stream.oneOf.map((event) => event.properties.data.contentSchema.$ref).join();
  const union = Object.entries(components.schemas).find(([, { oneOf }]) => oneOf?.map((x) => x.$ref).join() === events);
  if (!union) throw new Error(`components/schemas has no union of the events ${events}`);
  const [name, { examples = [] }] = union;
  const inTurn = examples.toReversed().map((value) => [value.type, { value }]);
  return { schema: { $ref: `#/components/schemas/${name}` }, examples: Object.fromEntries(inTurn) as object };
}

async function toTypes(document: Document): Promise<string> {
  const { headers } = document.components;
  const optional = new Map(Object.entries(headers).filter(([, { required }]) => required !== true));
  const resolved = JSON.stringify(document, (_key, value: Partial<SchemaRef> | null) => {
    // openapi-typescript treats every referenced header as required.
    return optional.get(/^#\/components\/headers\/(.+)/.exec(value?.$ref ?? '')?.[1] ?? '') ?? value;
  });
  // openapi-typescript supports only the older keyword. For an open record, both keywords mean the same.
  const source = resolved.replaceAll('"unevaluatedProperties":', '"additionalProperties":');
  const nodes = await openapiTS(source, { alphabetize: false, exportType: true });
  return `// Written by \`npm run generate\` from spec/. Do not edit.\n${astToString(nodes)}`;
}

/** The options of each built-in engine. A folder with engines of several capabilities has the same options for all. */
async function builtInOptions(): Promise<Record<string, object>> {
  const found: Record<string, object> = {};
  for (const name of (await readdir(join(home, 'engines'))).sort()) {
    const index = join(home, 'engines', name, 'index.ts');
    if (name === 'contract' || !existsSync(index)) continue;
    const { default: engine } = (await import(pathToFileURL(index).href)) as { default: Engine | Engine[] };
    const [{ options } = { options: {} }] = [engine].flat();
    found[name] = options;
  }
  return found;
}

interface Engine {
  readonly options: object;
}

async function files(): Promise<Record<string, string>> {
  const [latest, compat] = await Promise.all([compileNative(), compileCompat()]);
  const document = toOpenApi31(latest);
  const realtime = toAsyncApi(compat);
  return {
    'generated/openapi-3.2.json': `${JSON.stringify(latest, null, 2)}\n`,
    'generated/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'generated/api.d.ts': await toTypes(document),
    'generated/openapi-compat.json': `${JSON.stringify(compat, null, 2)}\n`,
    'generated/openai-api.d.ts': await toTypes(compat),
    'generated/asyncapi-compat.json': `${JSON.stringify(realtime, null, 2)}\n`,
    'generated/config.schema.json': `${JSON.stringify(configSchema(await builtInOptions()), null, 2)}\n`,
    'generated/keys.schema.json': `${JSON.stringify(keysFileSchema(grantableOperations(document)), null, 2)}\n`,
    NOTICE: notice(),
    ...(await pages(document, compat)),
  };
}

/** Files are compared unpacked, because the output of gzip differs between versions of zlib. */
const unpacked = (name: string, content: Uint8Array) =>
  name.endsWith('.gz') ? gunzipSync(content) : Buffer.from(content);

async function isStale(path: string, content: Uint8Array): Promise<boolean> {
  const written = await readFile(path).catch(() => undefined);
  return written === undefined || !unpacked(path, written).equals(unpacked(path, content));
}

/** Files that are no longer built: their names contain a hash of their content. */
async function leftovers(page: Record<string, unknown>): Promise<string[]> {
  const files = await readdir(join(home, 'generated/page'), { recursive: true, withFileTypes: true }).catch(() => []);
  const names = files.filter((file) => file.isFile()).map((file) => relative(home, join(file.parentPath, file.name)));
  return names.filter((name) => !(name in page));
}

const check = process.argv.includes('--check');
const stale: string[] = [];
const page = Object.fromEntries(
  Object.entries(await buildPage({ errors: errorSections() })).map(([name, content]) => [
    `generated/page/${name}`,
    content,
  ]),
);
for (const [name, content] of Object.entries(page)) {
  const path = join(home, name);
  if (!(await isStale(path, content))) continue;
  if (check) {
    stale.push(name);
    continue;
  }
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}
for (const name of await leftovers(page)) {
  if (check) stale.push(name);
  else await rm(join(home, name));
}
for (const [name, text] of Object.entries(await files())) {
  const path = join(home, name);
  if (check) {
    if ((await readFile(path, 'utf8').catch(() => '')) !== text) stale.push(name);
    continue;
  }
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
if (stale.length > 0) {
  console.error(`stale: ${stale.join(', ')}\nfix: npm run generate`);
  process.exitCode = 1;
}
