/** The conformance checks for chat engines. An engine that passes can be used in the settings. */
import {
  EngineError,
  type AgentEvent,
  type CallerTool,
  type ChatCall,
  type ChatResult,
  type Feature,
  type Tool,
  type ToolCall,
  type Usage,
} from '../../engines/contract/index.ts';
import { createEventOrder } from '../chat/event-order.ts';
import { expectRejection, expectAccepted, expectThat, Nonconformance, promptly, shown, type Check } from './kit.ts';
import { abortAtSeveralMoments, check, checksFor, firstAvailable, type Opened, type Subject } from './subject.ts';

const question = [{ role: 'user', content: 'Say hello.' }] as const;
const toolRequest = [
  { role: 'user', content: 'Call the tool `repeat` with the text "alpha". Then repeat its whole result.' },
] as const;

/** Only the tool knows this word. */
const secretWord = 'quokka';
const noToolCall = 'the model called no tool; with --calls-tools this fails';

const jsonRequest = [
  { role: 'user', content: 'Answer with a JSON object that has the key "greeting", whose value says hello.' },
] as const;

/** Fields that a model may refuse, but only as what they are. */
const otherFields = [{ stop: ['no such text'] }, { seed: 1 }] as const;
const refusals: readonly string[] = ['parameter-not-supported', 'provider-rejected-request'];

export interface ChatSubject extends Subject {
  /** Set if the model calls a tool when asked to; a tool that is not run is then the engine's fault. */
  readonly callsTools?: boolean;
}

export const chatChecks: readonly Check<ChatSubject>[] = checksFor('chat', endInEveryWay, [
  check('an unknown model is rejected', async (opened) => {
    const call = listen(await complete(opened, { model: 'no-such-model' }));
    await expectRejection('unknown-model', call, 'the model "no-such-model"');
  }),

  check('a question is answered, and the events follow the contract', async (opened) => {
    const events = await listen(await complete(opened));
    const { content } = expectValidRun(events);
    expectThat(content !== '', 'the answer is empty');
  }),

  check('call parameters are accepted, including 0', async (opened) => {
    const call = { temperature: 0, topP: 1, maxTokens: 1000 };
    expectValidRun(await expectAccepted(listen(await complete(opened, call)), shown(call)));
  }),

  check('a system message is accepted anywhere in the history', async (opened) => {
    const messages = [
      ...question,
      { role: 'assistant', content: 'Hello.' },
      { role: 'system', content: 'Be brief.' },
      ...question,
    ] as const;
    const answered = listen(await complete(opened, { messages }));
    expectValidRun(await expectAccepted(answered, 'a system message in the middle'));
  }),

  check('a tool called by the model is run, and its result is used', async (opened) => {
    const given: unknown[] = [];
    const tool = repeat((args) => {
      given.push(args);
      return Promise.resolve(`${String(args.text)}, ${secretWord}`);
    });
    const events = await listen(await complete(opened, { messages: toolRequest }, [tool]));
    const { content } = expectValidRun(events);
    const calls = events.filter((event) => event.type === 'tool-started' && event.name === tool.name);
    expectThat(
      calls.length === given.length,
      `${calls.length} tool-started events, but the tool ran ${given.length} times`,
    );
    if (!opened.callsTools) return given.length === 0 ? noToolCall : undefined;
    expectThat(given.length > 0, 'the model was asked to call the tool, but the tool was not run');
    expectThat(content.includes(secretWord), `the tool returned "${secretWord}", but the answer is ${shown(content)}`);
    return undefined;
  }),

  check('a failing tool does not fail the chat', async (opened) => {
    const tool = repeat(() => Promise.reject(new Error('the tool is broken')));
    const events = await listen(await complete(opened, { messages: toolRequest }, [tool]));
    expectValidRun(events);
    const finished = events.filter((event) => event.type === 'tool-finished' && event.name === tool.name);
    expectThat(
      finished.every((event) => event.type === 'tool-finished' && !event.ok && typeof event.error === 'string'),
      'a failed tool call is reported as successful',
    );
    return finished.length === 0 ? noToolCall : undefined;
  }),

  check(
    'a model that supports tools returns its calls of the caller’s tools, and reads their outputs',
    async (opened) => {
      if (!(await supports(opened, 'tools'))) return 'the model does not support tools';
      const tools = [repeated];
      const events = await expectAccepted(listen(await complete(opened, { messages: toolRequest, tools })), 'a tool');
      const { content, toolCalls = [] } = expectValidRun(events, tools);
      const isOneStep = events.every(({ type }) => !type.startsWith('tool-')) && stepsOf(events) === 1;
      expectThat(isOneStep, 'with tools of the caller, the run has more than one step, or runs tools itself');
      const outputs = toolCalls.map(
        ({ id }) => ({ role: 'tool', toolCallId: id, content: `alpha, ${secretWord}` }) as const,
      );
      const messages = [...toolRequest, { role: 'assistant', content, toolCalls } as const, ...outputs];
      const followUp = listen(await complete(opened, { messages, tools }));
      const { content: said } = expectValidRun(await expectAccepted(followUp, 'the output of a tool'), tools);
      if (!opened.callsTools) return toolCalls.length === 0 ? noToolCall : undefined;
      expectThat(toolCalls.length > 0, 'the model was asked to call the tool, but the result has no tool calls');
      expectThat(said.includes(secretWord), `the caller returned "${secretWord}", but the answer is ${shown(said)}`);
      return undefined;
    },
  ),

  check('a model that supports json answers with JSON, and refuses only what it cannot do', async (opened) => {
    if (!(await supports(opened, 'json'))) return 'the model does not support json';
    const provider = { response_format: { type: 'json_object' } };
    const answered = listen(await complete(opened, { messages: jsonRequest, provider }));
    const { content } = expectValidRun(await expectAccepted(answered, shown(provider)));
    expectThat(isJsonObject(content), `with ${shown(provider)} the answer is ${shown(content)}`);
    for (const field of otherFields) {
      const run = listen(await complete(opened, { provider: field })).catch((error: unknown) => {
        if (EngineError.is(error) && refusals.includes(error.code)) return undefined;
        throw error;
      });
      const events = await expectAccepted(run, `${shown(field)}, or refused as not supported,`);
      if (events) expectValidRun(events);
    }
    return undefined;
  }),

  check('an aborted call rejects promptly with the abort reason', async (opened) => {
    await abortAtSeveralMoments(opened, async (signal) => listen(await complete(opened, {}, [], signal)));
  }),

  check('the stream ends promptly when the consumer stops reading', async (opened) => {
    const events = (await complete(opened))[Symbol.asyncIterator]();
    await events.next();
    await promptly(Promise.resolve(events.return?.()), 'return() after the first event');
  }),
]);

/** One call that succeeds, one that fails, and one that is aborted. */
async function endInEveryWay(opened: Opened<ChatSubject>, call: Partial<ChatCall> = {}): Promise<void> {
  await listen(await complete(opened, call));
  await listen(await complete(opened, { model: 'no-such-model' })).catch(() => undefined);
  const aborted = AbortSignal.timeout(20);
  await listen(await complete(opened, call, [], aborted)).catch(() => undefined);
}

/** Calls the first available model, unless the call names another. */
async function complete(
  { registry }: Opened<ChatSubject>,
  call: Partial<ChatCall> = {},
  tools: readonly Tool[] = [],
  signal = new AbortController().signal,
): Promise<AsyncIterable<AgentEvent>> {
  const { engine, engineId } = await firstAvailable(registry, 'chat');
  const run: unknown = engine.complete({ messages: question, model: engineId, ...call }, { signal, tools });
  const isRun = typeof run === 'object' && run !== null && Symbol.asyncIterator in run;
  expectThat(isRun, `\`complete\` returns ${shown(run)}, not an async iterable of events; write it as async *complete`);
  return run as AsyncIterable<AgentEvent>;
}

async function supports({ registry }: Opened<ChatSubject>, feature: Feature): Promise<boolean> {
  const { entry } = await firstAvailable(registry, 'chat');
  return entry.supports?.includes(feature) ?? false;
}

function stepsOf(events: readonly AgentEvent[]): number {
  return events.filter(({ type }) => type === 'step-started').length;
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

async function listen(run: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

const repeated = {
  name: 'repeat',
  description: 'Returns the given text, followed by a word of its own.',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
} as const satisfies CallerTool;

function repeat(run: (args: Readonly<Record<string, unknown>>) => Promise<string>): Tool {
  return { ...repeated, run };
}

/**
 * Checks a successful run against the rules that the service enforces for every run; returns its result. `tools` are the
 * caller's: without them there are no calls to return.
 */
export function expectValidRun(events: readonly AgentEvent[], tools: readonly CallerTool[] = []): ChatResult {
  const last = events.at(-1);
  const isOnTime = createEventOrder();
  const names = new Map<number, string>();
  for (const event of events) {
    expectEvent(event);
    expectThat(event === last || event.type !== 'completed', 'completed is not the last event');
    expectThat(isInOrder(isOnTime, event), `${event.type} is outside of its call`);
    if (event.type === 'tool-started') names.set(event.call, event.name);
    if (event.type === 'tool-finished') {
      expectThat(names.get(event.call) === event.name, `call ${event.call} finishes under a different name`);
    }
  }
  expectThat(last?.type === 'completed', `a run ends with ${shown(last?.type)}, not with completed`);
  expectToolCalls(last.result, tools);
  return last.result;
}

function isInOrder(rules: ReturnType<typeof createEventOrder>, event: AgentEvent): boolean {
  try {
    return rules(event);
  } catch (error) {
    throw new Nonconformance(((error as Error).cause as Error).message);
  }
}

/** The fields of an event that clients receive; the order is checked elsewhere. */
function expectEvent(event: AgentEvent): void {
  expectThat(
    typeof event === 'object' && (event as unknown) !== null,
    `a run yields ${shown(event)}, which is not an event`,
  );
  if (event.type === 'completed') expectResult(event.result);
  if (event.type === 'tool-started') {
    const { name, arguments: given } = event;
    const isObject = typeof given === 'object' && (given as unknown) !== null && !Array.isArray(given);
    expectThat(typeof name === 'string' && name !== '', `tool-started has the name ${shown(name)}`);
    expectThat(isObject, `the arguments of ${name} are ${shown(given)}, which is not an object`);
  }
  if (event.type === 'tool-finished') {
    const { name, ok, output = '', error = '', durationMs } = event;
    expectThat(typeof ok === 'boolean', `${name} finishes with ok: ${shown(ok)}`);
    expectThat(typeof output === 'string', `${name} finishes with the output ${shown(output)}, which is not a string`);
    expectThat(typeof error === 'string', `${name} finishes with the error ${shown(error)}, which is not a string`);
    expectThat(durationMs >= 0, `${name} finishes with durationMs: ${shown(durationMs)}`);
  }
}

function expectToolCalls({ finishReason, toolCalls }: ChatResult, tools: readonly CallerTool[]): void {
  const calls: readonly ToolCall[] = toolCalls ?? [];
  expectThat(
    (finishReason === 'tool_calls') === calls.length > 0,
    `the finish reason is ${shown(finishReason)}, and the tool calls are ${shown(toolCalls)}`,
  );
  for (const { id, name, arguments: given } of calls) {
    const known = tools.map((tool) => tool.name).join(', ') || 'none';
    expectThat(typeof id === 'string' && id !== '', `a tool call has the id ${shown(id)}`);
    expectThat(
      tools.some((tool) => tool.name === name),
      `${shown(name)} is called; tools of the caller: ${known}`,
    );
    expectThat(typeof given === 'string', `the arguments of ${name} are ${shown(given)}, which is not a string`);
  }
  expectThat(new Set(calls.map(({ id }) => id)).size === calls.length, 'two tool calls have the same id');
}

function expectResult(result: ChatResult): void {
  expectThat(typeof result === 'object' && (result as unknown) !== null, `the result is ${shown(result)}`);
  const { content, finishReason, reasoning, usage } = result;
  expectThat(typeof content === 'string', `the content is ${shown(content)}`);
  expectThat(
    ['stop', 'length', 'content_filter', 'tool_calls'].includes(finishReason),
    `the finish reason is ${shown(finishReason)}`,
  );
  expectThat(reasoning === null || typeof reasoning === 'string', `the reasoning is ${shown(reasoning)}`);
  if (usage === null) return;
  const names: readonly (keyof Usage)[] = ['promptTokens', 'completionTokens', 'totalTokens', 'reasoningTokens'];
  for (const name of names) {
    expectThat(Number.isInteger(usage[name]) && usage[name] >= 0, `the usage has ${name}: ${shown(usage[name])}`);
  }
}
