/** Runs the tool calls of a round, all at once, and tells what happens while it does. */
import type { AgentEvent, Tool, ToolEvent } from '../../contract/index.ts';
import { parseObject, type JsonObject } from '../../../lib/json.ts';

/** A call as the model makes it. */
export interface CallRequest {
  readonly id: string;
  readonly name: string;
  /** JSON, if the model has done well. */
  readonly arguments: string;
}

export interface ToolCall {
  readonly request: CallRequest;
  /** Undefined: the model has not written a JSON object. */
  readonly args: JsonObject | undefined;
}

/** A call without arguments is often an empty text. */
export function toToolCall(request: CallRequest): ToolCall {
  const args = request.arguments.trim() === '' ? {} : parseObject(request.arguments);
  // Bad JSON is not said again: there are providers that refuse a history with it.
  return { request: args ? request : { ...request, arguments: '{}' }, args };
}

type CallEvent = Extract<AgentEvent, { call: number }>;

/** What waits for a reader who does not read: beyond it, progress is dropped. Nothing else comes in such numbers. */
const mostWaiting = 256;

/**
 * Returns what the model reads, an output for each call. Rejects with the signal's reason as soon as it aborts, whether
 * or not the tools heed it; what they still say after that is not heard.
 */
export async function* runToolCalls(
  calls: readonly ToolCall[],
  { step, tools, signal }: { readonly step: number; readonly tools: readonly Tool[]; readonly signal: AbortSignal },
): AsyncGenerator<CallEvent, string[]> {
  const waiting: CallEvent[] = [];
  let wake = () => {};
  const tell = (event: CallEvent) => {
    waiting.push(event);
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
      if (isOver || signal.aborted || (event.type === 'progress' && waiting.length >= mostWaiting)) return;
      tell({ type: 'tool-event', ...head, event });
    };
    tell({ type: 'tool-started', ...head, name, arguments: args ?? {} });
    const outcome = await settle(async () => {
      if (!tool) throw new Error(`There is no tool "${name}"; ${namesOf(tools)}.`);
      if (!args) throw new Error('The arguments are no JSON object. Call the tool again with valid JSON.');
      return await tool.run(args, { signal, emit });
    });
    isOver = true;
    outputs[call] = outcome.ok ? outcome.output : `Error: ${outcome.error}`;
    running -= 1;
    tell({ type: 'tool-finished', ...head, name, ...outcome, durationMs: performance.now() - started });
  }

  const leave = () => wake();
  signal.addEventListener('abort', leave, { once: true });
  try {
    calls.forEach((call, index) => void run(call, index));
    while (running > 0 || waiting.length > 0) {
      signal.throwIfAborted();
      const event = waiting.shift();
      if (event) yield event;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    signal.throwIfAborted();
    return outputs;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

type Outcome = { readonly ok: true; readonly output: string } | { readonly ok: false; readonly error: string };

async function settle(work: () => Promise<string>): Promise<Outcome> {
  try {
    return { ok: true, output: await work() };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}

function namesOf(tools: readonly Tool[]): string {
  return tools.length === 0 ? 'there are none' : `there are ${tools.map(({ name }) => name).join(', ')}`;
}
