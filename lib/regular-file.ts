/**
 * Files in DATA_DIR, where other programs may put anything. Opening a FIFO waits for its other end in a thread of the
 * pool, which is then blocked and keeps the process from exiting; a symlink may point anywhere.
 */
import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { errnoOf } from './errors.ts';

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_APPEND } = constants;

const modes = { read: O_RDONLY, write: O_WRONLY | O_CREAT | O_TRUNC, append: O_WRONLY | O_APPEND } as const;

/** The path is a directory, a FIFO, a device, a socket or a symlink. */
export class NotRegularFileError extends Error {
  constructor(path: string) {
    super(`${path} is not a regular file`);
  }
}

/** Follows no symlink. Throws a `NotRegularFileError`. */
export async function openRegularFile(path: string, mode: keyof typeof modes = 'read'): Promise<FileHandle> {
  const file = await open(path, modes[mode] | O_NOFOLLOW | O_NONBLOCK, 0o600).catch((error: unknown) => {
    throw explained(error, path);
  });
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new NotRegularFileError(path);
}

/** Throws as `openRegularFile` does. */
export async function readRegularFile(path: string): Promise<string> {
  await using file = await openRegularFile(path);
  return await file.readFile('utf8');
}

/**
 * Replaces a file so that a crash leaves the old file or the new one. Anything at the path of the draft is removed. The
 * new file has the owner and the mode of `like`; by default, only this user can read it.
 */
export async function replaceFile(path: string, text: string, like?: Stats): Promise<void> {
  const draft = `${path}.new`;
  await rm(draft, { force: true, recursive: true });
  {
    await using file = await open(draft, 'wx', 0o600);
    await file.writeFile(text);
    if (like) await file.chown(like.uid, like.gid);
    if (like) await file.chmod(like.mode);
    await file.sync();
  }
  await rename(draft, path);
}

/**
 * Calls `read` with the open file and its size, and returns its result. Follows symlinks, since operators link models from
 * elsewhere. Throws a `NotRegularFileError`.
 */
export function withRegularFile<T>(path: string, read: (file: number, bytes: number) => T): T {
  return withDescriptor(path, O_RDONLY, read);
}

function withDescriptor<T>(path: string, flags: number, use: (file: number, bytes: number) => T): T {
  let file: number;
  try {
    file = openSync(path, flags | O_NONBLOCK, 0o600);
  } catch (error) {
    throw explained(error, path);
  }
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw new NotRegularFileError(path);
    return use(file, found.size);
  } finally {
    closeSync(file);
  }
}

/** ELOOP: a symlink. ENXIO: a socket, or a FIFO without a reader. */
function explained(error: unknown, path: string): unknown {
  return ['ELOOP', 'ENXIO', 'EISDIR'].includes(errnoOf(error) ?? '') ? new NotRegularFileError(path) : error;
}
