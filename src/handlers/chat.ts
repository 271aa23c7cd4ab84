import type { ChatCall } from '../../engines/contract/index.ts';
import { delayStart } from '../../lib/delayed-start.ts';
import { createChatEvents, isFromProvider, type ChatEvent } from '../chat/events.ts';
import { startRun, type RunPlan } from '../chat/run.ts';
import { chooseModel, listModels, toEntry, toList } from '../engine-host/models/model-selection.ts';
import { answer, type Handler, type OperationRequest, type Schemas } from '../contract/operations.ts';
import type { Services } from './dependencies.ts';

export const createChat: Handler<'createChat', Services> = async (request, services) => {
  /** Clips by tool call, in the order of the calls. */
  const clips = new Map<string, Schemas['Audio'][]>();
  for await (const event of await startChat(request, services, { isStream: false })) {
    if (event.type === 'tool.started') clips.set(event.id, []);
    if (event.type === 'audio.created') clips.get(event.id)?.push(event.audio);
    if (event.type !== 'chat.completed') continue;
    const links = [...clips.values()].flat().map(toLink);
    return answer({
      status: 200,
      mediaType: 'application/json',
      headers: links.length > 0 ? { Link: links.join(', ') } : {},
      body: event.result,
    });
  }
  throw new Error('a run has neither failed nor completed');
};

/** Formats a Link header value (RFC 8288). */
function toLink({ url, content_type }: Schemas['Audio']): string {
  return `<${url}>; rel="enclosure"; type="${content_type}"`;
}

export const streamChat: Handler<'streamChat', Services> = async (request, services) => {
  const run = await startChat(request, services, { isStream: true });
  return answer({
    status: 200,
    mediaType: 'text/event-stream',
    body: await delayStart(run, services.streamHoldMs, isFromProvider),
  });
};

/** Resolves with the events of a run. */
export async function startChat(
  request: Pick<OperationRequest<'createChat'>, 'id' | 'body' | 'signal' | 'log'>,
  services: Services,
  { isStream }: Pick<RunPlan<ChatEvent>, 'isStream'>,
): Promise<AsyncGenerator<ChatEvent, void, undefined>> {
  const { id, body } = request;
  const { voice_id = null, tts_model = null } = body;
  const model = chooseModel(services.registry, 'chat', body.model);
  return startRun(request, services, {
    model,
    call: toCall(body),
    tools: { voice_id, tts_model },
    isStream,
    format: createChatEvents({ id, model: model.id, linkTo: services.linkTo, isStream }),
  });
}

function toCall({ messages, temperature, max_tokens, top_p }: Schemas['ChatRequest']): Omit<ChatCall, 'model'> {
  return {
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(temperature != null && { temperature }),
    ...(max_tokens != null && { maxTokens: max_tokens }),
    ...(top_p != null && { topP: top_p }),
  };
}

export const listChatModels: Handler<'listChatModels', Services> = (_request, { registry }) => {
  const listing = listModels(registry, 'chat');
  const data = listing.models.map((model) => toEntry(model));
  return Promise.resolve(answer({ status: 200, mediaType: 'application/json', body: toList(listing, data) }));
};
