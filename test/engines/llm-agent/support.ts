/** The engine as the registry opens it, with a test provider behind it that streams what the test wants. */
import { onTestFinished } from 'vitest';
import type {
  AgentEvent,
  CallerTool,
  ChatCall,
  ChatResult,
  EngineContext,
  Tool,
  ToolEvent,
} from '../../../engines/contract/index.ts';
import { createRegistry } from '../../../src/engine-host/registry/registry.ts';
import type { ServedModel } from '../../../src/engine-host/models/served-models.ts';
import { startProvider, type Behavior, type RawProvider } from '../../support/provider.ts';
import { key } from '../providers/support.ts';

export { key, secret } from '../providers/support.ts';

export interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly facts: object;
  readonly message: string;
}

export interface RunOptions extends Omit<Partial<ChatCall>, 'tools'> {
  /** `ChatCall.tools`. */
  readonly callerTools?: readonly CallerTool[];
  /** Tools of the service. */
  readonly tools?: readonly Tool[];
  readonly signal?: AbortSignal;
}

export interface Agent {
  readonly log: readonly Line[];
  models(): readonly ServedModel<'chat'>[];
  /** Looks again, as the service does every 2 s. */
  recheck(): Promise<void>;
  /** The events of a run; by default with the first model and one question. */
  events(run?: RunOptions): AsyncIterable<AgentEvent>;
  /** All events, once the run has completed. */
  run(run?: RunOptions): Promise<AgentEvent[]>;
  /** The result of the last event. */
  ask(run?: RunOptions): Promise<ChatResult>;
  inspect: () => Promise<unknown>;
}

/** Disposed at the end of the test. */
export async function openAgent(options: Readonly<Record<string, unknown>>, facts: Partial<EngineContext> = {}) {
  const log: Line[] = [];
  const logger = (level: Line['level']) => (facts: object, message: string) => void log.push({ level, facts, message });
  const context = {
    ...{ now: Date.now, cores: 1, env: {}, fetch: () => Promise.reject(new Error('this is not the way out')) },
    providerHeaders: () => ({}),
    log: { debug: logger('debug'), info: logger('info'), warn: logger('warn'), error: logger('error') },
    ...facts,
  };
  const registry = await createRegistry({
    instances: { cloud: { use: 'llm-agent', ...options } },
    baseDir: import.meta.dirname,
    defaults: {},
    contextFor: (instance, { publish }) => ({ ...context, instance, publish }) as unknown as EngineContext,
  });
  onTestFinished(() => registry[Symbol.asyncDispose]());

  function events({ tools = [], callerTools, signal = new AbortController().signal, ...call }: RunOptions = {}) {
    const models = registry.of('chat').all;
    const model = call.model === undefined ? models[0] : models.find(({ id }) => id === call.model);
    if (model === undefined) throw new Error(`no model ${String(call.model)}`);
    const messages = [{ role: 'user', content: 'What is the capital of France?' }] as const;
    const own = callerTools && { tools: callerTools };
    return model.engine.complete({ messages, ...call, ...own, model: model.engineId }, { signal, tools });
  }
  const agent: Agent = {
    log,
    events,
    models: () => registry.of('chat').all,
    recheck: () => registry.recheck(),
    async run(run) {
      const seen: AgentEvent[] = [];
      for await (const event of events(run)) seen.push(event);
      return seen;
    },
    async ask(run) {
      const last = (await agent.run(run)).at(-1);
      if (last?.type !== 'completed') throw new Error('the run did not complete');
      return last.result;
    },
    inspect: async () => (await registry.inspect())[0]!.findings,
  };
  return agent;
}

/** With a raw provider of this behavior, which serves the model `remote`. */
export async function startAgent(
  behavior: Behavior | readonly Behavior[],
  options: Readonly<Record<string, unknown>> = {},
): Promise<Agent & { readonly provider: RawProvider }> {
  const provider = await startProvider();
  provider.behave(...[behavior].flat());
  const agent = await openAgent({ baseUrl: provider.baseUrl, apiKey: key, models: ['remote'], ...options });
  return { ...agent, provider };
}

/** The requests that the provider received. */
export async function sentTo(provider: RawProvider): Promise<Record<string, unknown>[]> {
  const bodies = await Promise.all(provider.calls.map(({ body }) => body));
  return bodies.map((body) => JSON.parse(String(body)) as Record<string, unknown>);
}

// ------------------------------------------------------------------------------------------------ its responses

/** A chunk of /chat/completions. */
export function chunk(delta: object, finish: string | null = null, more: object = {}): object {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'remote', choices, ...more };
}

export const usageChunk = (prompt: number, completion: number, details?: object) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [],
  usage: {
    ...{ prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    ...(details && { completion_tokens_details: details }),
  },
});

export const says = (text: string) => streams(chunk({ content: text }), chunk({}, 'stop'));

/** As OpenAI streams a call: its head, then its arguments in pieces. */
export function calls(...list: readonly { id?: string; name: string; args: string }[]): Behavior {
  const chunks = list.flatMap(({ id = `call_${list.length}`, name, args }, index) => [
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    chunk({ tool_calls: [{ index, function: { arguments: args.slice(0, 3) } }] }),
    chunk({ tool_calls: [{ index, function: { arguments: args.slice(3) } }] }),
  ]);
  return streams(...chunks, chunk({}, 'tool_calls'));
}

const toText = (event: object | string) => (typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`);

/** A stream of these events and `[DONE]`; strings are sent as they are. */
export function streams(...events: readonly (object | string)[]): Behavior {
  return sends(`${events.map(toText).join('')}data: [DONE]\n\n`);
}

/** A stream of these events without anything after them. */
export function streamsOnly(...events: readonly (object | string)[]): Behavior {
  return sends(events.map(toText).join(''));
}

/** The pieces as the body of a 200, each in its own packet. */
export function sends(...pieces: readonly (string | Buffer)[]): Behavior {
  return async ({ body, socket }) => {
    await body;
    socket.setNoDelay(true);
    socket.write(streamHead);
    for (const piece of pieces) {
      socket.write(framed(piece));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    socket.write('0\r\n\r\n');
  };
}

export const streamHead = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';

/** As one chunk of the transfer encoding. */
export function framed(piece: string | Buffer): Buffer {
  const bytes = Buffer.from(piece);
  return bytes.length === 0
    ? bytes
    : Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** Starts a stream with these events and leaves it open. */
export function stallsAfter(...events: readonly object[]): Behavior {
  return async ({ body, socket }) => {
    await body;
    socket.write(Buffer.concat([Buffer.from(streamHead), framed(events.map(toText).join(''))]));
  };
}

// --------------------------------------------------------------------------------------------------- its tools

export function tool(
  name: string,
  run: (
    args: Readonly<Record<string, unknown>>,
    call: { signal: AbortSignal; emit: (event: ToolEvent) => void },
  ) => unknown,
): Tool {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  return {
    name,
    description: `It does ${name}.`,
    parameters,
    run: async (args, call) => String(await run(args, call)),
  };
}

export const weather = tool('weather', ({ city }) => `Sunny in ${String(city)}.`);

/** One behavior for /models, another one for chat. */
export const serves =
  (models: Behavior, chat: Behavior = says('Hi.')): Behavior =>
  (call) =>
    (call.path === '/v1/models' ? models : chat)(call);

export interface Discovering {
  readonly options?: Readonly<Record<string, unknown>>;
  readonly now?: () => number;
}

/** Without the option `models`. */
export async function openWithDiscovery(behavior: Behavior, { options = {}, now = Date.now }: Discovering = {}) {
  const provider = await startProvider();
  provider.behave(serves(behavior));
  const agent = await openAgent({ baseUrl: provider.baseUrl, ...options }, { now });
  const ids = async () => (await agent.recheck(), agent.models().map(({ id }) => id));
  const listings = () => provider.calls.filter(({ path }) => path === '/v1/models').length;
  return { ...agent, provider, ids, listings };
}
