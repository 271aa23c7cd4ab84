/**
 * A front delegates transcriptions to workers. It is the source of truth for its calls: when Redis loses a ticket or a
 * worker dies, the front queues the call again.
 */
import {
  EngineError,
  type Logger,
  type TranscriptionCall,
  type TranscriptionOptions,
} from '../../engines/contract/index.ts';
import { currentScope, currentVia } from '../request-scope.ts';
import { traced } from '../trace.ts';
import { createAttempts } from './attempts.ts';
import { errorOf, forSeveralAttempts, readToLast } from './follow.ts';
import type { CallDocument } from './call-protocol.ts';
import type { FleetTimeouts } from './timeouts.ts';
import type { Nodes } from './nodes.ts';
import type { Admissions } from './admission.ts';
import { newId } from './ticket.ts';
import { createWaitingCalls, type WaitingCallsOptions } from './waiting-calls.ts';

export interface FrontOptions extends Pick<WaitingCallsOptions, 'queueOf' | 'ticketFor'> {
  readonly nodes: Pick<Nodes, 'absentMs' | 'workersOf'>;
  readonly admissions: Pick<Admissions, 'admit'>;
  /** The id of this service in chains of services. */
  readonly viaId: () => string;
  readonly timeouts: FleetTimeouts;
  readonly log: Logger;
}

export type Front = ReturnType<typeof createFront>;

const redisRetryAfterSeconds = 5;

export function createFront({ nodes, admissions, viaId, log, ...options }: FrontOptions) {
  const calls = createWaitingCalls({ ...options, nodes, refuse });

  /** Runs `transcribe` of the instance on a worker. */
  async function transcribe(instance: string, call: TranscriptionCall, options: TranscriptionOptions) {
    const { signal } = options;
    const { usage, caller = '', key } = currentScope() ?? {};
    const document = documentOf(instance, call, options, viaId());
    const listeners = forSeveralAttempts(options);
    const attempts = createAttempts({ instance, workersOf: nodes.workersOf, log });
    signal.throwIfAborted();
    using admission = await admissions.admit({ id: newId(), instance, caller, weight: key?.weight ?? 1 }).catch(refuse);
    const { priority } = admission;
    const { onQueued } = listeners;
    const request = { instance, document, recordingPath: call.recording.path, priority, onQueued };
    for (let isFirst = true; ; isFirst = false) {
      const queuedAt = performance.now();
      const attempt = { ...request, isFirst, returnedBy: attempts.returnedBy };
      const connection = await traced('queue wait', {}, () => calls.findWorker(attempt, signal));
      listeners.begin();
      if (usage) usage.queueMs = (usage.queueMs ?? 0) + performance.now() - queuedAt;
      const last = await readToLast(connection, listeners, signal);
      signal.throwIfAborted();
      if (last?.type === 'result') {
        if (usage && last.gapMs !== undefined) usage.gapMs = last.gapMs;
        return last.transcript;
      }
      if (last?.type === 'failed') throw errorOf(last);
      if (last) attempts.countReturned(last);
      else attempts.countLost();
    }
  }

  function refuse(error: unknown): never {
    if (EngineError.is(error)) throw error;
    log.error({ err: error }, 'a ticket could not be added to the queue in Redis');
    const retryAfter = redisRetryAfterSeconds;
    throw new EngineError('overloaded', 'The queue cannot be reached; try again later.', { cause: error, retryAfter });
  }

  return { ...calls, transcribe };
}

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
