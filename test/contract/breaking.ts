/**
 * What between two versions of the contract breaks a client. The differences are found and judged by `redocly diff`
 * (removed operations, statuses, media types, headers and properties; other types; stricter rules for requests, such as a
 * new required property or an enum that has lost a value; answers that promise less, such as a property that is no longer
 * required or an enum that has gained a value). Where the contract itself says more, the contract decides:
 *
 * - an event type that is gone is a break: redocly takes it for a schema that nobody uses;
 * - a new event type is none: clients ignore the types that they do not know;
 * - a new value of an enum in answers is none where the enum's description says that values "may be added".
 *
 * What an event is made of counts as any answer does: no field may go, change its type or become optional.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Place {
  readonly pointer: string;
}

/** One difference, as `redocly diff --format json` reports it. */
interface Change {
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'modified';
  readonly impact: 'major' | 'minor' | 'patch';
  readonly verdicts: readonly { readonly ruleId: string; readonly impact: string; readonly message: string }[];
  readonly base?: Place;
  readonly revision?: Place;
}

interface UnionOrEnum {
  readonly description?: string;
  readonly discriminator?: { readonly mapping?: Readonly<Record<string, string>> };
}

interface Document {
  readonly components?: { readonly schemas?: Readonly<Record<string, UnionOrEnum>> };
}

/** Both are OpenAPI documents as JSON. A line for each break, with its place. */
export async function findBreaks(base: string, revision: string): Promise<string[]> {
  const [before, after] = [JSON.parse(base) as Document, JSON.parse(revision) as Document];
  const changes = (await diff(withoutTexts(before), withoutTexts(after))).filter(
    (change) => !isAllowed(change, before),
  );
  const judged = changes.flatMap(({ path, verdicts }) =>
    verdicts.filter(({ impact }) => impact === 'major').map(({ message }) => `${message} (${path})`),
  );
  return [...judged, ...removedEvents(before, after)];
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
    /^#\/components\/schemas\/([^/]+)\/(oneOf|enum)/.exec((base ?? revision)?.pointer ?? '') ?? [];
  const schema = document.components?.schemas?.[name];
  if (part === 'oneOf') return kind === 'added' && schema?.discriminator !== undefined;
  if (part !== 'enum') return false;
  const onlyGains = verdicts.every(({ ruleId }) => ruleId === 'enum-values-added');
  return onlyGains && (schema?.description ?? '').includes('may be added');
}

/** Of every union with a discriminator. */
function removedEvents(before: Document, after: Document): string[] {
  return Object.entries(before.components?.schemas ?? {}).flatMap(([name, { discriminator }]) => {
    const left = after.components?.schemas?.[name]?.discriminator?.mapping ?? {};
    const gone = Object.keys(discriminator?.mapping ?? {}).filter((type) => !(type in left));
    return gone.map((type) => `Event \`${type}\` was removed. (#/components/schemas/${name})`);
  });
}

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
