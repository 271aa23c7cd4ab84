/** What a live transcription sends: words in the order of the turns, and anything that a service may send. */
import { describe, expect, test } from 'vitest';
import { applyLiveEvent, isComplete, newLiveTranscript, type LiveTranscript } from '../../page/live-transcript.ts';

const transcription = 'conversation.item.input_audio_transcription';
const committed = (item_id: string) => ({ type: 'input_audio_buffer.committed', item_id });
const delta = (item_id: string, text: string) => ({ type: `${transcription}.delta`, item_id, delta: text });
const completed = (item_id: string, transcript: string) => ({
  type: `${transcription}.completed`,
  item_id,
  transcript,
});
const updated = { type: 'session.updated' };

const after = (...events: readonly object[]) =>
  events.reduce<LiveTranscript | undefined>(
    (live, event) => live && applyLiveEvent(live, JSON.stringify(event)),
    newLiveTranscript,
  );
const textsOf = (live: LiveTranscript | undefined) => live && [...live.texts.values()];

describe('a live transcript', () => {
  test('has its turns in their order, whichever ends first', () => {
    const live = after(
      committed('a'),
      committed('b'),
      delta('b', 'and'),
      completed('b', 'and more'),
      delta('a', 'Some'),
    );
    expect(textsOf(live)).toEqual(['Some', 'and more']);
    expect(textsOf(after(committed('a'), delta('a', 'So'), delta('a', 'me'), completed('a', 'Some')))).toEqual([
      'Some',
    ]);
  });

  test('is complete when the commit is answered, and no turn is missing', () => {
    const speech = [{ type: 'session.created' }, updated, committed('a'), completed('a', 'Some')];
    const states = [
      [...speech],
      [...speech, updated],
      [...speech, committed('b'), updated],
      [...speech, committed('b'), updated, completed('b', 'more')],
      [...speech, { type: 'error', error: { code: 'input_audio_buffer_commit_empty' } }, updated],
    ];
    expect(states.map((events) => isComplete(after(...events)!))).toEqual([false, true, false, true, true]);
  });

  test('fails with a turn that fails, and with an error', () => {
    expect(after(committed('a'), { type: `${transcription}.failed`, item_id: 'a' })).toBeUndefined();
    expect(after({ type: 'error', error: { code: 'model_unavailable' } })).toBeUndefined();
  });

  test.each([
    '',
    'no JSON',
    'null',
    '[]',
    '5',
    '{}',
    '{"type":5}',
    '{"type":"error"}',
    '{"type":"error","error":null}',
    '{"type":"input_audio_buffer.committed"}',
    '{"type":"input_audio_buffer.committed","item_id":{}}',
    `{"type":"${transcription}.completed","item_id":"a","transcript":["a"]}`,
    `{"type":"${transcription}.delta","item_id":"a"}`,
    new Uint8Array(3),
  ])('is ignored: %s', (data) => expect(applyLiveEvent(newLiveTranscript, data)).toBeUndefined());

  test('ignores what it does not know', () => {
    expect(after({ type: 'rate_limits.updated' })).toEqual(newLiveTranscript);
    expect(textsOf(after(completed('__proto__', 'Some')))).toEqual(['Some']);
  });
});
