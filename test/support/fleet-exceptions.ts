/**
 * What a fleet does differently on purpose: tests of one machine that TEST_FLEET=1 skips, each with its reason.
 *
 * The tests of the whole contract go to a front and a worker in processes of their own (contract/support/service.ts). The
 * others bring engines, settings and timeouts, so that each starts a front and a worker itself. Those of
 * `startChildService` examine one process (its start, signals, raw sockets, memory) and stay as they are.
 */

interface Exception {
  readonly file: string;
  /** Part of the title of the test; absent: all tests of the file. */
  readonly title?: string;
  readonly reason: string;
}

const preparing =
  'a front does not know what workers prepare or lack: the model is `busy`, and requests wait for a worker';
const logOfWorker = 'the cause is in the log of the worker, under the same request id';
const otherWorkers = 'a failure that another worker may not have is retried within the fleet before the caller gets it';
const unknownModel = 'a worker that does not know a listed model is an older one: the caller gets 503, not 422';
const ownLine =
  'transcriptions wait in the line of the fleet, and do so even for a free worker; test/fleet has its tests';

export const exceptions: readonly Exception[] = [
  {
    file: 'test/jobs/restart.test.ts',
    title: 'the second serves everything but jobs, and takes over',
    reason: 'a front asks the one that has the job, which here is in a fleet of its own',
  },
  {
    file: 'test/api/loops.test.ts',
    title: 'passes the chain on for a request, and for no download',
    reason: 'both nodes open the engine, so that it downloads twice',
  },
  { file: 'test/api/preparing.test.ts', title: 'is a number from 0 to 1', reason: preparing },
  { file: 'test/api/preparing.test.ts', title: 'is in the entries of /transcribe/models', reason: preparing },
  { file: 'test/api/readiness.test.ts', title: 'waits for the default model of transcription', reason: preparing },
  {
    file: 'test/api/service.test.ts',
    title: 'and the log has the cause: an engine throws',
    reason: logOfWorker,
  },
  { file: 'test/api/trace.test.ts', title: 'jobs of a queue, each in its own', reason: ownLine },
  { file: 'test/api/trace.test.ts', title: 'gets waiting in a queue', reason: ownLine },
  {
    file: 'test/api/transcription-stream.test.ts',
    title: 'ends the engine and everything of the request',
    reason: 'the worker sees its line close, not why: the reason of its signal is another',
  },
  {
    file: 'test/contract/statuses.test.ts',
    title: 'Transcription > responds to the engine error unknown-model',
    reason: unknownModel,
  },
  { file: 'test/openai/engine-errors.test.ts', title: 'transcription > unknown-model', reason: unknownModel },
  { file: 'test/openai/engine-errors.test.ts', title: 'translation > unknown-model', reason: unknownModel },
  { file: 'test/openai/retries.test.ts', title: 'after a 503 with Retry-After: a transcription', reason: otherWorkers },
  { file: 'test/openai/retries.test.ts', title: 'an upload from a stream is not retried', reason: otherWorkers },
  {
    file: 'test/sandbox/transcription.test.ts',
    title: 'is available, and says what it is',
    reason: 'a front says that a worker is there; the text is not that of the engine',
  },
  { file: 'test/transcription/children.process.test.ts', title: 'whose cause only the log tells', reason: logOfWorker },
  { file: 'test/transcription/children.process.test.ts', title: 'is a span of its request', reason: ownLine },
  {
    file: 'test/transcription/models.process.test.ts',
    title: 'each is listed with its own availability',
    reason: preparing,
  },
  {
    file: 'test/transcription/models.process.test.ts',
    title: 'an unavailable one rejects with the reason',
    reason: preparing,
  },
  { file: 'test/transcription/models.process.test.ts', title: 'a model file needs no restart', reason: preparing },
  {
    file: 'test/transcription/fairness.test.ts',
    reason:
      'callers have shares of the line of the fleet, other than in the queue of one machine; test/fleet has its tests',
  },
];

export function exceptionFor(file: string, title: string): Exception | undefined {
  return exceptions.find((one) => file.endsWith(one.file) && title.includes(one.title ?? ''));
}
