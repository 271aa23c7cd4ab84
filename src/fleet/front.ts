/**
 * A front: has its transcriptions done by workers. It is the source of truth for its calls: Redis may lose every ticket
 * and any worker may die, and the front queues them again.
 */
import {
  EngineError,
  type Logger,
  type Transcript,
  type TranscriptionCall,
  type TranscriptionOptions,
} from '../../engines/contract/index.ts';
import { currentScope, currentVia } from '../request-scope.ts';
import { traced } from '../trace.ts';
import { createAttempts } from './attempts.ts';
import { readOutcome, forSeveralAttempts } from './follow.ts';
import type { CallDocument } from './call-protocol.ts';
import type { FleetTimeouts } from './timeouts.ts';
import type { Nodes } from './nodes.ts';
import type { Admissions } from './admission.ts';
import { newId } from './ticket.ts';
import { createWaitingCalls, type WaitingCalls, type WaitingCallsOptions } from './waiting-calls.ts';

export interface FrontOptions extends Pick<WaitingCallsOptions, 'queueOf' | 'ticketFor'> {
  readonly nodes: Pick<Nodes, 'absentMs' | 'workersOf'>;
  readonly admissions: Pick<Admissions, 'admit'>;
  /** The id of this service in chains of services. */
  readonly viaId: () => string;
  readonly limits: FleetTimeouts;
  readonly log: Logger;
}

export interface Front extends Pick<WaitingCalls, 'find' | 'reconcile' | 'oldestWaitMs'>, Disposable {
  /** `transcribe` of an instance, run by a worker. */
  readonly transcribe: (
    instance: string,
    call: TranscriptionCall,
    options: TranscriptionOptions,
  ) => Promise<Transcript>;
}

const redisRetryAfterSeconds = 5;

export function createFront({ nodes, admissions, viaId, log, ...options }: FrontOptions): Front {
  const calls = createWaitingCalls({ ...options, nodes, refuse });

  async function transcribe(instance: string, call: TranscriptionCall, options: TranscriptionOptions) {
    const { signal } = options;
    const { usage, caller = '', key } = currentScope() ?? {};
    const document = documentOf(instance, call, options, viaId());
    const listeners = forSeveralAttempts(options);
    const attempts = createAttempts({ instance, workersOf: nodes.workersOf, log });
    signal.throwIfAborted();
    using admission = await admissions.admit({ id: newId(), instance, caller, weight: key?.weight ?? 1 }).catch(refuse);
    const { priority } = admission;
    for (let isFirst = true; ; isFirst = false) {
      const queuedAt = performance.now();
      const { returnedBy } = attempts;
      const { onQueued } = listeners;
      const wanted = {
        instance,
        document,
        recordingPath: call.recording.path,
        priority,
        isFirst,
        returnedBy,
        onQueued,
      };
      const connection = await traced('queue wait', {}, () => calls.findWorker(wanted, signal));
      listeners.begin();
      if (usage) usage.queueMs = (usage.queueMs ?? 0) + performance.now() - queuedAt;
      const outcome = await readOutcome(connection, listeners, signal);
      signal.throwIfAborted();
      if (outcome.is === 'result') return outcome.transcript;
      if (outcome.is === 'failed') throw outcome.error;
      attempts.count(outcome);
    }
  }

  function refuse(error: unknown): never {
    if (EngineError.is(error)) throw error;
    log.error({ err: error }, 'a ticket could not be added to the queue in Redis');
    const retryAfter = redisRetryAfterSeconds;
    throw new EngineError('overloaded', 'The queue cannot be reached; try again later.', { cause: error, retryAfter });
  }

  const { find, reconcile, oldestWaitMs } = calls;
  return { transcribe, find, reconcile, oldestWaitMs, [Symbol.dispose]: () => calls[Symbol.dispose]() };
}

/** The document for the worker. */
function documentOf(
  instance: string,
  { recording: { path: _here, ...recording }, ...call }: TranscriptionCall,
  { onSegment }: TranscriptionOptions,
  viaId: string,
): CallDocument {
  const { id, trace, caller = '' } = currentScope() ?? {};
  return {
    ...{ instance, call, recording },
    scope: {
      ...(id !== undefined && { id }),
      ...(trace && { trace }),
      caller,
      via: [...(currentVia() ?? []), viaId],
    },
    segments: onSegment !== undefined,
  };
}
