/**
 * For random runs, of engines that keep to their contract and of some that do not: the stream keeps every promise,
 * and ends as the plain answer does.
 */
import {
  assert,
  asyncProperty,
  constant,
  constantFrom,
  nat,
  array,
  oneof,
  record,
  string,
  tuple,
} from '../support/fast-check.ts';
import type { Arbitrary } from '../support/fast-check.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectGuarantees } from '../chat/support/guarantees.ts';
import {
  audio,
  chatOf,
  completed,
  content,
  emit,
  reasoning,
  scripted,
  stepStarted,
  toolFinished,
  toolStarted,
  type Action,
  type Script,
} from '../chat/support/script.ts';
import { readStream, type EventOf } from '../chat/support/stream.ts';
import { createApi, type Api } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let api: Api;

beforeAll(async () => {
  service = await startTestService(scripted);
  api = createApi(service.url);
});
afterAll(() => service[Symbol.asyncDispose]());

const delta = string({ unit: 'binary', maxLength: 12 });

/** Deltas and tools of a step, with the step's number still open. */
type Part = (step: number) => Action[];

const said: Arbitrary<Part> = record({ make: constantFrom(content, reasoning), delta }).map(
  ({ make, delta }) =>
    (step) => [make(step, delta)],
);

/** Several calls at once; what happens to them afterwards is in any order. */
const tools: Arbitrary<Part> = tuple(nat(4), array(nat(9), { maxLength: 12 })).map(([count, order]) => (step) => {
  const actions = Array.from({ length: count }, (_none, call) => toolStarted(step, call));
  const running = Array.from({ length: count }, (_none, call) => call);
  for (const pick of order) {
    if (running.length === 0) break;
    const call = running[pick % running.length]!;
    const event = { type: 'progress', progress: pick } as const;
    if (pick % 3 === 0) actions.push(audio(step, call, `clip-${step}-${call}-${pick}`));
    else if (pick % 3 === 1) actions.push(emit({ type: 'tool-event', step, call, event }));
    else actions.push(toolFinished(step, ...(running.splice(running.indexOf(call), 1) as [number])));
  }
  return [...actions, ...running.reverse().map((call) => toolFinished(step, call))];
});

const step: Arbitrary<Part> = tuple(array(said, { maxLength: 5 }), tools, array(said, { maxLength: 2 })).map(
  ([before, calls, after]) =>
    (number) => [stepStarted(number), ...[...before, calls, ...after].flatMap((part) => part(number))],
);

function finished(actions: readonly Action[]): Action {
  let text = '';
  const thoughts: string[] = [];
  for (const action of actions) {
    const event = 'emit' in action ? (action.emit as { type: string; step: number; delta: string }) : undefined;
    if (event?.type === 'step-started') text = '';
    if (event?.type === 'content-delta') text += event.delta;
    if (event?.type === 'reasoning-delta') thoughts[event.step] = (thoughts[event.step] ?? '') + event.delta;
  }
  return completed(text, thoughts.filter((thought) => thought !== '').join('\n\n') || null);
}

/** A run as an engine should tell it. */
const lawful: Arbitrary<Script> = array(step, { minLength: 1, maxLength: 4 }).map((steps) => {
  const actions = steps.flatMap((part, number) => part(number));
  return [...actions, finished(actions)];
});

const intrusion: Arbitrary<Action> = oneof(
  constantFrom<Action[]>(
    { fail: 'provider-error' },
    { fail: 'provider-rate-limited', retryAfter: 3 },
    { fail: 'context-length-exceeded' },
    { crash: 'unforeseen' },
    emit({ type: 'nonsense' } as never),
    { emit: null },
    { emit: { type: 'content-delta', step: 0 } },
  ),
  tuple(nat(3), nat(4)).chain(([step, call]) =>
    constantFrom(
      stepStarted(step),
      content(step, 'x'),
      toolStarted(step, call),
      toolFinished(step, call),
      audio(step, call, 'stray'),
      completed('stray'),
      completed(''),
    ),
  ),
);

/** A run in which something goes wrong, or stops too soon: at any place, also after its result. */
const troubled: Arbitrary<Script> = tuple(lawful, nat(60), oneof(intrusion, constant(undefined))).map(
  ([script, at, action]) =>
    action ? script.toSpliced(at % (script.length + 1), 0, action) : script.slice(0, at % script.length),
);

/** What a failure is, whichever request it belongs to. */
const nameless = (problem: object) => ({ ...problem, instance: 'any' });

async function endsAlike(script: Script): Promise<'completed' | 'failed' | 'refused'> {
  const [{ answer, events }, plain] = await Promise.all([
    readStream(service.url, chatOf(script)),
    api.post('/api/v1/chat', chatOf(script)),
  ]);
  if (answer.status !== 200) {
    expect(events).toEqual([]);
    expect(nameless(answer.problem)).toEqual(nameless(plain.problem));
    expect(answer.headers.get('retry-after')).toBe(plain.headers.get('retry-after'));
    return 'refused';
  }
  expectGuarantees(events);
  const last = events.at(-1) as EventOf<'chat.completed' | 'chat.failed'>;
  if (last.type === 'chat.failed') {
    expect(nameless(last.problem)).toEqual(nameless(plain.problem));
    return 'failed';
  }
  expect(plain.status).toBe(200);
  expect(last.result).toEqual(plain.body);
  const created = events.filter((event) => event.type === 'audio.created').map(({ audio }) => audio.url);
  const linked = [...(plain.headers.get('link') ?? '').matchAll(/<([^>]*)>/g)].map(([, url]) => url);
  expect(linked.toSorted()).toEqual(created.toSorted());
  return 'completed';
}

it('a valid run completes, with the events of the engine', async () => {
  await assert(
    asyncProperty(lawful, async (script) => {
      expect(await endsAlike(script)).toBe('completed');
    }),
    { numRuns: 100 },
  );
}, 120_000);

it('a failing run keeps every guarantee', async () => {
  const outcomes = new Set<string>();
  await assert(
    asyncProperty(troubled, async (script) => {
      outcomes.add(await endsAlike(script));
    }),
    { numRuns: 150 },
  );
  expect(outcomes).toEqual(new Set(['completed', 'failed', 'refused']));
}, 120_000);
