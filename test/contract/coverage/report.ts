/** Holds what was answered against what the contract declares. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ContractDocument, Schema } from '../../../src/contract/document.ts';

export interface Report {
  /** A row for each operation with the statuses that it declares, and one for the events. */
  readonly table: string;
  /** What is declared but was never seen: `createChat 429`, `event chat.failed`. */
  readonly missing: readonly string[];
}

/** Notes as the recorder writes them, of all processes. */
export function readNotes(directory: string): Set<string> {
  const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'));
  return new Set(files.flatMap((text) => text.split('\n')).filter((line) => line !== ''));
}

interface Kept {
  readonly fingerprint: string;
  readonly notes: readonly string[];
}

/** Keeps the notes of a run for one that is a process of its own. */
export async function keepNotes(file: string, fingerprint: string, notes: ReadonlySet<string>): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify({ fingerprint, notes: [...notes] } satisfies Kept));
}

/** Undefined: no run has kept any for these sources. */
export async function keptNotes(file: string, fingerprint: string): Promise<ReadonlySet<string> | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const kept = JSON.parse(text) as Kept;
  return kept.fingerprint === fingerprint ? new Set(kept.notes) : undefined;
}

export function coverageOf(contract: ContractDocument, notes: ReadonlySet<string>): Report {
  const operations = listOperations(contract);
  const hasChunks = contract.servers[0]?.url === '/v1';
  const seen = new Set<string>();
  for (const note of notes) for (const what of explain(note, operations)) seen.add(what);
  const rows = [
    ...operations.map(({ id, statuses }) => ({ name: id, parts: statuses, keys: statuses.map((s) => `${id} ${s}`) })),
    ...(hasChunks
      ? operations
          .filter(({ kinds }) => kinds.length > 0)
          .map(({ id, kinds }) => ({ name: `${id} chunks`, parts: kinds, keys: kinds.map((kind) => `${id} ${kind}`) }))
      : [{ name: 'events', parts: eventTypes(contract), keys: eventTypes(contract).map((type) => `event ${type}`) }]),
  ];
  const missing = rows.flatMap(({ keys }) => keys.filter((key) => !seen.has(key)));
  const width = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.map(({ name, parts, keys }) => {
    const cells = parts.map((part, i) => (seen.has(keys[i] ?? '') ? part : `[${part}]`));
    return `${name.padEnd(width)}  ${cells.join(' ')}`;
  });
  const declared = rows.reduce((sum, { keys }) => sum + keys.length, 0);
  const summary = `${declared - missing.length} of ${declared} seen${missing.length > 0 ? ', [ ] never' : ''}`;
  return {
    table: [`Coverage of the contract under ${contract.servers[0]?.url ?? ''}`, ...lines, summary].join('\n'),
    missing,
  };
}

interface DeclaredOperation {
  readonly id: string;
  readonly method: string;
  readonly path: RegExp;
  readonly statuses: readonly string[];
  /** Kinds of chunks, for a stream without named events. */
  readonly kinds: readonly string[];
}

function listOperations({ paths, servers, components }: ContractDocument): DeclaredOperation[] {
  const root = servers[0]?.url ?? '';
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { operationId, responses }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path: new RegExp(`^${root}${template.replace(/\{\w+\}/g, '[^/]+')}$`),
      statuses: Object.keys(responses),
      kinds: kindsOf(responses['200']?.content?.['text/event-stream']?.schema, components.schemas),
    })),
  );
}

/** A HEAD is a GET; a method that a path does not know is answered for each operation of the path. */
function explain(note: string, operations: readonly DeclaredOperation[]): string[] {
  if (note.startsWith('event ')) return [note];
  if (note.startsWith('chunk ')) {
    const [, path = '', kind = ''] = note.split(' ');
    return operations.filter((operation) => operation.path.test(path)).map(({ id }) => `${id} ${kind}`);
  }
  const [method = '', path = '', status = ''] = note.split(' ');
  const asked = method === 'HEAD' ? 'GET' : method;
  return operations
    .filter((operation) => operation.path.test(path) && (status === '405' || operation.method === asked))
    .map(({ id }) => `${id} ${status}`);
}

type Declared = Schema & { readonly enum?: readonly string[]; readonly const?: string };

/** The kinds of chunks: `type` where chunks have one, else what a delta may carry, why it ends, and the usage. */
function kindsOf(stream: Schema | undefined, schemas: Readonly<Record<string, Schema>>): string[] {
  if (!stream) return [];
  const open = (schema: Schema | undefined): Declared =>
    schema?.$ref === undefined ? (schema ?? {}) : open(schemas[schema.$ref.split('/').at(-1) ?? '']);
  const valuesOf = (schema: Schema | undefined): string[] => {
    const { enum: values, const: value, anyOf = [] } = open(schema);
    return [...(values ?? []), ...(value === undefined ? [] : [value]), ...anyOf.flatMap(valuesOf)];
  };
  const { anyOf = [], properties = {} } = open(stream);
  const choice = open(open(properties.choices).items).properties;
  const kinds = choice
    ? [
        ...Object.keys(open(choice.delta).properties ?? {}).map((name) => `delta.${name}`),
        ...valuesOf(choice.finish_reason).map((reason) => `finish_reason.${reason}`),
        ...('usage' in properties ? ['usage'] : []),
      ]
    : [stream, ...anyOf].flatMap((schema) => valuesOf(open(schema).properties?.type));
  if (kinds.some((kind) => kind.endsWith('.failed'))) return kinds;
  // A stream without an event of its own for failures ends with an error, or with [DONE]; speech without it.
  return [...kinds, 'error', ...(kinds.includes('speech.audio.done') ? [] : ['[DONE]'])];
}

/** Of every union with a discriminator: the values that it maps. */
function eventTypes({ components }: ContractDocument): string[] {
  const unions = Object.values(components.schemas) as readonly { discriminator?: { mapping: object } }[];
  return unions.flatMap(({ discriminator }) => Object.keys(discriminator?.mapping ?? {}));
}
