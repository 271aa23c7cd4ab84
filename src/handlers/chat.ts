import { delayStart } from '../chat/delayed-start.ts';
import { isFromProvider } from '../chat/events.ts';
import { startRun } from '../chat/run.ts';
import { listModels, toEntry } from '../engine-host/model-selection.ts';
import { answer, type Handler, type Schemas } from '../contract/operations.ts';
import type { Services } from './dependencies.ts';

export const createChat: Handler<'createChat', Services> = async (request, services) => {
  /** By call, in the order in which the model made them. */
  const clips = new Map<string, Schemas['Audio'][]>();
  for await (const event of await startRun(request, services)) {
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

/** RFC 8288. */
function toLink({ url, content_type }: Schemas['Audio']): string {
  return `<${url}>; rel="enclosure"; type="${content_type}"`;
}

export const streamChat: Handler<'streamChat', Services> = async (request, services) => {
  const run = await startRun(request, services);
  return answer({
    status: 200,
    mediaType: 'text/event-stream',
    body: await delayStart(run, services.streamHoldMs, isFromProvider),
  });
};

export const listChatModels: Handler<'listChatModels', Services> = async (_request, { registry }) => {
  const { models, default: standard } = await listModels(registry, 'chat');
  const data = await Promise.all(models.map((model) => toEntry(model)));
  return answer({ status: 200, mediaType: 'application/json', body: { data, default: standard?.id ?? null } });
};
