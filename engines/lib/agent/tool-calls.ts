/** Runs the tool calls of a round concurrently and yields their events. */
import type { AgentEvent, Tool, ToolEvent } from '../../contract/index.ts';
import { onAbort } from '../../../lib/abort.ts';
import { parseObject, type JsonObject } from '../../../lib/json.ts';

/** A tool call as the model sent it. */
export interface CallRequest {
  readonly id: string;
  readonly name: string;
  /** JSON in most cases, but models make mistakes. */
  readonly arguments: string;
}

export interface ToolCall {
  readonly request: CallRequest;
  /** Undefined if the arguments are not a JSON object. */
  readonly args: JsonObject | undefined;
}

/** An empty string means no arguments. */
export function toToolCall(request: CallRequest): ToolCall {
  const args = request.arguments.trim() === '' ? {} : parseObject(request.arguments);
  // Invalid JSON is not sent back: some providers reject a history that contains it.
  return { request: args ? request : { ...request, arguments: '{}' }, args };
}

type CallEvent = Extract<AgentEvent, { call: number }>;

/** Limit of the event queue under backpressure: beyond it, progress events are dropped. No other event is that frequent. */
const maxQueued = 256;

/**
 * Returns one output per call, for the model to read. Throws the signal's reason as soon as the signal aborts, even if
 * tools ignore it; their later events are dropped.
 */
export async function* runToolCalls(
  calls: readonly ToolCall[],
  { step, tools, signal }: { readonly step: number; readonly tools: readonly Tool[]; readonly signal: AbortSignal },
): AsyncGenerator<CallEvent, string[]> {
  const queue: CallEvent[] = [];
  let wake = () => {};
  const enqueue = (event: CallEvent) => {
    queue.push(event);
    wake();
  };
  const outputs: string[] = [];
  let running = calls.length;

  async function run({ request, args }: ToolCall, call: number): Promise<void> {
    const { name } = request;
    const head = { step, call } as const;
    const tool = tools.find((candidate) => candidate.name === name);
    const started = performance.now();
    let isOver = false;
    const emit = (event: ToolEvent) => {
      if (isOver || signal.aborted || (event.type === 'progress' && queue.length >= maxQueued)) return;
      enqueue({ type: 'tool-event', ...head, event });
    };
    enqueue({ type: 'tool-started', ...head, name, arguments: args ?? {} });
    const outcome = await settle(async () => {
      if (!tool) throw new Error(`Unknown tool "${name}"; available tools: ${namesOf(tools)}.`);
      if (!args) throw new Error('The arguments are not a JSON object. Call the tool again with valid JSON.');
      return await tool.run(args, { signal, emit });
    });
    isOver = true;
    outputs[call] = outcome.ok ? outcome.output : `Error: ${outcome.error}`;
    running -= 1;
    enqueue({ type: 'tool-finished', ...head, name, ...outcome, durationMs: performance.now() - started });
  }

  const off = onAbort(signal, () => wake());
  try {
    calls.forEach((call, index) => void run(call, index));
    while (running > 0 || queue.length > 0) {
      signal.throwIfAborted();
      const event = queue.shift();
      if (event) yield event;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    signal.throwIfAborted();
    return outputs;
  } finally {
    off();
  }
}

type ToolOutcome = { readonly ok: true; readonly output: string } | { readonly ok: false; readonly error: string };

async function settle(work: () => Promise<string>): Promise<ToolOutcome> {
  try {
    return { ok: true, output: await work() };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}

function namesOf(tools: readonly Tool[]): string {
  return tools.length === 0 ? 'none' : tools.map(({ name }) => name).join(', ');
}
