/** The table of a conversation: when an answer begins before its turn ends, and when it is dropped. */
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../engines/contract/index.ts';
import { readClientEvent } from '../../../src/openai/realtime/client-events.ts';
import { openConversation, type ConversationConfig } from '../../../src/openai/realtime/conversation-config.ts';
import { updateConfig } from '../../../src/openai/realtime/session-config.ts';
import type { Run } from '../../../src/openai/realtime/response-plan.ts';
import { beginSession, next, type SessionEvent } from '../../../src/openai/realtime/session.ts';
import { breachesOf, type WireEvent } from '../../support/realtime-laws.ts';
import { servicesWith } from './support.ts';

const services = servicesWith(undefined, { speech: [{ id: 'voice' }] });
const opened: ConversationConfig = openConversation(services, undefined);
const configOf = (session: object, from = opened) => updateConfig(from, { type: 'realtime', ...session }, services);
const detecting = (detection: object | null) => configOf({ audio: { input: { turn_detection: detection } } });

/** The same model, behind a network. */
const hosted = <Model extends { readonly entry: object }>(model: Model): Model => ({
  ...model,
  entry: { ...model.entry, local: false },
});
const hostedChat = { ...opened, models: { ...opened.models, chat: hosted(opened.models.chat) } };
const hostedVoice = { ...opened, models: { ...opened.models, speech: hosted(opened.models.speech!) } };

function open(config: ReturnType<typeof configOf> = configOf({})) {
  let state = beginSession({ id: 'sess_1', expires_at: 1 }, config);
  const events: WireEvent[] = [];
  /** The effects on the runs of the model: `prepare 1_1`. */
  const ran: string[] = [];
  const runs: Run[] = [];
  let last: string | undefined;
  const apply = (event: SessionEvent) => {
    const step = next(state, event, 0);
    state = step.state;
    for (const effect of step.effects) {
      if (effect.type === 'send') events.push({ event_id: `event_${events.length}`, ...effect.event });
      if (effect.type === 'run' || effect.type === 'prepare') runs.push(effect.run);
      if (!('response' in effect)) continue;
      ran.push(`${effect.type} ${effect.response.slice('resp_'.length)}`);
      if (effect.type === 'run' || effect.type === 'release') last = effect.response;
    }
  };
  const follow = (turn: string, progress: object) =>
    apply({ type: 'turn', event: { turn, ...progress } } as SessionEvent);
  apply({ type: 'opened', isConfigured: false });
  return {
    ...{ events, ran, runs, apply, follow },
    say: (event: object) => apply(readClientEvent(JSON.stringify(event), 'realtime')),
    start: (turn: string) => follow(turn, { type: 'started', ms: 0 }),
    early: (turn: string, transcript: string, languages = ['de']) =>
      follow(turn, { type: 'early', transcript, languages }),
    commit(turn: string) {
      follow(turn, { type: 'stopped', ms: 0 });
      follow(turn, { type: 'committed' });
    },
    complete: (turn: string, transcript: string, languages = ['de']) =>
      follow(turn, { type: 'completed', transcript, languages, seconds: 1 }),
    /** The latest response, if there is one, says it. */
    answer(text = 'Well. ') {
      const response = last;
      if (response === undefined) return;
      apply({ type: 'part', response, part: { type: 'piece', text } });
      apply({ type: 'part', response, part: { type: 'sound', audio: 'AAAA', ms: 100, db: -20 } });
      apply({ type: 'answered', response, end: { status: 'completed', usage: null } });
    },
    /** The latest response, if there is one, fails. */
    fail(error: Error) {
      if (last !== undefined) apply({ type: 'broken', response: last, error });
    },
  };
}

/** A session after its first turn, whose second one may be over. */
function paused(config?: ReturnType<typeof configOf>) {
  const session = open(config);
  session.start('one');
  session.commit('one');
  session.complete('one', 'Hello.');
  session.answer();
  session.start('two');
  session.early('two', 'How are you?');
  return session;
}

const message = (text: string) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});
const firstRun = ['run 1_1'];
const prepared = [...firstRun, 'prepare 1_3'];

describe('an answer that has begun early', () => {
  it('is the answer to its turn: the same call, the same events', () => {
    const early = paused();
    expect(early.ran).toEqual(prepared);
    const sent = early.events.length;
    early.commit('two');
    early.complete('two', 'How are you?');
    early.answer('Fine.');
    expect(early.ran).toEqual([...prepared, 'release 1_3']);

    const ordinary = paused(hostedChat);
    expect(ordinary.events).toHaveLength(sent);
    ordinary.commit('two');
    ordinary.complete('two', 'How are you?');
    ordinary.answer('Fine.');
    expect(ordinary.ran).toEqual([...firstRun, 'run 1_3']);

    expect(early.events).toEqual(ordinary.events);
    expect(early.runs[1]!.call).toEqual(ordinary.runs[1]!.call);
    expect(early.runs[1]!.language).toBe('de');
    expect(breachesOf(early.events, { isWhole: true })).toEqual([]);
  });

  it('runs again with a shorter conversation if its own was too long', () => {
    const session = paused();
    session.commit('two');
    session.complete('two', 'How are you?');
    session.fail(new EngineError('context-length-exceeded', 'Too long.'));
    expect(session.ran).toEqual([...prepared, 'release 1_3', 'run 1_3']);
    expect(session.runs[2]!.call.messages.at(-1)).toMatchObject({ content: 'How are you?' });
    session.answer();
    expect(breachesOf(session.events, { isWhole: true })).toEqual([]);
  });

  it.each<[string, (session: ReturnType<typeof open>) => void]>([
    ['a look at an item', (session) => session.say({ type: 'conversation.item.retrieve', item_id: 'one' })],
    ['an update that is refused', (session) => session.say({ type: 'conversation.item.delete', item_id: 'none' })],
    ['a response beside it', (session) => session.say({ type: 'response.create', response: { conversation: 'none' } })],
    ['a cancel', (session) => session.say({ type: 'response.cancel' })],
  ])('is not touched by %s', (_what, disturb) => {
    const session = paused();
    disturb(session);
    session.commit('two');
    session.complete('two', 'How are you?');
    expect(session.ran).toContain('release 1_3');
    expect(session.ran).not.toContain('stop 1_3');
  });

  it.each<[string, (session: ReturnType<typeof open>) => void]>([
    ['the user continues to speak', (session) => session.follow('two', { type: 'resumed' })],
    ['the turn is cleared', (session) => session.follow('two', { type: 'forgotten' })],
    ['the session is updated', (session) => session.apply({ type: 'updated', config: configOf({}) })],
    ['an item is added', (session) => session.say(message('By the way.'))],
    ['an item is deleted', (session) => session.say({ type: 'conversation.item.delete', item_id: 'one' })],
    ['the client asks for a response', (session) => session.say({ type: 'response.create' })],
  ])('is dropped when %s', (_what, disturb) => {
    const session = paused();
    const sent = session.events.length;
    disturb(session);
    expect(session.ran).toContain('stop 1_3');
    expect(session.events.slice(sent).filter(({ response }) => response?.id.endsWith('1_3'))).toEqual([]);
    session.early('two', 'How are you? And');
    session.commit('two');
    session.complete('two', 'How are you? And you?');
    expect(session.ran.join()).not.toContain('release');
  });

  it.each<[string, (session: ReturnType<typeof open>) => void]>([
    ['differs', (session) => session.complete('two', 'How are you now?')],
    ['is empty', (session) => session.complete('two', '')],
    ['is missing', (session) => session.follow('two', { type: 'failed', error: new Error('Broken.') })],
    [
      'comes while the user speaks again',
      (session) => {
        session.start('three');
        session.complete('two', 'How are you?');
      },
    ],
    [
      'comes after the item is deleted',
      (session) => {
        session.say({ type: 'conversation.item.delete', item_id: 'two' });
        session.complete('two', 'How are you?');
      },
    ],
  ])('is dropped if the transcript %s', (_what, complete) => {
    const session = paused();
    session.commit('two');
    expect(session.ran).not.toContain('stop 1_3');
    complete(session);
    expect(session.ran).toContain('stop 1_3');
    expect(session.ran.join()).not.toContain('release');
  });
});

describe('no answer begins early', () => {
  it.each<[string, ReturnType<typeof configOf>]>([
    ['if the model is hosted', hostedChat],
    ['if the voice is hosted', hostedVoice],
    ['if turns get no answer', detecting({ create_response: false })],
    ['if the client commits the turns', detecting(null)],
  ])('%s', (_what, config) => expect(paused(config).ran.join()).not.toContain('prepare'));

  it('while another one is being made, is owed, or waits for a transcript', () => {
    const session = open(detecting({ interrupt_response: false }));
    session.start('one');
    session.commit('one');
    session.complete('one', 'Hello.');
    session.start('two');
    session.early('two', 'How');
    session.commit('two');
    session.start('three');
    session.early('three', 'And');
    session.complete('two', 'How are you?');
    session.answer();
    session.early('three', 'And you?');
    expect(session.ran).toEqual(firstRun);
  });

  it('without words', () => {
    const session = open();
    session.start('one');
    session.early('one', ' ');
    expect(session.ran).toEqual([]);
  });
});

it('an answer that is text needs no local voice', () => {
  const session = open(configOf({ output_modalities: ['text'] }, hostedVoice));
  session.start('one');
  session.early('one', 'Hello.');
  expect(session.ran).toEqual(['prepare 1_1']);
});
