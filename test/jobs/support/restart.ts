/** Services that end and start again on the same DATA_DIR. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '../../../lib/sqlite.ts';
import { startTestService, type TestServiceOptions } from '../../support/service.ts';
import { create, end, type JobView } from './jobs.ts';
import { hookEngine, speechOf, wordEngine } from './speech.ts';

export const start = (dataDir: string, { env, ...options }: TestServiceOptions = {}) =>
  startTestService({
    ...wordEngine,
    ...options,
    env: { TRANSCRIBE_MAX_SECONDS: '4', DATA_DIR: dataDir, ...env },
  });

/** Holds the part with this number; `reached` resolves when it begins, `stopped` when it is given up. */
export function holdPart(number: number) {
  const reached = Promise.withResolvers<undefined>();
  const stopped = Promise.withResolvers<undefined>();
  const seen: (number | undefined)[] = [];
  const hook = hookEngine(({ first, signal }) => {
    seen.push(first);
    if (seen.length !== number) return undefined;
    reached.resolve(undefined);
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => {
        stopped.resolve(undefined);
        reject(signal.reason as Error);
      }),
    );
  });
  return { reached: reached.promise, stopped: stopped.promise, seen, [Symbol.dispose]: () => hook[Symbol.dispose]() };
}

/** Changes the database of a service that has ended. */
export function change(path: string, sql: string): void {
  const database = openDatabase(path);
  database.exec(sql);
  database.close();
}

/** A job that is over, of a service that has ended. */
export async function overIn(dataDir: string): Promise<JobView> {
  const [job] = await allOverIn(dataDir, 1);
  return job!;
}

/** So many. */
export async function allOverIn(dataDir: string, count: number): Promise<JobView[]> {
  await using service = await start(dataDir);
  const jobs: JobView[] = [];
  while (jobs.length < count) jobs.push(await end(service, (await create(service, speechOf(4))).id));
  return jobs;
}

/** Jobs of a service that has ended before they were over: one with a part, and so many others, of which `bad` is one. */
export async function brokenOff(dataDir: string, count = 1) {
  using held = holdPart(2);
  await using service = await start(dataDir);
  const good = await create(service, speechOf(20));
  const others: JobView[] = [];
  while (others.length < count) others.push(await create(service, speechOf(4)));
  await held.reached;
  return { good, bad: others[0]!, others };
}

/** The files that are set aside, without the name of their folder. */
export async function setAsideIn(dataDir: string): Promise<string[]> {
  const found = await readdir(join(dataDir, 'jobs/set-aside'), { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return files.map((path) => path.replace(/^.*\/set-aside\/[^/]*\//, '')).toSorted();
}
