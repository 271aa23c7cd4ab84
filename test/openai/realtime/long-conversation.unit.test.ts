/** A conversation that is much longer than the context of its model. */
import { expect, it } from 'vitest';
import { EngineError, type ChatCall, type ChatEngine, type Message } from '../../../engines/contract/index.ts';
import { openConversation } from '../../../src/openai/realtime/conversation-config.ts';
import type { TurnEvent } from '../../../src/realtime/speech-session.ts';
import { written } from '../../realtime/answering.ts';
import { checkSessions, openSession, servicesWith } from './support.ts';

checkSessions();

/** About 4,096 tokens. */
const contextLength = 16_384;
const turns = 300;

/** A model that remembers what it has read last, as a local one does. */
function openModel() {
  const counts = { unread: 0, calls: 0, refused: 0 };
  let known = '';
  const textOf = (messages: readonly Message[]) => messages.map(({ role, content }) => `<${role}>${content}`).join('');
  const read = ({ messages }: ChatCall) => {
    const text = textOf(messages);
    if (text.length > contextLength) {
      counts.refused += 1;
      throw new EngineError('context-length-exceeded', 'The conversation is too long.');
    }
    let shared = 0;
    while (shared < text.length && text[shared] === known[shared]) shared += 1;
    counts.unread += text.length - shared;
    known = text;
  };
  const engine = {
    warmUp(call) {
      read(call);
      return Promise.resolve();
    },
    async *complete(call) {
      read(call);
      counts.calls += 1;
      const answer = `This is answer ${counts.calls}. `.repeat(10);
      known += `<assistant>${answer}`;
      yield* written([answer]);
    },
  } satisfies Pick<ChatEngine, 'complete' | 'warmUp'>;
  return { counts, services: servicesWith(undefined, { engine }) };
}

it('a conversation of 300 turns reaches its end, and the model does not read all of it again at each turn', async () => {
  const { counts, services } = openModel();
  const session = openSession({ services }, openConversation(services, undefined));
  await session.exchange({
    type: 'session.update',
    session: { type: 'realtime', instructions: 'Be brief. '.repeat(60) },
  });
  let said = 0;
  for (let turn = 1; turn <= turns; turn += 1) {
    const transcript = `This is question ${turn}. `.repeat(8);
    said += transcript.length + 200;
    const of = (event: object) => session.speech.emit({ turn: `turn_${turn}`, ...event } as TurnEvent);
    of({ type: 'started', ms: turn });
    of({ type: 'stopped', ms: turn });
    of({ type: 'committed' });
    of({ type: 'completed', transcript, seconds: 1 });
    const events = await session.exchange();
    expect(events.at(-1)).toMatchObject({ type: 'response.done', response: { status: 'completed' } });
    expect(events.filter(({ type }) => type === 'error')).toEqual([]);
  }
  expect(said).toBeGreaterThan(6 * contextLength);
  expect(counts.calls).toBe(turns);
  expect(session.counted.responses, 'a response that runs again is counted once').toBe(turns);
  expect(counts.refused).toBeLessThan(turns / 4);
  expect(counts.unread / turns).toBeLessThan(contextLength / 6);
});
