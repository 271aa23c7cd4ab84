/**
 * What between two versions of the contract breaks a client. The differences are found and judged by `redocly diff`
 * (removed operations, statuses, media types, headers and properties; other types; stricter rules for requests, such as a
 * new required property or an enum that has lost a value; answers that promise less, such as a property that is no longer
 * required or an enum that has gained a value). Where the contract itself says more, the contract decides:
 *
 * - a variant of an answer that is gone, such as an event, is a break: redocly finds it, and judges it as harmless;
 * - a new event type is not a break: clients ignore the types that they do not know;
 * - a new value of an enum in answers is not a break where the enum's description says that values "may be added".
 *
 * What an event is made of counts as any answer does: no field may go, change its type or become optional.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asOpenApi } from './as-openapi.ts';

/** One difference, as `redocly diff --format json` reports it. */
interface Change {
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'modified';
  readonly impact: 'major' | 'minor' | 'patch';
  readonly verdicts: readonly { readonly ruleId: string; readonly impact: string; readonly message: string }[];
  readonly base?: Place;
  readonly revision?: Place;
}

interface Place {
  readonly pointer: string;
  /** References are resolved. */
  readonly value?: unknown;
}

interface UnionOrEnum {
  readonly description?: string;
  readonly discriminator?: object;
  readonly anyOf?: readonly { readonly $ref?: string }[];
  readonly properties?: { readonly type?: { readonly enum?: readonly string[] } };
}

interface Document {
  readonly components?: { readonly schemas?: Readonly<Record<string, UnionOrEnum>> };
}

/** Both are OpenAPI, AsyncAPI or JSON Schema, as JSON. A line for each break, with its place. */
export async function findBreaks(base: string, revision: string): Promise<string[]> {
  const [before, after] = [base, revision].map((text) => asOpenApi(JSON.parse(text) as object)) as [Document, Document];
  return (await diff(withoutTexts(before), withoutTexts(after))).flatMap((change) => {
    if (isAllowed(change, before)) return [];
    const major = change.verdicts.filter(({ impact }) => impact === 'major').map(({ message }) => message);
    const messages = major.length === 0 ? removedVariant(change, before) : major;
    return messages.map((message) => `${message} (${change.path})`);
  });
}

/** Redocly compares the members of a union by likeness: it takes one that gets a description for another one. */
function withoutTexts(document: object): string {
  const isText = (key: string, value: unknown) => key === 'description' && typeof value === 'string';
  return JSON.stringify(document, (key, value: unknown) => (isText(key, value) ? '' : value));
}

/** While the version is 0.x a new minor may break, from then on a new major. */
export function mayBreak(from: string, to: string): boolean {
  const [fromMajor = 0, fromMinor = 0] = numbersOf(from);
  const [toMajor = 0, toMinor = 0] = numbersOf(to);
  return toMajor > fromMajor || (toMajor === 0 && fromMajor === 0 && toMinor > fromMinor);
}

const numbersOf = (version: string) => version.replace(/^v/, '').split('.').map(Number);

function isAllowed({ kind, verdicts, base, revision }: Change, document: Document): boolean {
  const [, name = '', part] =
    /^#\/components\/schemas\/([^/]+)\/(oneOf|anyOf|enum)/.exec((base ?? revision)?.pointer ?? '') ?? [];
  const schema = document.components?.schemas?.[name];
  if (part === 'oneOf' || part === 'anyOf') return kind === 'added' && isOfEvents(schema, document);
  if (part !== 'enum') return false;
  const onlyGains = verdicts.every(({ ruleId }) => ruleId === 'enum-values-added');
  return onlyGains && (schema?.description ?? '').includes('may be added');
}

/** Has a discriminator, or is an `anyOf` of /v1 whose variants have one `type` each. */
function isOfEvents({ discriminator, anyOf = [] }: UnionOrEnum = {}, { components }: Document): boolean {
  const types = anyOf.map(({ $ref = '' }) => components?.schemas?.[nameOf($ref)]?.properties?.type?.enum?.length);
  return discriminator !== undefined || (types.length > 0 && types.every((count) => count === 1));
}

/** A sentence about it, if it is one. An answer that is no longer null breaks no client. */
function removedVariant({ kind, base }: Change, document: Document): string[] {
  const { pointer = '', value } = base ?? {};
  const isVariant = kind === 'removed' && /\/(oneOf|anyOf)\/\d+$/.test(pointer);
  if (!isVariant || (value as { readonly type?: string } | undefined)?.type === 'null') return [];
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = keys.reduce<unknown>((inner, key) => (inner as Readonly<Record<string, unknown>>)[key], document);
  return [`Variant \`${nameOf((found as { $ref?: string }).$ref ?? pointer)}\` was removed.`];
}

const nameOf = (pointer: string) => pointer.split('/').at(-1) ?? '';

const redocly = join(import.meta.dirname, '../../node_modules/.bin/redocly');

async function diff(base: string, revision: string): Promise<readonly Change[]> {
  const directory = await mkdtemp(join(tmpdir(), 'parlance-diff-'));
  try {
    await writeFile(join(directory, 'base.json'), base);
    await writeFile(join(directory, 'revision.json'), revision);
    const args = [
      'diff',
      'base.json',
      'revision.json',
      '--format',
      'json',
      '--output',
      'report.json',
      '--fail-on',
      'none',
    ];
    await run(directory, args);
    const report = JSON.parse(await readFile(join(directory, 'report.json'), 'utf8')) as { changes: readonly Change[] };
    return report.changes;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function run(cwd: string, args: readonly string[]): Promise<void> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off' };
  return new Promise((resolve, reject) => {
    execFile(redocly, args, { cwd, env, timeout: 60_000 }, (error, _stdout, stderr) => {
      if (error) reject(new Error(`redocly ${args.join(' ')} failed: ${stderr}`, { cause: error }));
      else resolve();
    });
  });
}
