/** Counts the failed attempts of a call and decides when to give up. */
import { EngineError, type Logger } from '../../engines/contract/index.ts';
import type { Returned } from './call-protocol.ts';
import { errorOf } from './follow.ts';
import { newId } from './ticket.ts';

export interface AttemptsOptions {
  readonly instance: string;
  /** The ids of the connected workers of the instance. */
  readonly workersOf: (instance: string) => readonly string[];
  readonly log: Logger;
}

/** Maximum number of workers lost during a call, and of workers that may return it. */
const maxAttempts = 3;

export function createAttempts({ instance, workersOf, log }: AttemptsOptions) {
  let lost = 0;
  let returnedBy: readonly string[] = [];
  const isReturnedByAll = () => workersOf(instance).every((worker) => returnedBy.includes(worker));

  return {
    /** Ids of the workers that have returned the call, most recent last. */
    get returnedBy() {
      return returnedBy;
    },
    /** Counts a worker that was lost during the call. Throws the error for the caller after the last attempt. */
    countLost() {
      lost += 1;
      log.warn({ instance, attempt: lost }, 'a worker was lost during a transcription');
      if (lost === maxAttempts)
        throw new EngineError('engine-failed', 'Every worker that tried this recording failed.');
    },
    /** Counts a worker that has returned the call. Throws the error for the caller after the last attempt. */
    countReturned(message: Returned) {
      const { code, worker } = message;
      log.info({ instance, code, worker }, 'a worker returned a transcription');
      const by = worker ?? newId(); // a worker that is stopping sends no id, and does not get the call again
      returnedBy = [...returnedBy.filter((other) => other !== by), by];
      if (returnedBy.length === maxAttempts || (worker !== undefined && isReturnedByAll())) throw errorOf(message);
    },
  };
}
