/**
 * The Responses API: runs of the native API, presented as items. Only the items to which later requests may refer are
 * stored.
 */
import { answer } from '../../contract/operations.ts';
import type { Services } from '../../handlers/dependencies.ts';
import { requireOperation } from '../../keys/permissions.ts';
import type { RunFormat } from '../../chat/run.ts';
import { ignoredHeader, modelHeader, resolveModel } from '../aliases.ts';
import { toErrorResponse } from '../errors.ts';
import type { Handler } from '../operations.ts';
import { ownTools, runStreamed, runWhole } from '../run.ts';
import type { ResponseObject } from './answer.ts';
import { createResponseEvents, type ResponseEvent } from './events.ts';
import { toCall } from './request.ts';
import { calledTool } from './tools.ts';

export const createResponse: Handler<'createResponse', Services> = async (request, services) => {
  const { id, body } = request;
  const isStream = body.stream === true;
  requireOperation(isStream ? 'streamChat' : 'createChat');
  const model = resolveModel(services, 'chat', body.model);
  const { call, isCallersLoop, inNamespace, ignored } = toCall(body, model, services.items);
  const plan = { model, call, tools: ownTools(services, isCallersLoop, body.tool_choice), isStream };
  const created = Math.floor(Date.now() / 1000);
  const facts = { id: `resp_${id.replaceAll('-', '')}`, created, model: model.id, request: body };
  const format = createResponseEvents(facts, {
    calledAs: (called) => calledTool(called, inNamespace),
    keep: (itemId, item) => {
      if (body.store !== false) services.items?.keep(itemId, item);
    },
  });
  const head = { status: 200, headers: { ...modelHeader(model), ...ignoredHeader(ignored) } } as const;
  if (!isStream) {
    const response = await runWhole(request, services, plan, wholeOf(format));
    return answer({ ...head, mediaType: 'application/json', body: response });
  }
  return answer({
    ...head,
    mediaType: 'text/event-stream',
    body: await runStreamed(request, services, plan, { format, isFromProvider }),
    failed: (problem, reason) => format.failed(toErrorResponse({ body: problem }, reason).error),
  });
};

/** Wraps the format so that it yields only one event: the response contained in the last event. */
function wholeOf(format: RunFormat<ResponseEvent>): RunFormat<ResponseObject> {
  return {
    start: () => [],
    toEvents(event) {
      const last = format.toEvents(event).at(-1);
      return last && 'response' in last ? [last.response] : [];
    },
  };
}

/** Returns false for the first two events, which only announce the run. */
function isFromProvider({ type }: ResponseEvent): boolean {
  return type !== 'response.created' && type !== 'response.in_progress';
}
