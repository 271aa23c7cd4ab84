/** Chat completions: runs of the native API in OpenAI's format. */
import { answer } from '../contract/operations.ts';
import type { Services } from '../handlers/dependencies.ts';
import { requireOperation } from '../keys/permissions.ts';
import { ignoredHeader, modelHeader, resolveModel } from './aliases.ts';
import { createAnswer } from './chat-answer.ts';
import { createChunks, isFromProvider } from './chat-chunks.ts';
import { toCall } from './chat-request.ts';
import type { Handler } from './operations.ts';
import { ownTools, runStreamed, runWhole } from './run.ts';

export const createChatCompletion: Handler<'createChatCompletion', Services> = async (request, services) => {
  const { id, body } = request;
  const isStream = body.stream === true;
  requireOperation(isStream ? 'streamChat' : 'createChat');
  const model = resolveModel(services, 'chat', body.model);
  const { call, isCallersLoop, ignored } = toCall(body, model);
  const plan = { model, call, tools: ownTools(services, isCallersLoop, body.tool_choice), isStream };
  const facts = { id: `chatcmpl-${id}`, created: Math.floor(Date.now() / 1000), model: model.id };
  const head = { status: 200, headers: { ...modelHeader(model), ...ignoredHeader(ignored) } } as const;
  if (!isStream) {
    const completion = await runWhole(request, services, plan, createAnswer(facts));
    return answer({ ...head, mediaType: 'application/json', body: completion });
  }
  const format = createChunks(facts, { withUsage: body.stream_options?.include_usage === true });
  const chunks = await runStreamed(request, services, plan, { format, isFromProvider });
  return answer({ ...head, mediaType: 'text/event-stream', body: chunks });
};
