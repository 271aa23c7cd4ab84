/** Checks model files without loading them: a broken file would crash the program that loads it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { errnoOf, messageOf } from '../../lib/errors.ts';
import { NotRegularFileError, withRegularFile } from '../../lib/regular-file.ts';

/** A problem with a file, as the end of a sentence for the operator. */
export class Unusable extends Error {}

export type Judged<T> =
  | (T & {
      readonly ok: true;
      /** Changes when the files change. */
      readonly stamp: string;
    })
  | {
      readonly ok: false;
      /** A sentence without a period that names the file. */
      readonly detail: string;
    };

/**
 * Reads the files again only when they have changed; until then, the result is the same object. `judge` throws as
 * `explained` does.
 */
export function rememberFiles<T>(files: readonly string[], judge: () => T): () => Promise<Judged<T>> {
  let seen: { readonly stamp: string; readonly found: Judged<T> } | undefined;
  return async () => {
    const stamp = await stampOf(files);
    if (seen?.stamp !== stamp) seen = { stamp, found: judged(judge, stamp) };
    return seen.found;
  };
}

function judged<T>(judge: () => T, stamp: string): Judged<T> {
  try {
    return { ...judge(), ok: true, stamp };
  } catch (error) {
    return { ok: false, detail: messageOf(error) };
  }
}

async function stampOf(files: readonly string[]): Promise<string> {
  const parts = files.map((path) =>
    stat(path).then(
      ({ mtimeMs, size, ino }) => [mtimeMs, size, ino].join(),
      () => 'missing',
    ),
  );
  return createHash('sha256')
    .update(JSON.stringify([files, await Promise.all(parts)]))
    .digest('hex');
}

/**
 * Returns a number that was read from a file as decimal digits, and that a program uses as a loop bound, a divisor or
 * an allocation size. Throws `Unusable` if it is not an integer from 1 to `most`.
 */
export function requireCount(value: unknown, name: string, most: number): number {
  const isDigits = (typeof value === 'string' || typeof value === 'number') && /^[1-9]\d{0,8}$/.test(String(value));
  if (isDigits && Number(value) <= most) return Number(value);
  throw new Unusable(`its ${name} must be 1 to ${most}`);
}

/**
 * Reads a file next to a model. Throws `Unusable` for a file that is too long or not a regular file, before it is read.
 */
export function readBytes(path: string, maxBytes: number): Buffer {
  return withRegularFile(path, (file, bytes) => {
    if (bytes > maxBytes) throw new Unusable('it is too long');
    return readFileSync(file);
  });
}

/** Reads a file as `readBytes` does, and decodes it as UTF-8. */
export const readText = (path: string, maxBytes: number): string => readBytes(path, maxBytes).toString();

/** Returns the result of `read`. Turns its error into one whose message is a sentence about the file. */
export function explained<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`${path} ${whatIsWrong(cause)}`, { cause });
  }
}

function whatIsWrong(error: unknown): string {
  if (error instanceof NotRegularFileError) return 'is not usable: it is not a regular file';
  if (error instanceof Unusable) return `is not usable: ${error.message}`;
  switch (errnoOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'does not exist';
    case 'EACCES':
    case 'EPERM':
      return 'may not be read';
    default:
      return `could not be read: ${messageOf(error)}`;
  }
}
