/** POST /transcribe/stream with the real whisper-cli: segments while it works, the same as in its result. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { multipart, multipartType } from '../api/support/forms.ts';
import { decoders, startLocalService } from '../support/local-service.ts';
import type { TestService } from '../support/service.ts';
import { toneWav } from '../support/tone-model.ts';
import { expectGuarantees, readStream, type EventOf } from './support/stream.ts';

describe.each(Object.keys(decoders) as (keyof typeof decoders)[])('decoded by %s', (decoder) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startLocalService({ env: decoders[decoder] });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  async function streamed(words: Parameters<typeof toneWav>[0]['words'], timestamps: string) {
    const file = { name: 'file', value: toneWav({ words, rate: 48_000 }), filename: 'memo.wav' };
    const body = multipart({ name: 'timestamps', value: timestamps }, file);
    const { events } = await readStream(service.url, { headers: multipartType, body });
    expectGuarantees(events);
    const { result } = events.at(-1) as EventOf<'transcription.completed'>;
    const segments = events.flatMap((event) => (event.type === 'segment.created' ? [event.segment] : []));
    return { events, result, segments };
  }

  test('segments are streamed, and in the result', async () => {
    const { events, result, segments } = await streamed(['alpha', 'bravo'], 'word');
    expect(segments.length).toBeGreaterThan(0);
    expect(result.segments).toEqual(segments);
    expect(result.words?.map(({ text }) => text).join(' ')).toBe(result.text);
    const progress = events.filter(({ type }) => type === 'transcription.progress');
    expect(progress.at(-1)).toMatchObject({ duration_ms: result.duration_ms });
  });

  test('silence has none', async () => {
    const { result, segments } = await streamed([], 'word');
    expect(segments).toEqual([]);
    expect(result).toMatchObject({ text: '', language: null, segments: [], words: [] });
  });
});
