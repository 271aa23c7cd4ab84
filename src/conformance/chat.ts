/** The rules for engines of chat. An engine that keeps them can be put into the settings. */
import type { AgentEvent, ChatCall, ChatResult, Tool, Usage } from '../../engines/contract/index.ts';
import { createEventOrder } from '../chat/event-order.ts';
import { expectRefusal, expectTaken, expectThat, Nonconformance, promptly, shown, type Check } from './kit.ts';
import {
  check,
  endingChecks,
  firstThatWorks,
  leaveAtSeveralMoments,
  listingChecks,
  localCheck,
  optionsCheck,
  type Opened,
  type Subject,
} from './subject.ts';

const question = [{ role: 'user', content: 'Say hello.' }] as const;
const wish = [
  { role: 'user', content: 'Call the tool `repeat` with the text "alpha". Then say all that it answered.' },
] as const;

/** What the tool alone knows. */
const ownWord = 'quokka';
const noCall = 'its model called none; with --calls-tools, that breaks the rule';

export interface ChatSubject extends Subject {
  /** The model with which it works calls a tool when it is asked to: nobody but the engine can then be to blame. */
  readonly callsTools?: boolean;
}

export const chatChecks: readonly Check<ChatSubject>[] = [
  ...listingChecks('chat'),

  check('a model that it does not serve is refused', async (opened) => {
    const call = listen(await complete(opened, { model: 'no-such-model' }));
    await expectRefusal('unknown-model', call, 'the model "no-such-model"');
  }),

  check('a question is answered, and the events obey the contract', async (opened) => {
    const events = await listen(await complete(opened));
    const { content } = expectLawful(events);
    expectThat(content !== '', 'the answer is empty');
  }),

  check('settings of the caller are taken, 0 among them', async (opened) => {
    const call = { temperature: 0, topP: 1, maxTokens: 1000 };
    expectLawful(await expectTaken(listen(await complete(opened, call)), shown(call)));
  }),

  check('a system message may stand anywhere in the history', async (opened) => {
    const messages = [
      ...question,
      { role: 'assistant', content: 'Hello.' },
      { role: 'system', content: 'Be brief.' },
      ...question,
    ] as const;
    const answered = listen(await complete(opened, { messages }));
    expectLawful(await expectTaken(answered, 'a system message in the middle'));
  }),

  check('a tool that the model calls is run, and its answer is used', async (opened) => {
    const given: unknown[] = [];
    const tool = repeat((args) => {
      given.push(args);
      return Promise.resolve(`${String(args.text)}, ${ownWord}`);
    });
    const events = await listen(await complete(opened, { messages: wish }, [tool]));
    const { content } = expectLawful(events);
    const calls = events.filter((event) => event.type === 'tool-started' && event.name === tool.name);
    expectThat(calls.length === given.length, `it tells of ${calls.length} calls, but ran ${given.length}`);
    if (!opened.callsTools) return given.length === 0 ? noCall : undefined;
    expectThat(given.length > 0, 'its model was asked to call the tool, and the tool was not run');
    expectThat(content.includes(ownWord), `the tool answered "${ownWord}", the model says ${shown(content)}`);
    return undefined;
  }),

  check('a tool that fails does not fail the chat', async (opened) => {
    const tool = repeat(() => Promise.reject(new Error('the tool is broken')));
    const events = await listen(await complete(opened, { messages: wish }, [tool]));
    expectLawful(events);
    const finished = events.filter((event) => event.type === 'tool-finished' && event.name === tool.name);
    expectThat(
      finished.every((event) => event.type === 'tool-finished' && !event.ok && typeof event.error === 'string'),
      'a tool that failed is told as one that did not',
    );
    return finished.length === 0 ? noCall : undefined;
  }),

  check('a caller who leaves is let go at once, with the reason', async (opened) => {
    await leaveAtSeveralMoments(opened, async (signal) => listen(await complete(opened, {}, [], signal)));
  }),

  check('who stops listening is let go at once', async (opened) => {
    const events = (await complete(opened))[Symbol.asyncIterator]();
    await events.next();
    await promptly(Promise.resolve(events.return?.()), 'leaving after the first event');
  }),

  localCheck('chat', endInEveryWay),

  ...endingChecks(endInEveryWay),

  optionsCheck,
];

/** A success, a failure, and a caller who leaves. */
async function endInEveryWay(opened: Opened<ChatSubject>, call: Partial<ChatCall> = {}): Promise<void> {
  await listen(await complete(opened, call));
  await listen(await complete(opened, { model: 'no-such-model' })).catch(() => undefined);
  const gone = AbortSignal.timeout(20);
  await listen(await complete(opened, call, [], gone)).catch(() => undefined);
}

/** Asks the first model that works, unless the call names another. */
async function complete(
  { registry }: Opened<ChatSubject>,
  call: Partial<ChatCall> = {},
  tools: readonly Tool[] = [],
  signal = new AbortController().signal,
): Promise<AsyncIterable<AgentEvent>> {
  const { engine, engineId } = await firstThatWorks(registry, 'chat');
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

function repeat(run: (args: Readonly<Record<string, unknown>>) => Promise<string>): Tool {
  return {
    name: 'repeat',
    description: 'Answers the text that it is given, and a word of its own.',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    run,
  };
}

/** Holds a run that succeeded against the rules that the service holds every run to; returns its result. */
export function expectLawful(events: readonly AgentEvent[]): ChatResult {
  const last = events.at(-1);
  const isOnTime = createEventOrder();
  const names = new Map<number, string>();
  for (const event of events) {
    expectEvent(event);
    expectThat(event === last || event.type !== 'completed', 'a run has two results');
    expectThat(keptBy(isOnTime, event), `${event.type} comes while its call does not run`);
    if (event.type === 'tool-started') names.set(event.call, event.name);
    if (event.type === 'tool-finished') {
      expectThat(names.get(event.call) === event.name, `call ${event.call} finishes under another name`);
    }
  }
  expectThat(last?.type === 'completed', `a run ends with ${shown(last?.type)}, not with its result`);
  return last.result;
}

function keptBy(rules: ReturnType<typeof createEventOrder>, event: AgentEvent): boolean {
  try {
    return rules(event);
  } catch (error) {
    throw new Nonconformance(((error as Error).cause as Error).message);
  }
}

/** What readers of the stream are told of it, beside its place. */
function expectEvent(event: AgentEvent): void {
  expectThat(
    typeof event === 'object' && (event as unknown) !== null,
    `a run yields ${shown(event)}, which is no event`,
  );
  if (event.type === 'completed') expectResult(event.result);
  if (event.type === 'tool-started') {
    const { name, arguments: given } = event;
    const isObject = typeof given === 'object' && (given as unknown) !== null && !Array.isArray(given);
    expectThat(typeof name === 'string' && name !== '', `a tool that starts has the name ${shown(name)}`);
    expectThat(isObject, `the arguments of ${name} are ${shown(given)}, which is no object`);
  }
  if (event.type === 'tool-finished') {
    const { name, ok, output = '', error = '', durationMs } = event;
    expectThat(typeof ok === 'boolean', `${name} finishes with ok: ${shown(ok)}`);
    expectThat(typeof output === 'string', `${name} finishes with the output ${shown(output)}, which is no text`);
    expectThat(typeof error === 'string', `${name} finishes with the error ${shown(error)}, which is no text`);
    expectThat(durationMs >= 0, `${name} finishes with durationMs: ${shown(durationMs)}`);
  }
}

function expectResult(result: ChatResult): void {
  expectThat(typeof result === 'object' && (result as unknown) !== null, `the result is ${shown(result)}`);
  const { content, finishReason, reasoning, usage } = result;
  expectThat(typeof content === 'string', `the content is ${shown(content)}`);
  expectThat(
    ['stop', 'length', 'content_filter'].includes(finishReason),
    `the finish reason is ${shown(finishReason)}`,
  );
  expectThat(reasoning === null || typeof reasoning === 'string', `the reasoning is ${shown(reasoning)}`);
  if (usage === null) return;
  const names: readonly (keyof Usage)[] = ['promptTokens', 'completionTokens', 'totalTokens', 'reasoningTokens'];
  for (const name of names) {
    expectThat(Number.isInteger(usage[name]) && usage[name] >= 0, `the usage has ${name}: ${shown(usage[name])}`);
  }
}
