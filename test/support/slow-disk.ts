import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { requireProgram, run } from './programs.ts';
import { temporaryDirectory } from './temporary.ts';

/** All threads in which Node opens files wait for one that nothing writes to, until the answer is called. */
export async function stopTheDisk(): Promise<() => Promise<void>> {
  const pipe = join(await temporaryDirectory(), 'pipe');
  await run(requireProgram('mkfifo'), [pipe]);
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  const readers = Array.from({ length: threads }, () => open(pipe));
  return async () => {
    const writer = openSync(pipe, 'r+');
    for (const reader of await Promise.all(readers)) await reader.close();
    closeSync(writer);
  };
}
