/** Deltas of a streamed transcription: together they are the text of the last event. */
import { expect, test } from 'vitest';
import { toDeltas } from '../../src/openai/transcript-deltas.ts';
import type { TranscriptionEvent } from '../../src/transcription/wire.ts';

async function* events(segments: readonly string[], text: string): AsyncGenerator<TranscriptionEvent> {
  yield await Promise.resolve({ type: 'transcription.started', seq: 0, id: 'an-id', model: 'ears' });
  for (const segment of segments) {
    yield { type: 'segment.created', seq: 1, segment: { start_ms: 0, end_ms: 1, text: segment } };
    yield { type: 'transcription.progress', seq: 2, processed_ms: 1 };
  }
  yield { type: 'transcription.completed', seq: 3, result: { text, language: null, model: 'ears' } };
}

test.each([
  ['segments, joined with spaces', ['Good morning.', 'It is late.'], 'Good morning. It is late.', 2],
  ['segments with spaces around them', [' Good morning.', ' It is late. '], 'Good morning. It is late.', 2],
  ['segments of a language without spaces', ['東京は', '雨です。', '明日は？'], '東京は雨です。明日は？', 3],
  ['such segments with narrow punctuation', ['他说"请坐".', '"好"', '明天见'], '他说"请坐"."好"明天见', 3],
  ['characters of two code units', ['𠮷野家', '𠮷'], '𠮷野家𠮷', 2],
  ['segments of two languages', ['東京 is', 'big.'], '東京 is big.', 2],
  ['the rest, where the engine reported only a part', ['Good morning.'], 'Good morning. It is late.', 2],
  ['the rest, whatever the spaces', ['Good', 'morning.'], 'Goodmorning. It is late.', 3],
  ['no segments: the whole text', [], 'Good morning.', 1],
  ['empty segments: none', ['', ' ', 'Good.'], 'Good.', 1],
  ['silence: none', [], '', 0],
])('%s', async (_what, segments, text, count) => {
  const deltas: string[] = [];
  let last = '';
  for await (const event of toDeltas(events(segments, text))) {
    if (event.type === 'transcript.text.delta') deltas.push(event.delta);
    else last = event.text;
  }
  expect(deltas).toHaveLength(count);
  expect(deltas.join('')).toBe(last);
  expect(last.replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
  if (!text.includes('Goodm')) expect(last).toBe(text);
});
