/** A chat run, for both operations: the non-streaming answer is the last event of the same run. */
import { setImmediate } from 'node:timers/promises';
import { EngineError, type AgentEvent, type ChatCall, type Tool } from '../../engines/contract/index.ts';
import type { ServedModel } from '../engine-host/registry.ts';
import { linkedSignal, type LinkedSignal } from '../../lib/abort.ts';
import { chooseModel, requireAvailable } from '../engine-host/model-selection.ts';
import type { OperationRequest } from '../contract/operations.ts';
import type { Services } from '../handlers/dependencies.ts';
import { createClipOrder } from './clip-order.ts';
import { toChatEvent, type ChatEvent } from './events.ts';
import { createEventOrder } from './event-order.ts';

/** Of `createChat` or `streamChat`. */
type ChatRequest = Pick<OperationRequest<'createChat'>, 'id' | 'body' | 'signal' | 'log'>;

/**
 * Starts a run. Resolves with its events up to `chat.completed`; failures are thrown. Pull-based: the engine only
 * continues when the next event is requested.
 */
export async function startRun(
  request: ChatRequest,
  services: Services,
): Promise<AsyncGenerator<ChatEvent, void, undefined>> {
  const { voice_id = null, tts_model = null } = request.body;
  const model = await chooseModel(services.registry, 'chat', request.body.model);
  await requireAvailable(model);
  const scope = linkedSignal(request.signal);
  try {
    const tools = await scope.race(
      services.tools.toolsFor({ id: request.id, voice_id, tts_model, signal: scope.signal }),
    );
    return run(request, services, { model, tools, scope });
  } catch (error) {
    scope[Symbol.dispose]();
    scope.abort(error);
    throw error;
  }
}

interface RunContext {
  readonly model: ServedModel<'chat'>;
  readonly tools: readonly Tool[];
  /** Whatever the run has begun ends when it fails or its caller disconnects; once it is completed, nothing does. */
  readonly scope: LinkedSignal;
}

async function* run(
  { id, body, log }: ChatRequest,
  { linkTo }: Services,
  { model, tools, scope }: RunContext,
): AsyncGenerator<ChatEvent, void, undefined> {
  const facts = { model: model.id, linkTo };
  const isEmitted = createEventOrder();
  const inOrder = createClipOrder();
  let seq = 0;
  let isCompleted = false;
  const fail = (reason: unknown) => {
    if (isCompleted) return;
    scope[Symbol.dispose]();
    scope.abort(reason);
  };
  try {
    yield { type: 'chat.started', seq: seq++, id, model: model.id };
    scope.signal.throwIfAborted();
    const answering = model.engine.complete(toCall(body, model.engineId), { signal: scope.signal, tools });
    const events = answering[Symbol.asyncIterator]();
    // A generator that awaits does not see `return()`, and one that does not await does not see the signal: use both.
    const leave = () => void end(events).catch((err: unknown) => log.debug({ id, err }, 'an engine failed to stop'));
    scope.signal.addEventListener('abort', leave);
    for (let count = 1; ; count += 1) {
      if (count % eventsPerTurn === 0) await setImmediate();
      const next = await scope.race(events.next());
      if (next.done) throw new EngineError('engine-failed', 'The engine ended without a result.');
      const event = next.value;
      if (!isEmitted(event)) continue;
      if ('call' in event) {
        for (const shown of inOrder(event)) yield toChatEvent(shown, seq++, facts);
        continue;
      }
      if (event.type === 'completed') {
        isCompleted = true;
        scope[Symbol.dispose]();
        leave();
        yield toChatEvent(event, seq, facts);
        return;
      }
      yield toChatEvent(event, seq++, facts);
    }
  } catch (error) {
    fail(error);
    throw error;
  } finally {
    fail(readerLeft);
  }
}

/** An engine that yields without ever awaiting must not block the event loop. */
const eventsPerTurn = 1_000;

/** Created once: each new error captures a stack. */
const readerLeft = new Error('the reader of the run has ended');

async function end(events: AsyncIterator<AgentEvent>): Promise<void> {
  await events.return?.();
}

function toCall({ messages, temperature, max_tokens, top_p }: ChatRequest['body'], model: string): ChatCall {
  return {
    messages: messages.map(({ role, content }) => ({ role, content })),
    model,
    ...(temperature != null && { temperature }),
    ...(max_tokens != null && { maxTokens: max_tokens }),
    ...(top_p != null && { topP: top_p }),
  };
}
