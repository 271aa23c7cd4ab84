/** How often workers have tried a call in vain, and when it is given up. */
import { EngineError, type Logger } from '../../engines/contract/index.ts';
import type { Returned } from './call-protocol.ts';
import { errorOf } from './follow.ts';
import { newId } from './ticket.ts';

export interface AttemptsOptions {
  readonly instance: string;
  /** The workers that are there for the instance. */
  readonly workersOf: (instance: string) => readonly string[];
  readonly log: Logger;
}

/** How often a call may kill its worker, and how many workers may hand it back. */
const most = 3;

export function createAttempts({ instance, workersOf, log }: AttemptsOptions) {
  let lost = 0;
  let returnedBy: readonly string[] = [];
  const isReturnedByAll = () => workersOf(instance).every((worker) => returnedBy.includes(worker));

  return {
    /** Ids of the workers that have handed the call back, the last one at the end. */
    get returnedBy() {
      return returnedBy;
    },
    /** Throws what the caller gets when no other worker should try. */
    countLost() {
      lost += 1;
      log.warn({ instance, attempt: lost }, 'a worker was lost in the middle of a transcription');
      if (lost === most) throw new EngineError('engine-failed', 'Every worker that tried this recording failed.');
    },
    /** Likewise. */
    countReturned(message: Returned) {
      const { code, worker } = message;
      log.info({ instance, code, worker }, 'a worker has handed a transcription back');
      const by = worker ?? newId(); // one that stops does not get it again
      returnedBy = [...returnedBy.filter((other) => other !== by), by];
      if (returnedBy.length === most || (worker !== undefined && isReturnedByAll())) throw errorOf(message);
    },
  };
}
