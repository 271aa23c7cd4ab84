/** Chat completions: the runs of the native API in OpenAI's shape. */
import type { AgentEvent } from '../../engines/contract/index.ts';
import { delayStart } from '../chat/delayed-start.ts';
import { startRun, type RunFormat, type RunPlan } from '../chat/run.ts';
import type { Services } from '../handlers/dependencies.ts';
import { ignoredHeader, modelHeader, resolveModel } from './aliases.ts';
import { readAnswer, type AnswerFacts } from './chat-answer.ts';
import { createChunks, isFromProvider } from './chat-chunks.ts';
import { toCall } from './chat-request.ts';
import { afterEffects } from './errors.ts';
import { answer, type Handler, type OperationRequest } from './operations.ts';

type Request = OperationRequest<'createChatCompletion'>;

export const createChatCompletion: Handler<'createChatCompletion', Services> = async (request, services) => {
  const { id, body } = request;
  const model = await resolveModel(services, 'chat', body.model);
  const { call, isCallersLoop, ignored } = toCall(body, model);
  const offersOwn = services.compatTools && !isCallersLoop && body.tool_choice !== 'none';
  const plan = { model, call, tools: offersOwn ? { readAloud: false } : null };
  const facts = { id: `chatcmpl-${id}`, created: Math.floor(Date.now() / 1000), model: model.id };
  const head = { status: 200, headers: { ...modelHeader(model), ...ignoredHeader(ignored) } } as const;
  return body.stream === true
    ? answer({ ...head, mediaType: 'text/event-stream', body: await streamed(request, services, plan, facts) })
    : answer({ ...head, mediaType: 'application/json', body: await whole(request, services, plan, facts) });
};

type Plan = Omit<RunPlan<never>, 'format'>;

function whole(request: Request, services: Services, plan: Plan, facts: AnswerFacts) {
  const format: RunFormat<AgentEvent> = { start: () => [], toEvents: (event) => [event] };
  return withEffects(request, format, async (watched) =>
    readAnswer(await startRun(request, services, { ...plan, format: watched }), facts),
  );
}

function streamed(request: Request, services: Services, plan: Plan, facts: AnswerFacts) {
  const format = createChunks(facts, { withUsage: request.body.stream_options?.include_usage === true });
  return withEffects(request, format, async (watched) => {
    const chunks = await startRun(request, services, { ...plan, format: watched });
    return delayStart(chunks, services.streamHoldMs, isFromProvider);
  });
}

/** Once the provider has begun to answer, tools may have acted: clients must not repeat a request that fails then. */
async function withEffects<Event, Result>(
  { signal }: Request,
  format: RunFormat<Event>,
  work: (watched: RunFormat<Event>) => Promise<Result>,
): Promise<Result> {
  let hasBegun = false;
  const toEvents = (event: AgentEvent) => {
    hasBegun ||= event.type !== 'step-started' || event.step > 0;
    return format.toEvents(event);
  };
  try {
    return await work({ start: format.start, toEvents });
  } catch (error) {
    // The reason of the signal is shared: other requests may have had no effects.
    const own = error === signal.reason ? new Error('the run was aborted', { cause: error }) : error;
    throw hasBegun ? afterEffects(own) : error;
  }
}
