/** A conversation without network: what its runs do when the client cancels, does not read, or leaves. */
import { expect, it, vi } from 'vitest';
import type { ChatEngine } from '../../../engines/contract/index.ts';
import { openConversation } from '../../../src/openai/realtime/conversation-config.ts';
import { runInScope } from '../../../src/request-scope.ts';
import { checkSessions, openSession, servicesWith } from './support.ts';

checkSessions();

/** A model that writes until it is aborted. */
function endless() {
  const signals: AbortSignal[] = [];
  const complete: ChatEngine['complete'] = async function* (_call, { signal }) {
    signals.push(signal);
    yield { type: 'step-started', step: 0 };
    for (;;) {
      await new Promise(setImmediate);
      signal.throwIfAborted();
      yield { type: 'content-delta', step: 0, delta: 'word ' };
    }
  };
  const services = servicesWith(undefined, { engine: { complete } });
  return { signals, session: openSession({ services }, openConversation(services, undefined)) };
}

const userItem = (text: string) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});

const create = { type: 'response.create', response: { instructions: 'Go on.' } };

it('a client that does not read its answer can still cancel it', async () => {
  const { session, signals } = endless();
  session.socket.isRead = false;
  const begun = await session.exchange(create);
  expect(begun.filter(({ type }) => type === 'response.output_text.delta')).toHaveLength(1);
  const ended = await session.exchange({ type: 'response.cancel' });
  expect(ended.at(-1)).toMatchObject({ type: 'response.done', response: { status: 'cancelled' } });
  expect(signals[0]?.aborted).toBe(true);
  expect(session.idle.at(-1)).toBe(true);
});

it('a client that does not read its answer can still interrupt it by speaking', async () => {
  const { session, signals } = endless();
  session.socket.isRead = false;
  await session.exchange(create);
  session.speech.emit({ type: 'started', turn: 'u1', ms: 0 });
  expect((await session.exchange()).at(-1)).toMatchObject({
    response: { status: 'cancelled', status_details: { reason: 'turn_detected' } },
  });
  expect(signals[0]?.aborted).toBe(true);
});

it.each<[string, readonly string[], object]>([
  ['speak', ['streamChat', 'createTranscription'], { speech: false, input: true, modality: 'text' }],
  ['transcribe', ['createChat', 'createSpeech'], { speech: true, input: false, modality: 'audio' }],
])('a key that may chat, but not %s, gets a conversation without that', (_what, operations, expected) => {
  const services = servicesWith(undefined, { speech: [{ id: 'voice' }] });
  const mayCall = (operation: string) => operations.includes(operation);
  const key = { name: 'app', weight: 1, limits: {}, mayCall, mayUseModel: () => true, mayUseTool: () => true };
  const { models, input, settings } = runInScope({ caller: 'app', key }, () => openConversation(services, undefined));
  expect({ speech: models.speech !== undefined, input: input !== null, modality: settings.modality }).toEqual(expected);
});

it.each([
  ['long', [userItem('x'.repeat(245_760 - 128))]],
  ['of many items', Array.from({ length: 180 }, () => userItem(''))],
])('events that read a conversation that is %s count as several', async (_what, items) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const session = openSession({}, openConversation(servicesWith(), undefined));
    await session.exchange(...items);
    await vi.advanceTimersByTimeAsync(10_000);
    const read = { type: 'conversation.item.retrieve', item_id: 'none' };
    const cost = items.length === 1 ? 16 : 2;
    const early = await session.exchange(...Array.from({ length: 200 / cost + 2 }, () => read));
    expect(early).toHaveLength(Math.floor(200 / cost));
  } finally {
    vi.useRealTimers();
  }
});

it('an answer ends when the client leaves, and the session is over then', async () => {
  const { session, signals } = endless();
  await session.exchange(create);
  expect(session.idle.at(-1)).toBe(false);
  session.socket.leave();
  await session.ended;
  expect(signals[0]?.aborted).toBe(true);
});

it('a session that cannot send its last event closes', async () => {
  const { session } = endless();
  await session.exchange(create);
  session.draining.abort(new Error('stop'));
  session.socket.send = () => {
    throw new Error('not sent');
  };
  await session.exchange({ type: 'response.cancel' });
  expect(session.socket.closed?.code).toBe(1011);
});

it('a draining session ends with its answer', async () => {
  const { session } = endless();
  await session.exchange(create);
  session.draining.abort(new Error('stop'));
  await session.exchange();
  expect(session.socket.closed).toBeUndefined();
  await session.exchange({ type: 'response.cancel' });
  expect(session.socket.closed?.code).toBe(1012);
});
