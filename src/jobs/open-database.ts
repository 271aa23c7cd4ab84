/** Opens the jobs database, and moves unusable files aside so that the service can run without them. */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from '../../engines/contract/index.ts';
import { makeDirectory } from '../../lib/make-directory.ts';
import { NotRegularFileError } from '../../lib/regular-file.ts';
import { sqliteCodeOf, sqliteCodes } from '../../lib/sqlite.ts';
import { JobDatabase, UnreadableError } from './database.ts';
import {
  renameMisplacedFiles,
  databaseNames,
  emptyFolder,
  foreignNames,
  inRecordings,
  isJobId,
  jobIds,
  makePrivate,
  openSetAside,
  recordedIds,
  removeFiles,
  requireAccess,
  setAside,
} from './directory.ts';

/** The first code can also mean that the tables belong to another program. */
const unreadable: readonly unknown[] = [sqliteCodes.error, sqliteCodes.corrupt, sqliteCodes.notADatabase];

export interface OpenedJobs {
  readonly database: JobDatabase;
  /**
   * Paths within the directory that the service must not touch: files of other programs, and files that could not be
   * set aside.
   */
  readonly foreign: readonly string[];
}

/**
 * Returns undefined if another service owns the database. A database that is unreadable, or that is empty or missing
 * although recordings exist, is set aside with the recordings. `isUploading` returns whether this service is currently
 * receiving the recording with that id. Rejects if the directory cannot be used.
 */
export async function openJobDatabase(
  directory: string,
  isUploading: (id: string) => boolean,
  log: Logger,
): Promise<OpenedJobs | undefined> {
  await makeDirectory(dirname(directory));
  await makePrivate(directory);
  await renameMisplacedFiles(directory);
  await makePrivate(join(directory, inRecordings()));
  await requireAccess(directory);
  const recorded = (await recordedIds(directory)).filter((id) => !isUploading(id)).map(inRecordings);
  const opened = await openOrReplace(directory, recorded, log);
  if (!opened) return undefined;
  try {
    return { database: opened.database, foreign: await tidyUp(opened, { directory, isUploading, log }) };
  } catch (error) {
    opened.database.close();
    throw error;
  }
}

interface Opened {
  readonly database: JobDatabase;
  /** Recordings that could not be moved. */
  readonly left: readonly string[];
}

interface JobFiles {
  readonly directory: string;
  readonly isUploading: (id: string) => boolean;
  readonly log: Logger;
}

/**
 * Sets unreadable jobs aside, and removes leftovers of a crash: files of uploads that were not accepted, and of
 * jobs that are over. Returns the foreign paths.
 */
async function tidyUp({ database, left }: Opened, { directory, isUploading, log }: JobFiles): Promise<string[]> {
  for (const { record, isDamaged } of database.jobs) {
    if (isDamaged) log.error({ id: record.requestId }, 'parts of a transcription job cannot be read and are removed');
  }
  const unreadable = await setJobsAside(database, directory, log);
  const foreign = [...new Set([...left, ...unreadable, ...(await foreignNames(directory))])];
  if (foreign.length > 0) log.warn({ directory, foreign }, 'foreign files in the directory of the transcription jobs');
  const isOver = new Map(database.jobs.map(({ record }) => [record.id, record.endedAt !== null]));
  for (const id of (await jobIds(directory)).filter((each) => !foreign.includes(inRecordings(each)))) {
    const folder = join(directory, inRecordings(id));
    if (isOver.get(id)) await emptyFolder(folder, log);
    else if (!isOver.has(id) && !isUploading(id)) await removeFiles(folder, log);
  }
  return foreign;
}

async function openOrReplace(directory: string, recorded: readonly string[], log: Logger): Promise<Opened | undefined> {
  try {
    return { database: new JobDatabase(directory, { mayBeNew: recorded.length === 0 }), left: [] };
  } catch (err) {
    const code = sqliteCodeOf(err);
    if (code === sqliteCodes.busy) return undefined;
    const isUnreadable = err instanceof UnreadableError || err instanceof NotRegularFileError;
    if (!unreadable.includes(code) && !isUnreadable) throw err;
    const keptAs = await openSetAside(directory);
    for (const name of databaseNames) {
      const [stuck] = await setAside(directory, [name], keptAs);
      if (stuck !== undefined) throw new Error(`${stuck} can neither be read nor moved`, { cause: err });
    }
    const left = await setAside(directory, recorded, keptAs);
    log.error({ err, keptAs }, 'the database of the transcription jobs cannot be read and is set aside');
    return { database: new JobDatabase(directory, { mayBeNew: true }), left };
  }
}

/** Sets unreadable jobs aside, and returns their recordings that could not be moved. */
async function setJobsAside(database: JobDatabase, directory: string, log: Logger): Promise<string[]> {
  const left: string[] = [];
  for (const job of database.unreadable) {
    const recording = isJobId(job.id) ? [inRecordings(job.id)] : [];
    try {
      const keptAs = await openSetAside(directory);
      await writeFile(join(keptAs, 'job.json'), JSON.stringify(job), { mode: 0o600 });
      left.push(...(await setAside(directory, recording, keptAs)));
      database.remove(job.id);
      log.error({ keptAs }, 'a transcription job cannot be read and is set aside');
    } catch (err) {
      left.push(...recording);
      log.error({ err }, 'a transcription job can neither be read nor set aside');
    }
  }
  return left;
}
