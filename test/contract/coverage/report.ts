/** Holds what was answered against what the contract declares. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ContractDocument } from '../../../src/contract/document.ts';

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
  const seen = new Set<string>();
  for (const note of notes) for (const what of explain(note, operations)) seen.add(what);
  const rows = [
    ...operations.map(({ id, statuses }) => ({ name: id, parts: statuses, keys: statuses.map((s) => `${id} ${s}`) })),
    { name: 'events', parts: eventTypes(contract), keys: eventTypes(contract).map((type) => `event ${type}`) },
  ];
  const missing = rows.flatMap(({ keys }) => keys.filter((key) => !seen.has(key)));
  const width = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.map(({ name, parts, keys }) => {
    const cells = parts.map((part, i) => (seen.has(keys[i] ?? '') ? part : `[${part}]`));
    return `${name.padEnd(width)}  ${cells.join(' ')}`;
  });
  const declared = rows.reduce((sum, { keys }) => sum + keys.length, 0);
  const summary = `${declared - missing.length} of ${declared} seen${missing.length > 0 ? ', [ ] never' : ''}`;
  return { table: ['Coverage of the contract', ...lines, summary].join('\n'), missing };
}

interface DeclaredOperation {
  readonly id: string;
  readonly method: string;
  readonly path: RegExp;
  readonly statuses: readonly string[];
}

function listOperations({ paths, servers }: ContractDocument): DeclaredOperation[] {
  const root = servers[0]?.url ?? '';
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { operationId, responses }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path: new RegExp(`^${root}${template.replace(/\{\w+\}/g, '[^/]+')}$`),
      statuses: Object.keys(responses),
    })),
  );
}

/** A HEAD is a GET; a method that a path does not know is answered for each operation of the path. */
function explain(note: string, operations: readonly DeclaredOperation[]): string[] {
  if (note.startsWith('event ')) return [note];
  const [method = '', path = '', status = ''] = note.split(' ');
  const asked = method === 'HEAD' ? 'GET' : method;
  return operations
    .filter((operation) => operation.path.test(path) && (status === '405' || operation.method === asked))
    .map(({ id }) => `${id} ${status}`);
}

/** Of every union with a discriminator: the values that it maps. */
function eventTypes({ components }: ContractDocument): string[] {
  const unions = Object.values(components.schemas) as readonly { discriminator?: { mapping: object } }[];
  return unions.flatMap(({ discriminator }) => Object.keys(discriminator?.mapping ?? {}));
}
