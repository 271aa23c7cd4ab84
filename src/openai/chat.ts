/** Chat completions: the runs of the native API in OpenAI's shape. */
import { delayStart } from '../../lib/delayed-start.ts';
import { startRun, type RunFormat, type RunPlan } from '../chat/run.ts';
import type { Services } from '../handlers/dependencies.ts';
import { requireOperation } from '../keys/permissions.ts';
import { ignoredHeader, modelHeader, resolveModel } from './aliases.ts';
import { createAnswer, type AnswerFacts } from './chat-answer.ts';
import { createChunks, isFromProvider } from './chat-chunks.ts';
import { toCall } from './chat-request.ts';
import { markEffects } from './errors.ts';
import { answer, type Handler, type OperationRequest } from './operations.ts';

type Request = OperationRequest<'createChatCompletion'>;

export const createChatCompletion: Handler<'createChatCompletion', Services> = async (request, services) => {
  const { id, body } = request;
  requireOperation(body.stream === true ? 'streamChat' : 'createChat');
  const model = await resolveModel(services, 'chat', body.model);
  const { call, isCallersLoop, ignored } = toCall(body, model);
  const offersOwn = services.compatTools && !isCallersLoop && body.tool_choice !== 'none';
  const plan = { model, call, tools: offersOwn ? { readAloud: false } : null, isStream: body.stream === true };
  const facts = { id: `chatcmpl-${id}`, created: Math.floor(Date.now() / 1000), model: model.id };
  const head = { status: 200, headers: { ...modelHeader(model), ...ignoredHeader(ignored) } } as const;
  return body.stream === true
    ? answer({ ...head, mediaType: 'text/event-stream', body: await streamed(request, services, plan, facts) })
    : answer({ ...head, mediaType: 'application/json', body: await whole(request, services, plan, facts) });
};

type Plan = Omit<RunPlan<never>, 'format'>;

async function whole(request: Request, services: Services, plan: Plan, facts: AnswerFacts) {
  const format = markingEffects(createAnswer(facts), request.signal);
  for await (const completion of await startRun(request, services, { ...plan, format })) return completion;
  throw new Error('a run has neither failed nor completed');
}

async function streamed(request: Request, services: Services, plan: Plan, facts: AnswerFacts) {
  const chunks = createChunks(facts, { withUsage: request.body.stream_options?.include_usage === true });
  const format = markingEffects(chunks, request.signal);
  return delayStart(await startRun(request, services, { ...plan, format }), services.streamHoldMs, isFromProvider);
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
