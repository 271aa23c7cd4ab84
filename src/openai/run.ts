/** Chat runs under /v1, shared by chat completions and responses. */
import { delayStart } from '../../lib/delayed-start.ts';
import type { AgentEvent } from '../../engines/contract/index.ts';
import { startRun, type RunFormat, type RunPlan } from '../chat/run.ts';
import type { OperationRequest as NativeRequest } from '../contract/operations.ts';
import type { Services } from '../handlers/dependencies.ts';
import { markEffects } from './errors.ts';

type Request = Pick<NativeRequest<'createChat'>, 'id' | 'signal' | 'log'>;
export type Plan = Omit<RunPlan<never>, 'format'>;

/**
 * Returns the options of the service's own tools for a run; null if the run has none. They are never combined with the
 * caller's tools.
 */
export function ownTools(services: Services, isCallersLoop: boolean, choice: unknown): RunPlan<never>['tools'] {
  return services.compatTools && !isCallersLoop && choice !== 'none' ? { readAloud: false } : null;
}

/** Runs to the end, and resolves with the only event of the format. */
export async function runWhole<Answer>(
  request: Request,
  services: Services,
  plan: Plan,
  format: RunFormat<Answer>,
): Promise<Answer> {
  const marking = markingEffects(withoutRetracted(format), request.signal);
  for await (const answer of await startRun(request, services, { ...plan, format: marking })) return answer;
  throw new Error('a run has neither failed nor completed');
}

/** Holds the content of each step until the step is over, and omits retracted content. */
function withoutRetracted<Event>(format: RunFormat<Event>): RunFormat<Event> {
  let held: AgentEvent[] = [];
  return {
    start: () => format.start(),
    toEvents(event) {
      switch (event.type) {
        case 'content-delta':
          held.push(event);
          return [];
        case 'content-retracted':
          held = [];
          return [];
        case 'reasoning-delta':
          return format.toEvents(event);
        default: {
          const ended = [...held, event];
          held = [];
          return ended.flatMap((one) => format.toEvents(one));
        }
      }
    },
  };
}

/** Resolves with the events once the first event from the provider has arrived, or after `streamHoldMs`. */
export async function runStreamed<Event>(
  request: Request,
  services: Services,
  plan: Plan,
  { format, isFromProvider }: { readonly format: RunFormat<Event>; readonly isFromProvider: (event: Event) => boolean },
): Promise<AsyncIterable<Event>> {
  const marking = markingEffects(format, request.signal);
  const events = await startRun(request, services, { ...plan, format: marking });
  return delayStart(events, services.streamHoldMs, isFromProvider);
}

/**
 * Marks the request once the provider has begun to answer. Tools may have run by then, so clients must not retry after
 * a later failure.
 */
function markingEffects<Event>(format: RunFormat<Event>, signal: AbortSignal): RunFormat<Event> {
  let hasBegun = false;
  return {
    start: () => format.start(),
    toEvents(event) {
      if (!hasBegun && (event.type !== 'step-started' || event.step > 0)) {
        hasBegun = true;
        markEffects(signal);
      }
      return format.toEvents(event);
    },
  };
}
