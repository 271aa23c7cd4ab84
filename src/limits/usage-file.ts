/** Stores today's counters in a file, so that a restart does not reset the budgets. */
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from '../../engines/contract/index.ts';
import { isObject, parseObject } from '../../lib/json.ts';
import { makeDirectory } from '../../lib/make-directory.ts';
import { readRegularFile, replaceFile } from '../../lib/regular-file.ts';
import { createBudgets, type DayUsage, type Total } from './budgets.ts';
import { errnoOf } from '../../lib/errors.ts';

export const usageFileOf = (dataDir: string): string => join(dataDir, 'usage.json');

const version = 1;
const writeEveryMs = 10_000;

export interface UsageFileOptions {
  readonly path: string;
  readonly log: Pick<Logger, 'error'>;
  /** Milliseconds between writes. Default: 10 s. */
  readonly everyMs?: number;
}

/**
 * Opens budgets that are written to the file every 10 s if they have changed, and on disposal. If the file cannot be
 * read, logs the error, renames the file, and starts the counters from zero.
 */
export async function openBudgets({ path, log, everyMs = writeEveryMs }: UsageFileOptions) {
  const budgets = createBudgets(await readUsage(path, log));
  let writing = Promise.resolve();
  let written = 0;
  const writeChanges = async () => {
    const { changes } = budgets;
    if (changes === written) return;
    await writeUsage(path, budgets.usage());
    written = changes;
  };
  const write = () => (writing = writing.then(writeChanges).catch(failed));
  const failed = (err: unknown) => log.error({ path, err }, 'the daily usage of the API keys could not be written');
  const timer = setInterval(() => void write(), everyMs).unref();
  return Object.assign(budgets, {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await write();
    },
  });
}

async function readUsage(path: string, log: Pick<Logger, 'error'>): Promise<DayUsage | undefined> {
  try {
    return parseUsage(await readRegularFile(path));
  } catch (err) {
    if (errnoOf(err) === 'ENOENT') return undefined;
    const aside = `${path}.unreadable`;
    const isKept = await rename(path, aside).then(
      () => true,
      () => false,
    );
    const facts = { path, err, ...(isKept && { keptAs: aside }) };
    log.error(facts, 'the daily usage of the API keys could not be read; the budgets start from zero');
    return undefined;
  }
}

/** Throws if the text is not a valid usage file. */
export function parseUsage(text: string): DayUsage {
  const file = parseObject(text);
  if (!file) throw new Error('it is not a JSON object');
  if (file.version !== version) throw new Error(`its version is not ${String(version)}`);
  if (typeof file.day !== 'string' || !isObject(file.keys)) throw new Error('it has no day or no keys');
  return { day: file.day, keys: new Map(Object.entries(file.keys).map(([name, used]) => [name, parseTotal(used)])) };
}

function parseTotal(value: unknown): Total {
  const { audio_ms: audioMs, tokens } = isObject(value) ? value : {};
  if (!isAmount(audioMs) || !isAmount(tokens)) throw new Error('a key has an amount that is not a whole number');
  return { audioMs, tokens };
}

function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

async function writeUsage(path: string, { day, keys }: DayUsage): Promise<void> {
  const totals = [...keys].map(([name, { audioMs, tokens }]) => [name, { audio_ms: audioMs, tokens }] as const);
  const text = `${JSON.stringify({ version, day, keys: Object.fromEntries(totals) })}\n`;
  await makeDirectory(dirname(path));
  await replaceFile(path, text);
}
