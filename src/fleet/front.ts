/**
 * A front: has its transcriptions done by workers. It is the source of truth for its calls: Redis may lose every ticket
 * and any worker may die, and the front places them again.
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
import { follow, forSeveralAttempts } from './follow.ts';
import type { CallDocument } from './call-protocol.ts';
import type { FleetLimits } from './timeouts.ts';
import type { Nodes } from './nodes.ts';
import type { Shares } from './admission.ts';
import { newId } from './ticket.ts';
import { createWaitingCalls, type WaitingCalls, type WaitingCallsOptions } from './waiting-calls.ts';

export interface FrontOptions extends Pick<WaitingCallsOptions, 'queueOf' | 'ticketFor'> {
  readonly nodes: Pick<Nodes, 'absentMs' | 'workersOf'>;
  readonly shares: Pick<Shares, 'take'>;
  /** The id of this service in chains of services. */
  readonly viaId: () => string;
  readonly limits: FleetLimits;
  readonly log: Logger;
}

export interface Front extends Pick<WaitingCalls, 'find' | 'look' | 'oldestWaitMs'>, Disposable {
  /** `transcribe` of an instance, run by a worker. */
  readonly transcribe: (
    instance: string,
    call: TranscriptionCall,
    options: TranscriptionOptions,
  ) => Promise<Transcript>;
}

const redisRetryAfterSeconds = 5;

export function createFront({ nodes, shares, viaId, log, ...options }: FrontOptions): Front {
  const calls = createWaitingCalls({ ...options, nodes, refuse });

  async function transcribe(instance: string, call: TranscriptionCall, options: TranscriptionOptions) {
    const { signal } = options;
    const { usage, caller = '', key } = currentScope() ?? {};
    const document = documentOf(instance, call, options, viaId());
    const listeners = forSeveralAttempts(options);
    const attempts = createAttempts({ instance, workersOf: nodes.workersOf, log });
    signal.throwIfAborted();
    using share = await shares.take({ id: newId(), instance, caller, weight: key?.weight ?? 1 }).catch(refuse);
    const { priority } = share;
    for (let isFirst = true; ; isFirst = false) {
      const placedAt = performance.now();
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
      const line = await traced('queue wait', {}, () => calls.findWorker(wanted, signal));
      listeners.begin();
      if (usage) usage.queueMs = (usage.queueMs ?? 0) + performance.now() - placedAt;
      const outcome = await follow(line, listeners, signal);
      signal.throwIfAborted();
      if (outcome.is === 'result') return outcome.transcript;
      if (outcome.is === 'failed') throw outcome.error;
      attempts.count(outcome);
    }
  }

  function refuse(error: unknown): never {
    if (EngineError.is(error)) throw error;
    log.error({ err: error }, 'a ticket could not be placed in Redis');
    const retryAfter = redisRetryAfterSeconds;
    throw new EngineError('overloaded', 'The queue cannot be reached; try again later.', { cause: error, retryAfter });
  }

  const { find, look, oldestWaitMs } = calls;
  return { transcribe, find, look, oldestWaitMs, [Symbol.dispose]: () => calls[Symbol.dispose]() };
}

/** What the worker gets. */
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
