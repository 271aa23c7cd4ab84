/** A spoken conversation: interruptions, what the model sees after them, and turns that are answered together. */
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../engines/contract/index.ts';
import { openaiContract } from '../../../src/contract/document.ts';
import { eventCheckOf } from '../../../src/contract/event-check.ts';
import { readClientEvent } from '../../../src/openai/realtime/client-events.ts';
import { openConversation } from '../../../src/openai/realtime/conversation-config.ts';
import type { Run } from '../../../src/openai/realtime/response-plan.ts';
import { updateConfig } from '../../../src/openai/realtime/session-config.ts';
import { beginSession, next, type Effect, type SessionEvent } from '../../../src/openai/realtime/session.ts';
import { isPlaying } from '../../../src/realtime/playing.ts';
import { breachesOf, type WireEvent } from '../../support/realtime-laws.ts';
import { servicesWith } from './support.ts';

const services = servicesWith(undefined, { speech: [{ id: 'voice' }] });

const spokenConfig = (input: object, instructions = '', more: object = {}) =>
  updateConfig(
    openConversation(services, undefined),
    { type: 'realtime', instructions, audio: { input }, ...more },
    services,
  );

/** A session whose client, speech and model are the test. */
function open(detection: object = {}, instructions = '') {
  const config = spokenConfig({ turn_detection: detection }, instructions);
  let state = beginSession({ id: 'sess_1', expires_at: 1 }, config);
  const events: WireEvent[] = [];
  const runs: (Run & { readonly response: string })[] = [];
  const stopped: string[] = [];
  let now = 0;
  const perform = (effect: Effect) => {
    if (effect.type === 'send') events.push({ event_id: `event_${events.length}`, ...effect.event });
    if (effect.type === 'run') runs.push({ ...effect.run, response: effect.response });
    if (effect.type === 'stop') stopped.push(effect.response);
  };
  const apply = (event: SessionEvent) => {
    const before = events.length;
    const step = next(state, event, now);
    state = step.state;
    step.effects.forEach(perform);
    return events.slice(before);
  };
  const turn = (id: string, progress: object) =>
    apply({ type: 'turn', event: { turn: id, ...progress } } as SessionEvent);
  apply({ type: 'opened', isConfigured: false });
  return {
    ...{ events, runs, stopped, apply },
    wait: (ms: number) => (now += ms),
    say: (event: object) => apply(readClientEvent(JSON.stringify(event), 'realtime')),
    start: (id: string) => turn(id, { type: 'started', ms: now }),
    /** The turn ends, and its transcript comes. */
    end(id: string, transcript: string | null) {
      turn(id, { type: 'stopped', ms: now });
      turn(id, { type: 'committed' });
      const seconds = 1;
      if (transcript === null) return turn(id, { type: 'failed', error: new EngineError('engine-failed', 'Broken.') });
      return turn(id, { type: 'completed', transcript, seconds });
    },
    commit: (id: string) => turn(id, { type: 'committed' }),
    transcribe: (id: string, transcript: string) => turn(id, { type: 'completed', transcript, seconds: 1 }),
    fail: (id: string) => turn(id, { type: 'failed', error: new EngineError('engine-failed', 'Broken.') }),
    /** A piece of the latest run, whose sound is sent at once. */
    speak(text: string, ms: number, isWhole = true) {
      const { response } = runs.at(-1)!;
      const said = apply({ type: 'part', response, part: { type: 'piece', text } });
      for (let sent = 0; sent < ms; sent += 100) {
        said.push(...apply({ type: 'part', response, part: { type: 'sound', audio: 'AAAA', ms: 100, db: -20 } }));
      }
      if (isWhole) apply({ type: 'part', response, part: { type: 'spoken' } });
      return said;
    },
    call(name: string, json: string) {
      const calls = [{ id: `call_${name}`, name, arguments: json }];
      return apply({ type: 'part', response: runs.at(-1)!.response, part: { type: 'calls', calls } });
    },
    finish: () =>
      apply({ type: 'answered', response: runs.at(-1)!.response, end: { status: 'completed', usage: null } }),
    /** What the model has been called with last. */
    seen: () => runs.at(-1)!.call.messages.map(({ role, content }) => `${role}: ${content}`),
    answerId: () => events.findLast(({ type }) => type === 'response.output_item.added')!.item!.id,
    isPlaying: () => isPlaying(state.talk.playing, now),
    checked: () => expect(breachesOf(events, { isWhole: true })).toEqual([]),
  };
}

const typesOf = (events: readonly WireEvent[]) => events.map(({ type }) => type);

/** Two pieces of a second each, of which a second and a half has been played when the user speaks. */
function interrupted() {
  const session = open();
  session.start('u1');
  session.end('u1', 'Tell me a story.');
  session.speak('Once upon a time. ', 1_000);
  session.speak('There was a king who had a dog. ', 1_000);
  session.wait(1_500);
  const closings = session.start('u2');
  return { session, closings, id: session.answerId() };
}

const answerNext = (session: ReturnType<typeof open>) => {
  session.end('u2', 'And then?');
  const seen = session.seen();
  session.speak('The end.', 500);
  session.finish();
  session.checked();
  return seen;
};

describe('an interruption', () => {
  it('closes what was announced, and ends the response', () => {
    const { session, closings, id } = interrupted();
    expect(typesOf(closings)).toEqual([
      'input_audio_buffer.speech_started',
      ...['response.output_audio.done', 'response.output_audio_transcript.done', 'response.content_part.done'],
      ...['response.output_item.done', 'conversation.item.done', 'response.done'],
    ]);
    expect(closings[2]).toMatchObject({ transcript: 'Once upon a time. There was a king who had a dog. ' });
    const content = [{ type: 'output_audio', transcript: 'Once upon a time. There was a king' }];
    expect(closings[4]).toMatchObject({ item: { id, status: 'incomplete', content } });
    expect(closings[6]).toMatchObject({
      response: { status: 'cancelled', status_details: { reason: 'turn_detected' }, output: [{ id, content }] },
    });
    expect(session.stopped).toHaveLength(1);
    expect(typesOf(session.speak('Late.', 200))).toEqual([]);
    expect(answerNext(session)).toContain('assistant: Once upon a time. There was a king');
  });

  const truncate = (id: string, ms: number) => ({
    ...{ type: 'conversation.item.truncate', item_id: id, content_index: 0, audio_end_ms: ms },
  });

  it.each<[string, readonly ((id: string) => object)[], string | undefined]>([
    ['does nothing', [], 'Once upon a time. There was a king'],
    ['truncates', [(id) => truncate(id, 1_000)], 'Once upon a time.'],
    ['truncates within a piece', [(id) => truncate(id, 500)], 'Once upon'],
    ['truncates too much', [(id) => truncate(id, 99_000)], 'Once upon a time. There was a king who had a dog.'],
    ['truncates twice', [(id) => truncate(id, 500), (id) => truncate(id, 1_900)], 'Once upon'],
    ['truncates to nothing', [(id) => truncate(id, 0)], undefined],
    ['deletes the item', [(id) => ({ type: 'conversation.item.delete', item_id: id })], undefined],
  ])('by a user whose client %s leaves what was heard', (_what, messages, heard) => {
    const { session, id } = interrupted();
    for (const message of messages) expect(session.say(message(id))[0]?.type).not.toBe('error');
    const spoken = answerNext(session).filter((line) => line.startsWith('assistant'));
    expect(spoken.map((line) => line.trimEnd())).toEqual(heard === undefined ? [] : [`assistant: ${heard}`]);
  });

  it('keeps the words that the client has left before the end of the response, and after the next turn', () => {
    const session = open();
    session.start('u1');
    session.end('u1', 'Tell me a story.');
    session.speak('Once upon a time. ', 1_000);
    session.speak('There was a king who had a dog. ', 1_000);
    session.wait(1_500);
    const id = session.answerId();
    session.say(truncate(id, 1_000));
    expect(typesOf(session.speak('His name was Rex. ', 1_000))).toContain('response.output_audio.delta');
    const content = [{ type: 'output_audio', transcript: 'Once upon a time.' }];
    expect(session.start('u2')).toContainEqual(
      expect.objectContaining({
        type: 'conversation.item.done',
        item: expect.objectContaining({ id, content }) as object,
      }),
    );
    expect(answerNext(session)).toContain('assistant: Once upon a time.');
    expect(session.say(truncate(id, 500))).toMatchObject([{ type: 'conversation.item.truncated', audio_end_ms: 500 }]);
    session.start('u3');
    session.end('u3', 'Go on.');
    expect(session.seen()).toContain('assistant: Once upon');
    session.finish();
    session.checked();
  });

  it('leaves a call that was complete before it, which the model does not see', () => {
    const session = open();
    session.start('u1');
    session.end('u1', 'What time is it?');
    session.call('clock', '');
    const [done] = session.start('u2').slice(-1);
    const call = { type: 'function_call', status: 'completed', name: 'clock', arguments: '{}' };
    expect(done).toMatchObject({ type: 'response.done', response: { status: 'cancelled', output: [call] } });
    session.end('u2', 'Never mind.');
    expect(session.seen()).toEqual(['user: What time is it?', 'user: Never mind.']);
    session.finish();
    session.checked();
  });

  it('after the end of the response, while its sound plays, cuts its item', () => {
    const session = open();
    session.start('u1');
    session.end('u1', 'Tell me a story.');
    session.speak('Once upon a time. ', 1_000);
    session.finish();
    session.wait(500);
    expect(typesOf(session.start('u2'))).toEqual(['input_audio_buffer.speech_started']);
    expect(answerNext(session)).toContain('assistant: Once upon');
  });

  it('of an answer that has been played leaves it whole', () => {
    const session = open();
    session.start('u1');
    session.end('u1', 'Hi.');
    session.speak('Once upon a time. ', 1_000);
    session.finish();
    session.wait(2_000);
    session.start('u2');
    expect(answerNext(session).at(-2)).toBe('assistant: Once upon a time. ');
  });

  it('does not cut an answer that has been played for the sound of a response beside the conversation', () => {
    const session = open();
    session.start('u1');
    session.end('u1', 'Hi.');
    session.speak('Once upon a time. ', 1_000);
    session.finish();
    session.say({ type: 'response.create', response: { conversation: 'none', instructions: 'Say it.' } });
    session.speak('Beside. ', 2_000);
    session.finish();
    session.wait(2_000);
    expect(session.isPlaying()).toBe(true);
    session.start('u2');
    expect(session.isPlaying()).toBe(false);
    expect(answerNext(session).at(-2)).toBe('assistant: Once upon a time. ');
  });

  it('counts that an answer is played after the sound before it, of a response beside the conversation', () => {
    const session = open({}, 'Tell a story.');
    session.say({ type: 'response.create', response: { conversation: 'none', instructions: 'Say it.' } });
    session.speak('Beside. ', 1_000);
    session.finish();
    session.say({ type: 'response.create' });
    session.speak('Once upon a time. ', 1_000);
    session.wait(1_500);
    session.start('u2');
    expect(answerNext(session).at(-2)).toBe('assistant: Once upon');
  });

  it('does not happen without interrupt_response: the turn is answered afterwards', () => {
    const session = open({ interrupt_response: false });
    session.start('u1');
    session.end('u1', 'One.');
    session.speak('First. ', 1_000);
    session.start('u2');
    session.end('u2', 'Two.');
    expect(session.runs).toHaveLength(1);
    session.finish();
    expect(session.runs).toHaveLength(2);
    expect(session.seen()).toEqual(['user: One.', 'assistant: First. ', 'user: Two.']);
    session.finish();
    session.checked();
  });
});

it('a response of calls alone has no text and no sound', () => {
  const session = open();
  session.start('u1');
  session.end('u1', 'What time is it?');
  session.call('clock', '{"zone": "UTC"}');
  session.call('calendar', '');
  session.finish();
  expect(session.events.filter(({ type }) => /output_audio|output_text|content_part/.test(type))).toEqual([]);
  expect(session.events.at(-1)).toMatchObject({ response: { status: 'completed', output: [{}, {}] } });
  session.checked();
});

it('a call whose id the model has used before gets another one, so that it has its own output', () => {
  const session = open();
  session.say(userMessage('What time is it?'));
  for (const output of ['At ten.', 'At eleven.']) {
    session.say({ type: 'response.create' });
    session.call('clock', '{}');
    session.finish();
    const { call_id } = session.events.findLast(({ item }) => item?.type === 'function_call')!.item!;
    session.say({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id, output } });
  }
  session.say({ type: 'response.create' });
  expect(session.seen()).toEqual([
    'user: What time is it?',
    'assistant: ',
    'tool: At ten.',
    'assistant: ',
    'tool: At eleven.',
  ]);
  session.finish();
  session.checked();
});

it('a failure in the middle of an answer closes it, and is in its end alone', () => {
  const session = open();
  session.start('u1');
  session.end('u1', 'Tell me a story.');
  session.speak('Once upon a time. ', 1_000);
  const { response } = session.runs.at(-1)!;
  const ended = session.apply({ type: 'broken', response, error: new EngineError('engine-failed', 'Broken.') });
  expect(typesOf(ended)).toEqual([
    ...['response.output_audio.done', 'response.output_audio_transcript.done', 'response.content_part.done'],
    ...['response.output_item.done', 'conversation.item.done', 'response.done'],
  ]);
  expect(ended.at(-1)).toMatchObject({
    response: {
      ...{ status: 'failed', output: [{ status: 'incomplete' }], usage: { total_tokens: 0 } },
      status_details: { type: 'failed', error: { type: 'server_error', message: expect.any(String) as string } },
    },
  });
  session.checked();
});

it('a response beside the conversation with no input sees its instructions alone, and leaves no item', () => {
  const session = open({}, 'Be kind.');
  session.say(userMessage('Hi.'));
  const response = { conversation: 'none', input: [], instructions: 'Say exactly: one moment.' };
  session.say({ type: 'response.create', response });
  expect(session.seen()).toEqual(['user: Say exactly: one moment.']);
  session.speak('One moment.', 500);
  session.finish();
  session.say({ type: 'response.create' });
  expect(session.seen()).toEqual(['system: Be kind.', 'user: Hi.']);
  session.finish();
  session.checked();
});

it('an update of one setting of the turn detection keeps the others', () => {
  const { input } = spokenConfig({ turn_detection: { silence_duration_ms: 300, create_response: false } });
  const config = updateConfig(
    spokenConfig({ turn_detection: { silence_duration_ms: 300, create_response: false } }),
    { type: 'realtime', audio: { input: { turn_detection: { threshold: 0.9 } } } },
    services,
  );
  expect(config).toMatchObject({ createsResponse: false, interruptsResponse: true });
  expect(config.input?.detection).toEqual({ ...input?.detection, threshold: 0.9 });
});

describe('a message with audio', () => {
  const recorded = (id: string) => ({
    type: 'conversation.item.create',
    item: { id, type: 'message', role: 'user', content: [{ type: 'input_audio', audio: 'AAAA' }] },
  });

  it('is not answered by itself, and a response waits for its transcript', () => {
    const session = open();
    session.say(recorded('a'));
    session.transcribe('a', 'I am Ann.');
    session.say(recorded('b'));
    session.say({ type: 'response.create' });
    expect(session.runs).toEqual([]);
    session.transcribe('b', 'Who am I?');
    expect(session.seen()).toEqual(['user: I am Ann.', 'user: Who am I?']);
    session.finish();
    session.checked();
  });

  it('whose transcription fails is left out', () => {
    const session = open();
    session.say(recorded('a'));
    session.say({ type: 'response.create', response: { instructions: 'Greet.' } });
    session.fail('a');
    expect(session.seen()).toEqual(['user: Greet.']);
    session.finish();
    session.checked();
  });

  it('is waited for by responses beside the conversation that refer to it', () => {
    const session = open();
    session.say(recorded('a'));
    const response = { conversation: 'none', input: [{ type: 'item_reference', id: 'a' }] };
    session.say({ type: 'response.create', response });
    expect(session.runs).toEqual([]);
    session.transcribe('a', 'Hello.');
    expect(session.seen()).toEqual(['user: Hello.']);
    session.finish();
    session.checked();
  });

  it('in the input of a response is refused', () => {
    const session = open();
    const { item } = recorded('a');
    expect(session.say({ type: 'response.create', response: { input: [item] } })).toMatchObject([
      { error: { code: 'unsupported_value', param: 'response.input[0].content' } },
    ]);
  });

  it('that is deleted does not give its transcript to another one with its id', () => {
    const session = open();
    session.say(recorded('a'));
    session.say({ type: 'conversation.item.delete', item_id: 'a' });
    expect(session.say(recorded('a'))).toMatchObject([{ error: { param: 'item.id' } }]);
    session.transcribe('a', 'Old.');
    expect(typesOf(session.say(recorded('a')))).toEqual(['conversation.item.added', 'conversation.item.done']);
    session.transcribe('a', 'New.');
    session.say({ type: 'response.create' });
    expect(session.seen()).toEqual(['user: New.']);
  });
});

describe('a turn', () => {
  it('that begins before the answer to the last one has begun is answered together with it', () => {
    const session = open();
    session.start('u1');
    session.end('u1', 'I would like');
    expect(session.start('u2').at(-1)).toMatchObject({
      type: 'response.done',
      response: { status: 'cancelled', output: [] },
    });
    session.end('u2', 'to know more.');
    expect(session.seen()).toEqual(['user: I would like', 'user: to know more.']);
    session.finish();
    expect(session.runs).toHaveLength(2);
    session.checked();
  });

  it.each([
    ['empty', ''],
    ['missing', null],
  ])('whose transcript is %s is not answered, and an earlier one is', (_what, transcript) => {
    const session = open();
    session.start('u1');
    session.end('u1', transcript);
    expect(session.runs).toEqual([]);
    session.start('u2');
    session.end('u2', 'Hi.');
    session.start('u3');
    session.end('u3', transcript);
    expect(session.seen()).toEqual(['user: Hi.']);
    session.finish();
    session.checked();
  });

  it('is not answered without create_response', () => {
    const session = open({ create_response: false });
    session.start('u1');
    session.end('u1', 'Hi.');
    expect(session.runs).toEqual([]);
    session.say({ type: 'response.create' });
    expect(session.seen()).toEqual(['user: Hi.']);
    session.finish();
    session.checked();
  });

  it('whose transcript is late delays the run of a response, which is announced at once', () => {
    const session = open({ create_response: false });
    session.commit('u1');
    expect(typesOf(session.say({ type: 'response.create' }))).toEqual(['response.created']);
    session.commit('u2');
    expect(session.runs).toEqual([]);
    session.transcribe('u1', 'First.');
    expect(session.seen()).toEqual(['user: First.']);
    session.transcribe('u2', 'Second.');
    session.finish();
    session.checked();
  });

  it('whose item is deleted does not delay a response', () => {
    const session = open({ create_response: false }, 'Greet.');
    session.commit('u1');
    session.say({ type: 'response.create' });
    session.say({ type: 'conversation.item.delete', item_id: 'u1' });
    expect(session.seen()).toEqual(['user: Greet.']);
    session.transcribe('u1', 'Late.');
    session.finish();
    session.checked();
  });

  it.each([
    ['is switched off', true, 3],
    ['is switched on', false, 0],
  ])('whose transcript %s while it is transcribed has all events of the transcript, or none', (_what, isOn, count) => {
    const session = open();
    const change = (isSent: boolean) =>
      session.apply({ type: 'updated', config: spokenConfig({ transcription: isSent ? {} : null }) });
    const delta = (text: string) => session.apply({ type: 'turn', event: { turn: 'u1', type: 'delta', text } });
    change(isOn);
    session.start('u1');
    session.commit('u1');
    delta('Good ');
    change(!isOn);
    delta('morning.');
    session.transcribe('u1', 'Good morning.');
    expect(typesOf(session.events).filter((type) => type.includes('transcription'))).toHaveLength(count);
    session.start('u2');
    session.end('u2', 'Hello.');
    const transcripts = session.events.filter(({ transcript, item_id: id }) => id === 'u2' && transcript === 'Hello.');
    expect(transcripts).toHaveLength(isOn ? 0 : 1);
    session.finish();
    session.checked();
  });

  it('whose item is deleted is not answered, even if another item has its id now', () => {
    const session = open();
    session.start('u1');
    session.commit('u1');
    session.say({ type: 'conversation.item.delete', item_id: 'u1' });
    const { item, type } = userMessage('Mine.');
    session.say({ type, item: { ...item, id: 'u1' } });
    session.transcribe('u1', 'Late.');
    expect(session.runs).toEqual([]);
    session.checked();
  });

  it('keeps its id for its item, and is answered', () => {
    const session = open();
    session.start('u1');
    const content = [{ type: 'input_text', text: 'Mine.' }];
    const item = { id: 'u1', type: 'message', role: 'user', content };
    const [refused] = session.say({ type: 'conversation.item.create', item });
    expect(refused).toMatchObject({ type: 'error', error: { code: 'invalid_value', param: 'item.id' } });
    session.end('u1', 'Hello.');
    expect(session.seen()).toContain('user: Hello.');
    session.finish();
    session.checked();
  });
});

describe('a conversation that does not fit into the context', () => {
  const full = new EngineError('context-length-exceeded', 'Too long.');
  const fill = (truncation: unknown) => {
    const session = open();
    session.apply({ type: 'updated', config: spokenConfig({}, 'Be kind.', { truncation }) });
    for (const text of ['one', 'two', 'three', 'four', 'five']) session.say(userMessage(text));
    session.say({ type: 'response.create' });
    return session;
  };
  const fail = (session: ReturnType<typeof open>) =>
    session.apply({ type: 'broken', response: session.runs.at(-1)!.response, error: full });

  it('loses its oldest turns, also in later responses', () => {
    const session = fill('auto');
    expect(fail(session)).toEqual([]);
    expect(session.seen()).toEqual(['system: Be kind.', 'user: three', 'user: four', 'user: five']);
    fail(session);
    expect(session.seen()).toEqual(['system: Be kind.', 'user: four', 'user: five']);
    session.finish();
    session.say({ type: 'response.create' });
    expect(session.seen()).toEqual(['system: Be kind.', 'user: four', 'user: five']);
    session.speak('Begun. ', 100);
    expect(fail(session).at(-1)).toMatchObject({ response: { status: 'failed' } });
    session.checked();
  });

  it('keeps the share that the client asks for, and at least the last turn', () => {
    const session = fill({ type: 'retention_ratio', retention_ratio: 0.3 });
    fail(session);
    expect(session.seen()).toEqual(['system: Be kind.', 'user: five']);
    const details = { error: { code: 'context_length_exceeded' } };
    expect(fail(session).at(-1)).toMatchObject({ response: { status: 'failed', status_details: details } });
    session.checked();
  });

  it('loses its oldest turns if it is larger than a conversation may be', () => {
    const session = fill('auto');
    session.speak('x'.repeat(250_000), 100);
    session.finish();
    session.say({ type: 'response.create' });
    expect(session.runs).toHaveLength(1); // what is too large belongs to the last turn
    session.wait(1_000);
    session.start('u1');
    session.end('u1', 'six');
    expect(session.seen()).toEqual(['system: Be kind.', 'user: six']);
    session.finish();
    session.checked();
  });

  it('fails if it must not be shortened', () => {
    const session = fill('disabled');
    expect(fail(session).at(-1)).toMatchObject({ response: { status: 'failed' } });
    expect(session.runs).toHaveLength(1);
    session.checked();
  });
});

const userMessage = (text: string) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});

it.each([
  ['soon has only crossed it', 999, []],
  ['late is refused', 1_000, ['error']],
])('a cancel after the end of a response that comes %s', (_what, ms, types) => {
  const session = open({}, 'Greet.');
  session.say({ type: 'response.create' });
  session.finish();
  session.wait(ms);
  expect(typesOf(session.say({ type: 'response.cancel' }))).toEqual(types);
  session.checked();
});

describe('the instructions of a response', () => {
  const seenWith = (instructions: string) => {
    const session = open({}, 'Be kind.');
    session.say(userMessage('Hi.'));
    session.say({ type: 'response.create', response: { instructions } });
    const seen = session.seen();
    session.finish();
    session.checked();
    return seen;
  };

  it('replace those of the session', () => {
    expect(seenWith('Be brief.')).toEqual(['system: Be brief.', 'user: Hi.']);
  });

  it('come last if they begin with those of the session', () => {
    expect(seenWith('Be kind.\nSay goodbye.')).toEqual(['system: Be kind.', 'user: Hi.', 'system: Say goodbye.']);
  });
});

it('sends every event that the contract declares', () => {
  const session = open({}, 'Greet.');
  session.apply({ type: 'updated', config: spokenConfig({ transcription: {} }) });
  session.start('u1');
  session.commit('u1');
  session.apply({ type: 'turn', event: { turn: 'u1', type: 'delta', text: 'Hi' } });
  session.transcribe('u1', 'Hi');
  session.speak('Hello. ', 200);
  const { response } = session.runs.at(-1)!;
  const calls = [{ id: 'call_1', name: 'tool', arguments: '{}' }];
  session.apply({ type: 'part', response, part: { type: 'calls', calls } });
  session.finish();
  session.start('u2');
  session.end('u2', null);
  session.say({ type: 'response.create', response: { output_modalities: ['text'] } });
  session.apply({ type: 'part', response: session.runs.at(-1)!.response, part: { type: 'text', text: 'Hi' } });
  session.finish();
  const id = session.events.find(({ type }) => type === 'response.output_item.added')!.item!.id;
  session.say({ type: 'conversation.item.truncate', item_id: id, content_index: 0, audio_end_ms: 100 });
  session.say({ type: 'conversation.item.retrieve', item_id: id });
  session.say({ type: 'conversation.item.delete', item_id: id });
  session.say({ type: 'conversation.item.delete', item_id: id });
  session.say({ type: 'input_audio_buffer.clear' });
  session.checked();
  const sent = new Set(typesOf(session.events));
  const { types } = eventCheckOf(openaiContract, 'RealtimeServerEvent');
  expect(types.filter((type) => !sent.has(type))).toEqual([]);
});
