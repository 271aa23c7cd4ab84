/** What the user is shown of a transcription that is under way. */
import { describe, expect, test } from 'vitest';
import {
  applyTranscriptionEvent,
  newTranscript,
  shareOf,
  textOfTranscript,
  type Transcript,
} from '../../page/transcript.ts';
import type { TranscriptionEvent } from '../../src/client/index.ts';

const after = (...events: readonly TranscriptionEvent[]): Transcript =>
  events.reduce(applyTranscriptionEvent, newTranscript);

const segment = (text: string): TranscriptionEvent => ({
  type: 'segment.created',
  seq: 1,
  segment: { start_ms: 0, end_ms: 1, text },
});
const queued = (ahead: number): TranscriptionEvent => ({ type: 'transcription.queued', seq: 1, ahead });
const progress = (processed_ms: number, duration_ms?: number): TranscriptionEvent => ({
  type: 'transcription.progress',
  seq: 1,
  processed_ms,
  ...(duration_ms !== undefined && { duration_ms }),
});

test('the text grows by segments', () => {
  expect(after(segment(' Good morning.'), segment(' How are you?')).text).toBe('Good morning. How are you?');
  expect(after(segment('请坐。'), segment('明天见。')).text).toBe('请坐。明天见。');
});

describe('the progress', () => {
  test.each([
    ['nothing known', newTranscript, 'Transcribing.', undefined],
    ['an upload', { ...newTranscript, sent: 0.424 }, 'Uploading: 42 %.', 0.424],
    ['a finished upload', { ...newTranscript, sent: 1 }, 'Transcribing.', undefined],
    ['a place in the line', { ...after(queued(3)), sent: 1 }, 'In the queue: 3 ahead.', undefined],
    ['the first place', after(queued(3), queued(0)), 'Next in the queue.', undefined],
    ['a turn that has come', after(queued(1), progress(0, 4_000)), 'Transcribing: 0 %.', 0],
    ['a turn without a duration', after(queued(1), progress(0)), 'Transcribing.', undefined],
    ['a share', { ...after(progress(3_000, 4_000)), sent: 1 }, 'Transcribing: 75 %.', 0.75],
    ['no duration', after(progress(3_000)), 'Transcribing.', undefined],
    ['a model that is being loaded', { ...after(progress(0, 4_000)), isLoading: true }, 'Loading the model.', 0],
    ['a place in the line, and a model', { ...after(queued(1)), isLoading: true }, 'In the queue: 1 ahead.', undefined],
    ['a share, and a model', { ...after(progress(3_000, 4_000)), isLoading: true }, 'Transcribing: 75 %.', 0.75],
    ['more than all', after(progress(5_000, 4_000)), 'Transcribing: 100 %.', 1],
  ])('of %s', (_what, transcript, text, share) => {
    expect(textOfTranscript(transcript)).toBe(text);
    expect(shareOf(transcript)).toBe(share);
  });
});
