/** A chat run, shared by all chat operations. Non-streaming answers are built from the same events. */
import { setImmediate } from 'node:timers/promises';
import { EngineError, type AgentEvent, type ChatCall, type Tool } from '../../engines/contract/index.ts';
import { currentUsage } from '../request-scope.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { linkedSignal, type LinkedSignal } from '../../lib/abort.ts';
import type { Registry } from '../engine-host/registry/registry.ts';
import { requireAvailable } from '../engine-host/models/model-selection.ts';
import type { OperationRequest } from '../contract/operations.ts';
import type { ToolOptions, ToolSource } from '../tools/toolbox.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { ChatRecord } from './chat-record.ts';
import { createWholeCharacters } from './whole-characters.ts';

type RunRequest = Pick<OperationRequest<'createChat'>, 'id' | 'signal' | 'log'>;

interface RunServices {
  readonly registry: Registry;
  readonly tools: ToolSource;
  readonly metrics?: Metrics | undefined;
}

export interface RunPlan<Event> {
  readonly model: ServedModel<'chat'>;
  readonly call: Omit<ChatCall, 'model'>;
  /** Options of the service's own tools; null if the run has no such tools. */
  readonly tools: ToolOptions | null;
  /** Whether the caller reads the events as a stream. */
  readonly isStream: boolean;
  readonly format: RunFormat<Event>;
}

/** Converts the events of one run to the events of an operation. */
export interface RunFormat<Event> {
  /** Returns the events to emit before the engine is called. */
  start(): readonly Event[];
  /** Converts an event. Events arrive in a valid order; the last one is `completed`. */
  toEvents(event: AgentEvent): readonly Event[];
}

/**
 * Starts a run. Resolves with its events, which end with those for `completed`; later failures are thrown during
 * iteration. Pull-based: the engine continues only when the next event is requested.
 */
export async function startRun<Event>(
  request: RunRequest,
  services: RunServices,
  plan: RunPlan<Event>,
): Promise<AsyncGenerator<Event, void, undefined>> {
  requireAvailable(plan.model, services.registry.of('chat'));
  const usage = currentUsage();
  if (usage) usage.model = plan.model.id;
  const scope = linkedSignal(request.signal);
  try {
    const { signal } = scope;
    const tools = plan.tools
      ? await scope.race(services.tools.toolsFor({ ...plan.tools, id: request.id, signal }))
      : noTools;
    return run(request, plan, { tools, scope, metrics: services.metrics });
  } catch (error) {
    scope.end(error);
    throw error;
  }
}

const noTools: readonly Tool[] = [];

interface RunContext {
  readonly tools: readonly Tool[];
  /**
   * Cancels all work of the run when it fails or its caller disconnects. Nothing is canceled after the run has
   * completed.
   */
  readonly scope: LinkedSignal;
  readonly metrics: Metrics | undefined;
}

async function* run<Event>(
  { id, log, signal }: RunRequest,
  { model, call, format, isStream }: RunPlan<Event>,
  { tools, scope, metrics }: RunContext,
): AsyncGenerator<Event, void, undefined> {
  const inWholeCharacters = createWholeCharacters();
  const toEvents = (event: AgentEvent) => inWholeCharacters(event).flatMap((whole) => format.toEvents(whole));
  const record = new ChatRecord({ model, messages: call.messages, tools, isStream, signal }, metrics);
  const fail = (reason: unknown) => {
    if (record.isOver) return;
    record.fail(reason);
    scope.end(reason);
  };
  try {
    for (const event of format.start()) yield event;
    scope.signal.throwIfAborted();
    const answering = model.engine.complete(
      { ...call, model: model.engineId },
      { signal: scope.signal, tools, onUsage: record.onUsage },
    );
    const events = answering[Symbol.asyncIterator]();
    // A generator at an `await` delays `return()`, and one that never awaits ignores the signal, so this uses both.
    const leave = () => void end(events).catch((err: unknown) => log.debug({ id, err }, 'an engine failed to stop'));
    scope.signal.addEventListener('abort', leave);
    for (let count = 1; ; count += 1) {
      if (count % eventsPerTurn === 0) await setImmediate();
      const next = await events.next();
      if (next.done) throw new EngineError('engine-failed', 'The engine ended without a result.');
      const event = next.value;
      if (event.type !== 'completed') {
        record.see(event);
        for (const shown of toEvents(event)) yield shown;
        continue;
      }
      record.complete(event);
      scope[Symbol.dispose]();
      leave();
      for (const shown of toEvents(event)) yield shown;
      return;
    }
  } catch (error) {
    fail(error);
    throw error;
  } finally {
    fail(readerLeft);
  }
}

/** Number of events between turns of the event loop, for engines that yield without awaiting. */
const eventsPerTurn = 1_000;

/** Created once, because each new error captures a stack trace. */
const readerLeft = new Error('the reader of the run has ended');

async function end(events: AsyncIterator<AgentEvent>): Promise<void> {
  await events.return?.();
}
