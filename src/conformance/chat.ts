/** The conformance checks for chat engines. An engine that passes can be used in the settings. */
import {
  EngineError,
  type AgentEvent,
  type CallerTool,
  type ChatCall,
  type ChatResult,
  type ImagePart,
  type Message,
  type Tool,
} from '../../engines/contract/index.ts';
import { createEventCheck } from '../engine-host/guard/events.ts';
import { parseObject } from '../../lib/json.ts';
import { expectAccepted, expectThat, expectValid, promptly, shown, type Check } from './kit.ts';
import { check, checksFor, featuresOf, firstAvailable, type Calls, type Opened, type Subject } from './subject.ts';

const question = [{ role: 'user', content: 'Say hello.' }] as const;
const toolRequest = [
  { role: 'user', content: 'Call the tool `repeat` with the text "alpha". Then repeat its whole result.' },
] as const;

/** A word that the model can learn only from the tool's result. */
const secretWord = 'quokka';
const noToolCall = 'the model called no tool; with --calls-tools this fails';

const jsonRequest = [
  { role: 'user', content: 'Answer with a JSON object that has the key "greeting", whose value says hello.' },
] as const;

/** One red pixel. */
const image: ImagePart = {
  ...{ type: 'image', mediaType: 'image/png' },
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
};
const imageQuestion: readonly Message[] = [
  { role: 'user', content: 'Say hello.', parts: [{ type: 'text', text: 'Say hello.' }, image] },
];

/** Fields that a model may reject, but only with one of the codes in `refusals`. */
const otherFields = [{ stop: ['no such text'] }, { seed: 1 }] as const;
const refusals: readonly string[] = ['parameter-not-supported', 'provider-rejected-request'];

export interface ChatSubject extends Subject {
  /** True if the model calls a tool when asked to. If no tool runs, the engine is then at fault. */
  readonly callsTools?: boolean;
}

const calls: Calls<ChatSubject> = {
  succeed: async (opened, changes, signal) => listen(complete(opened, changes, [], signal)),
  fail: async (opened) => listen(complete(opened, { model: 'no-such-model' })),
};

export const chatChecks: readonly Check<ChatSubject>[] = checksFor('chat', calls, [
  check('a question is answered, and the events follow the contract', async (opened) => {
    const events = await listen(complete(opened));
    const { content } = expectValidRun(events);
    expectThat(content !== '', 'the answer is empty');
  }),

  check('call parameters are accepted, including 0', async (opened) => {
    const call = { temperature: 0, topP: 1, maxTokens: 1000 };
    expectValidRun(await expectAccepted(listen(complete(opened, call)), shown(call)));
  }),

  check('a system message is accepted anywhere in the history', async (opened) => {
    const messages = [
      ...question,
      { role: 'assistant', content: 'Hello.' },
      { role: 'system', content: 'Be brief.' },
      ...question,
    ] as const;
    const answered = listen(complete(opened, { messages }));
    expectValidRun(await expectAccepted(answered, 'a system message in the middle'));
  }),

  check('a tool called by the model is run, and its result is used', async (opened) => {
    const given: unknown[] = [];
    const run: Tool['run'] = (args) => {
      given.push(args);
      return Promise.resolve(`${String(args.text)}, ${secretWord}`);
    };
    const tool = { ...repeated, run };
    const events = await listen(complete(opened, { messages: toolRequest }, [tool]));
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
    const tool = { ...repeated, run: () => Promise.reject(new Error('the tool is broken')) };
    const events = await listen(complete(opened, { messages: toolRequest }, [tool]));
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
      if (!featuresOf(opened.registry, 'chat').includes('tools')) return 'the model does not support tools';
      const tools = [repeated];
      const events = await expectAccepted(listen(complete(opened, { messages: toolRequest, tools })), 'a tool');
      const { content, toolCalls = [] } = expectValidRun(events, tools);
      const steps = events.filter(({ type }) => type === 'step-started');
      const isOneStep = events.every(({ type }) => !type.startsWith('tool-')) && steps.length === 1;
      expectThat(isOneStep, 'with tools of the caller, the run has more than one step, or runs tools itself');
      const outputs = toolCalls.map(
        ({ id }) => ({ role: 'tool', toolCallId: id, content: `alpha, ${secretWord}` }) as const,
      );
      const messages = [...toolRequest, { role: 'assistant', content, toolCalls } as const, ...outputs];
      const followUp = listen(complete(opened, { messages, tools }));
      const { content: said } = expectValidRun(await expectAccepted(followUp, 'the output of a tool'), tools);
      if (!opened.callsTools) return toolCalls.length === 0 ? noToolCall : undefined;
      expectThat(toolCalls.length > 0, 'the model was asked to call the tool, but the result has no tool calls');
      expectThat(said.includes(secretWord), `the caller returned "${secretWord}", but the answer is ${shown(said)}`);
      return undefined;
    },
  ),

  check('a model that supports images answers a message that has one', async (opened) => {
    if (!featuresOf(opened.registry, 'chat').includes('images')) return 'the model does not support images';
    const events = await expectAccepted(listen(complete(opened, { messages: imageQuestion })), 'an image');
    expectThat(expectValidRun(events).content !== '', 'the answer is empty');
    return undefined;
  }),

  check('a model that supports json answers with JSON, and refuses only what it cannot do', async (opened) => {
    if (!featuresOf(opened.registry, 'chat').includes('json')) return 'the model does not support json';
    const provider = { response_format: { type: 'json_object' } };
    const answered = listen(complete(opened, { messages: jsonRequest, provider }));
    const { content } = expectValidRun(await expectAccepted(answered, shown(provider)));
    expectThat(parseObject(content) !== undefined, `with ${shown(provider)} the answer is ${shown(content)}`);
    for (const field of otherFields) {
      const run = listen(complete(opened, { provider: field })).catch((error: unknown) => {
        if (EngineError.is(error) && refusals.includes(error.code)) return undefined;
        throw error;
      });
      const events = await expectAccepted(run, `${shown(field)}, or refused as not supported,`);
      if (events) expectValidRun(events);
    }
    return undefined;
  }),

  check('the stream ends promptly when the consumer stops reading', async (opened) => {
    const events = complete(opened)[Symbol.asyncIterator]();
    await events.next();
    await promptly(Promise.resolve(events.return?.()), 'return() after the first event');
  }),
]);

/** Calls the first available model unless the call names another one. */
function complete(
  { registry }: Opened<ChatSubject>,
  call: Partial<ChatCall> = {},
  tools: readonly Tool[] = [],
  signal = new AbortController().signal,
): AsyncIterable<AgentEvent> {
  const { engine, engineId } = firstAvailable(registry, 'chat');
  const run: unknown = engine.complete({ messages: question, model: engineId, ...call }, { signal, tools });
  const isRun = typeof run === 'object' && run !== null && Symbol.asyncIterator in run;
  expectThat(isRun, `\`complete\` returns ${shown(run)}, not an async iterable of events; write it as async *complete`);
  return run as AsyncIterable<AgentEvent>;
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

/**
 * Checks a successful run against the rules that the service enforces for every run, and returns its result. `tools`
 * are the caller's tools; without them, the result must not contain tool calls.
 */
function expectValidRun(yielded: readonly unknown[], tools: readonly CallerTool[] = []): ChatResult {
  const check = createEventCheck(tools.length > 0);
  const names = new Map<number, string>();
  let last: AgentEvent | undefined;
  for (const value of yielded) {
    expectThat(last?.type !== 'completed', 'completed is not the last event');
    const event = expectValid(check, value);
    expectThat(event !== undefined, 'an event of a tool is outside of its call');
    last = event;
    if (event.type === 'tool-started') names.set(event.call, event.name);
    if (event.type !== 'tool-finished') continue;
    const { call, name, durationMs } = event;
    expectThat(names.get(call) === name, `call ${call} finishes under a different name`);
    expectThat(durationMs >= 0, `${name} finishes with durationMs: ${durationMs}`);
  }
  expectThat(last?.type === 'completed', `a run ends with ${shown(last?.type)}, not with completed`);
  expectToolCalls(last.result, tools);
  return last.result;
}

function expectToolCalls({ finishReason, toolCalls = [] }: ChatResult, tools: readonly CallerTool[]): void {
  const isExplained = (finishReason === 'tool_calls') === toolCalls.length > 0;
  expectThat(isExplained, `the finish reason is ${finishReason}, and the tool calls are ${shown(toolCalls)}`);
  for (const { id, name } of toolCalls) {
    expectThat(id !== '', `a call of the tool ${name} has an empty id`);
    const known = tools.map((tool) => tool.name);
    expectThat(known.includes(name), `${shown(name)} is called; tools of the caller: ${known.join(', ') || 'none'}`);
  }
  expectThat(new Set(toolCalls.map(({ id }) => id)).size === toolCalls.length, 'two tool calls have the same id');
}
