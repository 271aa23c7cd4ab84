/** Runs of chats under /v1, whichever operation has asked for them. */
import { delayStart } from '../../lib/delayed-start.ts';
import { startRun, type RunFormat, type RunPlan } from '../chat/run.ts';
import type { OperationRequest as NativeRequest } from '../contract/operations.ts';
import type { Services } from '../handlers/dependencies.ts';
import { markEffects } from './errors.ts';

type Request = Pick<NativeRequest<'createChat'>, 'id' | 'signal' | 'log'>;
export type Plan = Omit<RunPlan<never>, 'format'>;

/** The service's own tools for a run; null: none. Never beside those of the caller. */
export function ownTools(services: Services, isCallersLoop: boolean, choice: unknown): RunPlan<never>['tools'] {
  return services.compatTools && !isCallersLoop && choice !== 'none' ? { readAloud: false } : null;
}

/** Resolves with the only event of the format. */
export async function runWhole<Answer>(
  request: Request,
  services: Services,
  plan: Plan,
  format: RunFormat<Answer>,
): Promise<Answer> {
  const marking = markingEffects(format, request.signal);
  for await (const answer of await startRun(request, services, { ...plan, format: marking })) return answer;
  throw new Error('a run has neither failed nor completed');
}

/** Resolves with the events once there is one from the provider, or after a while. */
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

/** Once the provider has begun to answer, tools may have acted: clients must not retry a request that fails later. */
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
