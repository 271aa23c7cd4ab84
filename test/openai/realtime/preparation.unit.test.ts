/** How the models of a conversation are warmed up before the turn that they answer. */
import { expect, it } from 'vitest';
import type { ChatCall, ChatEngine } from '../../../engines/contract/index.ts';
import { openConversation } from '../../../src/openai/realtime/conversation-config.ts';
import type { TurnEvent } from '../../../src/realtime/speech-session.ts';
import { never, written } from '../../realtime/answering.ts';
import { checkSessions, openSession, servicesWith } from './support.ts';

checkSessions();

interface Seen {
  readonly call: ChatCall;
  readonly signal: AbortSignal;
}

type WarmUp = NonNullable<ChatEngine['warmUp']>;

/** A session with a model that answers `answer`. */
function open(answer: ChatEngine['complete'] = () => written(['Once upon a time.']), isConfigured = false) {
  const [prepared, answered]: [Seen[], Seen[]] = [[], []];
  const engine = {
    warmUp(call, { signal }) {
      prepared.push({ call, signal });
      return prepared.length > 1 ? Promise.reject(new Error('out of memory')) : never();
    },
    complete(call, options) {
      answered.push({ call, signal: options.signal });
      return answer(call, options);
    },
  } satisfies Pick<ChatEngine, 'complete'> & { warmUp: WarmUp };
  const services = servicesWith(undefined, { engine });
  const config = openConversation(services, undefined);
  const opening = isConfigured ? { services, session: { type: 'realtime' } as const } : { services };
  const session = openSession(opening, config);
  const turn = (...events: readonly object[]) => {
    for (const event of events) session.speech.emit(event as TurnEvent);
    return session.exchange();
  };
  return {
    ...{ session, prepared, answered },
    configure: (...instructions: readonly string[]) =>
      session.exchange(...instructions.map((text) => update({ instructions: text }))),
    start: (id: string) => turn({ turn: id, type: 'started', ms: 0 }),
    end: (id: string, transcript: string) =>
      turn(
        { turn: id, type: 'stopped', ms: 1_000 },
        { turn: id, type: 'committed' },
        { turn: id, type: 'completed', transcript, seconds: 1 },
      ),
  };
}

const update = (session: object) => ({ type: 'session.update', session: { type: 'realtime', ...session } });
const textsOf = ({ call }: Seen) => call.messages.map(({ role, content }) => `${role}: ${content}`);
const tools = [{ type: 'function', name: 'look', description: 'Looks.', parameters: { type: 'object' } }];

it('a turn is answered with the call that the model has read, and what was said', async () => {
  const { session, prepared, answered, start, end } = open();
  await session.exchange(update({ instructions: 'Be brief.', tools }));
  expect(prepared.map(textsOf)).toEqual([['system: Be brief.', 'user:  ']]);
  for (const [id, said] of [
    ['u1', 'Tell me a story.'],
    ['u2', 'Go on.'],
  ] as const) {
    await start(id);
    await end(id, said);
    const [read, asked] = [prepared.at(-1)!.call, answered.at(-1)!.call];
    expect(asked.messages.at(-1)).toEqual({ role: 'user', content: said });
    expect({ ...read, messages: read.messages.slice(0, -1) }).toEqual({
      ...asked,
      messages: asked.messages.slice(0, -1),
    });
    expect(read.tools).toHaveLength(1);
  }
  expect(textsOf(answered.at(-1)!)).toHaveLength(4);
  expect(prepared).toHaveLength(3);
});

it('a session that is configured when it opens is prepared for, another one is when the user speaks', async () => {
  const [configured, later] = [open(undefined, true), open()];
  await Promise.all([configured.session.exchange(), later.session.exchange()]);
  expect([configured, later].map(({ prepared }) => prepared.length)).toEqual([1, 0]);
  later.session.speech.emit({ turn: 'u1', type: 'voice' });
  await later.session.exchange();
  expect(later.prepared).toHaveLength(1);
});

it('a storm of changes prepares three times until the next response, and only the newest is worked on', async () => {
  const { session, prepared, configure, start, end } = open();
  const storm = Array.from({ length: 50 }, (_, n) => `Number ${n}.`);
  await configure(...storm);
  await start('u1');
  const read = prepared.map((one) => textsOf(one)[0]?.replace('system: ', ''));
  expect(read).toEqual([...storm.slice(0, 3), storm.at(-1)]);
  expect(prepared.map(({ signal }) => signal.aborted)).toEqual([true, true, true, false]);
  await end('u1', 'Hello.');
  await configure(...storm);
  expect(prepared).toHaveLength(7);
  session.socket.leave();
  await session.ended;
  expect(prepared.every(({ signal }) => signal.aborted)).toBe(true);
  expect(session.logged.filter(([level]) => level !== 'debug')).toEqual([]);
});

it('turns that contain no speech prepare six times at most', async () => {
  const { prepared, configure, start, end } = open();
  await configure('A.', 'B.', 'C.', 'D.');
  for (const id of ['u1', 'u2', 'u3', 'u4', 'u5']) {
    await start(id);
    await end(id, '');
  }
  expect(prepared).toHaveLength(6);
});

it('nothing is prepared while the model answers, and an interruption prepares once it has stopped', async () => {
  const { prepared, answered, configure, start, end } = open(async function* (_call, { signal }) {
    yield { type: 'step-started', step: 0 };
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    signal.throwIfAborted();
  });
  await start('u1');
  await end('u1', 'Tell me a story.');
  await configure('Be brief.');
  expect(prepared).toHaveLength(1);
  await start('u2');
  expect(answered[0]?.signal.aborted).toBe(true);
  expect(prepared.slice(1).map(textsOf)).toEqual([['system: Be brief.', 'user: Tell me a story.', 'user:  ']]);
});
