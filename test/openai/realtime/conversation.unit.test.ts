/** A conversation without network: what its runs do when the client cancels, does not read, or leaves. */
import { expect, it } from 'vitest';
import type { ChatEngine } from '../../../engines/contract/index.ts';
import { openConversation } from '../../../src/openai/realtime/conversation-config.ts';
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
