/** A session of live transcription: what its client sends, and what it gets for it. */
import { describe, expect, it, vi } from 'vitest';
import { EngineError } from '../../../engines/contract/index.ts';
import { openaiContract } from '../../../src/contract/document.ts';
import { checkSentEvent, eventCheckOf } from '../../../src/contract/event-check.ts';
import { ProblemError } from '../../../src/contract/problems.ts';
import type { TurnEvent } from '../../../src/realtime/speech-session.ts';
import type { WireEvent } from '../../support/realtime-laws.ts';
import { append, checkSessions, clear, commit, openSession, update, type OpenSession } from './support.ts';

checkSessions();

const typesOf = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);
const errorsIn = (events: readonly object[]) => events.map((event) => (event as { error?: object }).error);

/** `session.audio.input` after the update, or the error. */
async function inputAfter(...inputs: readonly object[]): Promise<Record<string, unknown>> {
  const session = openSession();
  await session.exchange();
  const events = await session.exchange(...inputs.map((input) => update(input)));
  expect(typesOf(events)).toEqual(inputs.map(() => 'session.updated'));
  const { audio } = events.at(-1)!.session as { audio: { input: Record<string, unknown> } };
  return audio.input;
}

const vad = { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 };

describe('the session', () => {
  it('is sent first and whole', async () => {
    const session = openSession();
    expect(await session.exchange()).toEqual([
      {
        type: 'session.created',
        event_id: 'event_1',
        session: {
          ...{ type: 'transcription', object: 'realtime.transcription_session' },
          ...{ id: 'sess_1', expires_at: 1_800_000_000, include: null },
          audio: {
            input: {
              format: { type: 'audio/pcm', rate: 24_000 },
              transcription: { model: 'plain' },
              noise_reduction: null,
              turn_detection: vad,
            },
          },
        },
      },
    ]);
  });

  it.each([
    ['threshold alone', [{ turn_detection: { threshold: 0.7 } }], { turn_detection: { ...vad, threshold: 0.7 } }],
    [
      'null, then a field',
      [{ turn_detection: null }, { turn_detection: { silence_duration_ms: 300 } }],
      { turn_detection: { ...vad, silence_duration_ms: 300 } },
    ],
    [
      'a null in it',
      [{ turn_detection: { threshold: 0.9 } }, { turn_detection: { threshold: null } }],
      { turn_detection: vad },
    ],
    [
      'values out of range',
      [{ turn_detection: { threshold: 7, prefix_padding_ms: 9_000, silence_duration_ms: 1 } }],
      { turn_detection: { type: 'server_vad', threshold: 1, prefix_padding_ms: 2_000, silence_duration_ms: 100 } },
    ],
    [
      'semantic_vad',
      [{ turn_detection: { type: 'semantic_vad' } }],
      { turn_detection: { type: 'semantic_vad', eagerness: 'auto' } },
    ],
    ['push to talk', [{ turn_detection: null }], { turn_detection: null }],
    ['a format', [{ format: { type: 'audio/pcm', rate: 16_000 } }], { format: { type: 'audio/pcm', rate: 16_000 } }],
    [
      'a format without a rate',
      [{ format: { type: 'audio/pcm', rate: 8_000 } }, { format: { type: 'audio/pcm' } }],
      { format: { type: 'audio/pcm', rate: 24_000 } },
    ],
    ['G.711', [{ format: { type: 'audio/pcma', rate: 8_000 } }], { format: { type: 'audio/pcma' } }],
    ['noise reduction', [{ noise_reduction: { type: 'near_field' } }], { noise_reduction: null }],
    ['an unknown field', [{ volume: 11 }], { noise_reduction: null }],
  ])('merges and echoes %s', async (_what, inputs, expected) => {
    expect(await inputAfter(...inputs)).toMatchObject(expected);
  });

  it.each([
    ['an alias', { model: 'gpt-realtime-whisper' }, { model: 'plain' }],
    ['an alias of the settings', { model: 'mine' }, { model: 'full' }],
    [
      'a hint that the model ignores',
      { prompt: 'Names', keywords: ['Ada'], languages: ['de', 'en'] },
      { model: 'plain' },
    ],
    ['one language of several', { languages: ['de-DE', 'xx'] }, { model: 'plain', languages: ['de'] }],
    ['a language with a region', { language: 'en-US', languages: ['de'] }, { model: 'plain', language: 'en' }],
    ['an unknown language', { language: 'klingon' }, { model: 'plain' }],
    [
      'all hints',
      { model: 'full', prompt: 'Names', keywords: ['Ada', ' '], languages: ['de', 'en'] },
      { model: 'full', prompt: 'Names', keywords: ['Ada'], languages: ['de', 'en'] },
    ],
    [
      'hints beyond the limits',
      { model: 'full', prompt: `${'x'.repeat(9_000)}!`, keywords: ['y'.repeat(65), 'Ada'] },
      { model: 'full', prompt: `${'x'.repeat(8_191)}!`, keywords: ['Ada'] },
    ],
    ['a delay', { delay: 'low' }, { model: 'plain', delay: 'low' }],
  ])('echoes the effective transcription: %s', async (_what, transcription, expected) => {
    expect((await inputAfter({ transcription })).transcription).toEqual(expected);
  });

  it('keeps hints for a model that supports them, until null clears them', async () => {
    const hints = { transcription: { prompt: 'Names', language: 'de' } };
    expect((await inputAfter(hints, { transcription: { model: 'full' } })).transcription).toEqual({
      ...{ model: 'full', prompt: 'Names', language: 'de' },
    });
    expect((await inputAfter(hints, { transcription: { language: null } })).transcription).toEqual({ model: 'plain' });
    const cleared = await inputAfter({ transcription: { model: 'full', prompt: 'Names' } }, { transcription: null });
    expect(cleared.transcription).toEqual({ model: 'plain' });
  });

  it('configures the speech session with what is in effect', async () => {
    const session = openSession();
    const transcription = { model: 'prompts', prompt: 'Names.', keywords: ['Ada'], language: 'de' };
    await session.exchange(
      update({
        transcription,
        format: { type: 'audio/pcmu' },
        turn_detection: { type: 'semantic_vad', eagerness: 'high' },
      }),
    );
    const hints = { model: 'prompts', language: 'de', prompt: 'Names. Ada' };
    expect(session.speech.calls).toEqual([
      [
        'configure',
        { format: { encoding: 'pcmu' }, detection: { threshold: 0.5, prefixMs: 300, silenceMs: 400 }, hints },
      ],
    ]);
  });

  it('of a client secret is configured at once', async () => {
    const session = openSession({ session: { type: 'transcription' } });
    await session.exchange();
    expect(session.speech.calls).toMatchObject([['configure', { format: { encoding: 'pcm', rate: 24_000 } }]]);
  });
});

describe('an event with an error', () => {
  const id = 'mine-1';
  const refusedUpdate = (session: object) => ({ type: 'session.update', session });

  it.each([
    ['no JSON', '{', 'invalid_event', null],
    ['a binary message', undefined, 'invalid_event', null],
    ['null', 'null', 'invalid_event', null],
    ['an array', [], 'invalid_event', null],
    ['no type', {}, 'invalid_event', null],
    ['deep nesting', `{"type":"session.update","session":${'['.repeat(99)}${']'.repeat(99)}}`, 'invalid_event', null],
    ['too many values', `{"type":"session.update","session":[${'1,'.repeat(200_000)}1]}`, 'invalid_event', null],
    ['an unknown type', { type: 'audio.send' }, 'invalid_value', 'type'],
    ['a type of every object', { type: 'constructor' }, 'invalid_value', 'type'],
    ['a type of the service', { type: 'session.created' }, 'invalid_value', 'type'],
    ['no session', { type: 'session.update' }, 'missing_required_parameter', 'session'],
    ['no session.type', refusedUpdate({}), 'missing_required_parameter', 'session.type'],
    ['a conversation', refusedUpdate({ type: 'realtime' }), 'invalid_value', 'session.type'],
    [
      'a rate',
      update({ format: { type: 'audio/pcm', rate: 4_000 } }),
      'invalid_value',
      'session.audio.input.format.rate',
    ],
    [
      'a threshold',
      update({ turn_detection: { threshold: 'loud' } }),
      'invalid_value',
      'session.audio.input.turn_detection.threshold',
    ],
    [
      'a kind of detection',
      update({ turn_detection: { type: 'psychic' } }),
      'invalid_value',
      'session.audio.input.turn_detection.type',
    ],
    [
      'an unknown model',
      update({ transcription: { model: 'absent' } }),
      'model_not_found',
      'session.audio.input.transcription.model',
    ],
    [
      'an unavailable model',
      update({ transcription: { model: 'broken' } }),
      'engine_failed',
      'session.audio.input.transcription.model',
    ],
    ['no audio', { type: 'input_audio_buffer.append' }, 'invalid_value', 'audio'],
    ['no base64', { type: 'input_audio_buffer.append', audio: 'AA-_' }, 'invalid_value', 'audio'],
    ['a WAV file', append('RIFF....WAVE'), 'invalid_value', 'audio'],
    ['a response', { type: 'response.create' }, 'unsupported_value', 'type'],
    ['an item', { type: 'conversation.item.create', item: {} }, 'unsupported_value', 'type'],
    ['output', { type: 'output_audio_buffer.clear' }, 'unsupported_value', 'type'],
    ['a cancel', { type: 'response.cancel' }, 'response_cancel_not_active', null],
    [
      'an item to retrieve',
      { type: 'conversation.item.retrieve', item_id: 'x' },
      'item_retrieve_invalid_item_id',
      'item_id',
    ],
    ['an item to delete', { type: 'conversation.item.delete', item_id: 'x' }, 'item_delete_invalid_item_id', 'item_id'],
    [
      'an item to truncate',
      { type: 'conversation.item.truncate', item_id: 'x' },
      'item_truncate_invalid_item_id',
      'item_id',
    ],
    [
      'the beta protocol',
      refusedUpdate({ input_audio_format: 'pcm16' }),
      'unknown_parameter',
      'session.input_audio_format',
    ],
    ['a beta event', { type: 'transcription_session.update', session: {} }, 'invalid_value', 'type'],
  ])('has one error, which changes nothing: %s', async (_what, message, code, param) => {
    const session = openSession();
    await session.exchange();
    const hasId = typeof message === 'object' && !Array.isArray(message);
    const events = await session.exchange(
      hasId ? { ...message, event_id: id } : Array.isArray(message) ? '[]' : message,
    );
    expect(errorsIn(events)).toEqual([
      {
        ...{ type: code === 'engine_failed' ? 'server_error' : 'invalid_request_error', code, param },
        ...{ message: expect.any(String) as string, event_id: hasId && 'type' in message ? id : null },
      },
    ]);
    expect(session.speech.calls).toEqual([]);
    expect(typesOf(await session.exchange(update({})))).toEqual(['session.updated']);
  });

  it('names what replaces a field of the beta protocol', async () => {
    const session = openSession();
    const [, error] = await session.exchange(refusedUpdate({ turn_detection: null }));
    expect(error).toMatchObject({
      error: { message: expect.stringContaining('session.audio.input.turn_detection') as string },
    });
  });

  it('nothing to commit, and a full buffer', async () => {
    const session = openSession();
    await session.exchange(update({ turn_detection: null }));
    session.speech.commits.push(false);
    session.speech.appends.push(true, false, true);
    const events = await session.exchange({ ...commit, event_id: id }, append('a'), append('b'), append('c'));
    expect(errorsIn(events)).toMatchObject([
      { code: 'input_audio_buffer_commit_empty', event_id: id },
      { code: 'input_audio_buffer_full', event_id: null },
    ]);
    expect(session.socket.closed).toBeUndefined();
  });
});

describe('a turn', () => {
  const item = (id: string) => ({
    ...{ id, object: 'realtime.item', type: 'message', status: 'completed', role: 'user' },
    content: [{ type: 'input_audio', transcript: null }],
  });

  it('has its events in order, and the next one follows its item', async () => {
    const session = openSession();
    await session.exchange(append('sound'));
    const { speech } = session;
    speech.emit({ type: 'started', turn: 'item_1', ms: 0 });
    speech.emit({ type: 'stopped', turn: 'item_1', ms: 1_200 });
    speech.emit({ type: 'committed', turn: 'item_1' });
    speech.emit({ type: 'delta', turn: 'item_1', text: 'Guten' });
    speech.emit({ type: 'delta', turn: 'item_1', text: ' Morgen.' });
    speech.emit({ type: 'completed', turn: 'item_1', transcript: 'Guten Morgen.', seconds: 1.2, languages: ['de'] });
    speech.emit({ type: 'committed', turn: 'item_2' });
    const place = { item_id: 'item_1', content_index: 0 };
    const events = await session.exchange();
    expect(events.map(({ event_id: _id, ...event }) => event)).toEqual([
      { type: 'input_audio_buffer.speech_started', item_id: 'item_1', audio_start_ms: 0 },
      { type: 'input_audio_buffer.speech_stopped', item_id: 'item_1', audio_end_ms: 1_200 },
      { type: 'input_audio_buffer.committed', item_id: 'item_1', previous_item_id: null },
      { type: 'conversation.item.added', previous_item_id: null, item: item('item_1') },
      { type: 'conversation.item.done', previous_item_id: null, item: item('item_1') },
      { type: 'conversation.item.input_audio_transcription.delta', ...place, delta: 'Guten' },
      { type: 'conversation.item.input_audio_transcription.delta', ...place, delta: ' Morgen.' },
      {
        ...{ type: 'conversation.item.input_audio_transcription.completed', ...place },
        ...{ transcript: 'Guten Morgen.', usage: { type: 'duration', seconds: 1.2 }, languages: [{ code: 'de' }] },
      },
      { type: 'input_audio_buffer.committed', item_id: 'item_2', previous_item_id: 'item_1' },
      { type: 'conversation.item.added', previous_item_id: 'item_1', item: item('item_2') },
      { type: 'conversation.item.done', previous_item_id: 'item_1', item: item('item_2') },
    ]);
    expect(session.turns).toEqual([1_200]);
  });

  it.each([
    ['a limit', new ProblemError('quota-exceeded', 'Used up.'), 'insufficient_quota', 'debug'],
    ['an engine', new EngineError('engine-failed', 'It broke.'), 'engine_failed', 'error'],
    ['a bug', new TypeError('secret'), 'internal_error', 'error'],
  ])('that fails by %s has an event for it and no error', async (_what, error, code, level) => {
    const session = openSession();
    await session.exchange();
    session.speech.emit({ type: 'committed', turn: 'item_1' });
    session.speech.emit({ type: 'failed', turn: 'item_1', error });
    const failed = (await session.exchange()).at(-1);
    expect(failed).toMatchObject({ type: 'conversation.item.input_audio_transcription.failed', error: { code } });
    expect(failed?.error).not.toHaveProperty('param');
    expect(JSON.stringify(failed)).not.toContain('secret');
    expect(session.logged).toEqual([[level, 'a turn could not be transcribed']]);
    expect(session.socket.closed).toBeUndefined();
  });

  it('is forgotten by a clear', async () => {
    const session = openSession();
    await session.exchange();
    session.speech.emit({ type: 'started', turn: 'item_1', ms: 0 });
    expect(typesOf(await session.exchange(clear))).toEqual([
      'input_audio_buffer.speech_started',
      'input_audio_buffer.cleared',
    ]);
    expect(session.speech.calls).toEqual([['clear']]);
  });

  it('reaches the speech session in the order of the messages, whatever else is in them', async () => {
    const session = openSession();
    const more = { ...commit, code: 'none', message: 'of the client' };
    await session.exchange(append('a'), update({ turn_detection: null }), append('b'), more, append('c'), clear);
    expect(session.speech.calls.map(([name, value]) => (name === 'append' ? value : name))).toEqual([
      ...['a', 'configure', 'b', 'commit', 'c', 'clear'],
    ]);
  });
});

describe('an append waits as other events do', () => {
  it.each([
    ['after thousands with next to no sound', Array.from({ length: 6_001 }, () => append('')), 6_000],
    ['if it is long without sound', [append('a', { more: 'x'.repeat(4_000_000) }), append('b')], 0],
    ['unless it is sound', Array.from({ length: 100 }, () => append('x'.repeat(60_000))), 100],
  ])('%s', async (_when, messages, atOnce) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const { exchange, speech } = openSession();
      await exchange(...messages);
      expect(speech.calls).toHaveLength(atOnce);
      vi.advanceTimersByTime(5_000);
      await exchange();
      expect(speech.calls).toHaveLength(messages.length);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a session is idle', () => {
  it('unless something has been said that has no transcript yet', async () => {
    const session = openSession();
    await session.exchange(append('a'));
    expect(session.idle.at(-1)).toBe(true);
    const after = async (event: TurnEvent) => {
      session.speech.emit(event);
      await session.exchange();
      return session.idle.at(-1);
    };
    expect(await after({ type: 'started', turn: 'item_1', ms: 0 })).toBe(false);
    expect(await after({ type: 'stopped', turn: 'item_1', ms: 500 })).toBe(false);
    expect(await after({ type: 'committed', turn: 'item_1' })).toBe(false);
    expect(await after({ type: 'completed', turn: 'item_1', transcript: 'a', seconds: 1 })).toBe(true);
    expect(await after({ type: 'voice', turn: 'item_2' })).toBe(false);
    expect(await after({ type: 'forgotten', turn: 'item_2' })).toBe(true);
  });
});

describe('events of the client beyond 200', () => {
  it.each([
    ['many', (count: number) => Array.from({ length: count }, () => ({ type: 'input_audio_buffer.clear' }))],
    [
      'one, which is as long as many',
      (count: number) => [{ type: 'none', more: 'x'.repeat(16_384 * (count - 1)) }, clear],
    ],
  ])('wait, and sound does not: %s', async (_what, events) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const cleared = (session: OpenSession) => session.speech.calls.filter(([name]) => name === 'clear').length;
    try {
      const session = openSession();
      const sounds = Array.from({ length: 300 }, () => append('a'));
      await session.exchange(...sounds);
      expect(session.speech.calls).toHaveLength(300);
      await session.exchange(...events(200));
      const early = cleared(session);
      await session.exchange(clear);
      expect(cleared(session)).toBe(early);
      await vi.advanceTimersByTimeAsync(10);
      await session.exchange();
      expect(cleared(session)).toBe(early + 1);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the end', () => {
  it('comes after 60 minutes, with an error', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const session = openSession();
      await session.exchange();
      vi.advanceTimersByTime(3_599_999);
      expect(await session.exchange()).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(errorsIn(await session.exchange())).toMatchObject([{ code: 'session_expired', event_id: null }]);
      await session.ended;
      expect(session.socket.closed?.code).toBe(1001);
      expect(session.speech.calls).toEqual([['end']]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('comes at a shutdown, at once if the session is idle', async () => {
    const session = openSession();
    await session.exchange();
    session.draining.abort(new Error('stop'));
    await session.ended;
    expect(session.socket.closed?.code).toBe(1012);
  });

  it('comes at a shutdown at once if there has been nothing but silence, whoever commits', async () => {
    const session = openSession();
    await session.exchange(update({ turn_detection: null }), append('a'), update({ turn_detection: {} }), append('b'));
    session.draining.abort(new Error('stop'));
    await session.ended;
    expect(session.socket.closed?.code).toBe(1012);
  });

  it.each<[string, boolean, readonly string[]]>([
    ['commits what has been said', true, ['commit']],
    ['clears what is too short', false, ['commit', 'clear']],
  ])('some seconds before that of the service %s, and takes no more sound', async (_what, isLong, calls) => {
    const session = openSession();
    await session.exchange(update({ turn_detection: null }), append('a'));
    session.speech.emit({ type: 'voice', turn: 'item_1' });
    session.speech.commits.push(isLong);
    session.speech.calls.length = 0;
    session.concluding.abort();
    await session.exchange(append('b'));
    expect(session.speech.calls.map(([name]) => name)).toEqual(calls);
    expect(session.socket.closed).toBeUndefined();
    if (isLong) session.speech.emit({ type: 'committed', turn: 'item_1' });
    if (isLong) session.speech.emit({ type: 'completed', turn: 'item_1', transcript: 'a', seconds: 1 });
    else session.speech.emit({ type: 'forgotten', turn: 'item_1' });
    await session.ended;
    expect(session.socket.closed?.code).toBe(1012);
    expect(typesOf(session.socket.events)).not.toContain('error');
  });

  it('comes at a shutdown after the last transcript', async () => {
    const session = openSession();
    await session.exchange(update({ turn_detection: null }), append('a'));
    session.speech.emit({ type: 'voice', turn: 'item_1' });
    session.draining.abort(new Error('stop'));
    await session.exchange();
    expect(session.socket.closed).toBeUndefined();
    session.speech.emit({ type: 'committed', turn: 'item_1' });
    await session.exchange();
    expect(session.socket.closed).toBeUndefined();
    session.speech.emit({ type: 'completed', turn: 'item_1', transcript: 'a', seconds: 1 });
    await session.ended;
    expect(session.socket.closed?.code).toBe(1012);
    expect(typesOf(session.socket.events).at(-1)).toMatch(/completed$/);
  });

  it.each([
    ['sound', () => openSession()],
    ['the speech session', () => openSession({ openSpeechSession: () => Promise.reject(new TypeError('no disk')) })],
  ])('comes with 1011 when the service fails: %s', async (what, open) => {
    const session = open();
    session.speech.fails = new TypeError('no disk');
    const events = await session.exchange(...(what === 'sound' ? [append('a'), append('b')] : []));
    expect(errorsIn(events.slice(1))).toMatchObject([{ type: 'server_error', code: 'internal_error' }]);
    await session.ended;
    expect(session.socket.closed?.code).toBe(1011);
    expect(session.logged).toEqual([['error', 'a live session failed']]);
  });

  it('comes when the client leaves: nothing is sent or logged, and the work ends', async () => {
    const session = openSession();
    await session.exchange();
    session.socket.leave();
    await session.ended;
    expect(session.speech.calls).toEqual([['end']]);
    expect(session.logged).toEqual([]);
    expect(session.socket.events).toHaveLength(1);
  });
});

describe('the contract of the events', () => {
  it('rejects an event that it does not declare, and one with a wrong field', () => {
    const check = (event: WireEvent) => checkSentEvent(openaiContract, 'RealtimeTranscriptionServerEvent', event);
    expect(() => check({ type: 'response.done' })).toThrow(/response\.done.*not declared/);
    const cleared = { type: 'input_audio_buffer.cleared' };
    expect(() => check(cleared)).toThrow(/event_id/);
    expect(() => check({ ...cleared, event_id: 'event_1' })).not.toThrow();
  });

  it('declares no event that a session does not send', async () => {
    const session = openSession();
    await session.exchange(update({}), clear, '{');
    session.speech.emit({ type: 'started', turn: 'item_1', ms: 0 });
    session.speech.emit({ type: 'stopped', turn: 'item_1', ms: 900 });
    for (const turn of ['item_1', 'item_2']) session.speech.emit({ type: 'committed', turn });
    session.speech.emit({ type: 'delta', turn: 'item_1', text: 'Ja.' });
    session.speech.emit({ type: 'completed', turn: 'item_1', transcript: 'Ja.', seconds: 0.9 });
    session.speech.emit({ type: 'failed', turn: 'item_2', error: new EngineError('engine-failed', 'It broke.') });
    await session.exchange();
    const sent = new Set(typesOf(session.socket.events));
    expect(
      eventCheckOf(openaiContract, 'RealtimeTranscriptionServerEvent').types.filter((type) => !sent.has(type)),
    ).toEqual([]);
  });
});
