/** Reads a transcription's stream, and checks the rules of the contract for its events. */
import { expect } from 'vitest';
import type { Schemas } from '../../../src/contract/operations.ts';
import { streamReader } from '../../support/open-stream.ts';

export type TranscriptionEvent = Schemas['TranscriptionEvent'];
export type EventOf<Type extends TranscriptionEvent['type']> = Extract<TranscriptionEvent, { type: Type }>;

export const path = '/api/v1/transcribe/stream';

export const { open: openStream, read: readStream } = streamReader<TranscriptionEvent>(path, 'TranscriptionEvent');

export const typesOf = (events: readonly TranscriptionEvent[]) => events.map(({ type }) => type);

export function expectGuarantees(events: readonly TranscriptionEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index));
  expect(events[0]?.type).toBe('transcription.started');
  expect(events.filter(({ type }) => type === 'transcription.started')).toHaveLength(1);
  const ends = events.filter(({ type }) => type === 'transcription.completed' || type === 'transcription.failed');
  expect(ends).toEqual([events.at(-1)]);
  const firstReport = events.findIndex(({ type }) => /segment|progress/.test(type));
  const lastPlace = events.findLastIndex(({ type }) => type === 'transcription.queued');
  if (firstReport >= 0) expect(lastPlace).toBeLessThan(firstReport);
  const progress = events.flatMap((event) => (event.type === 'transcription.progress' ? [event.processed_ms] : []));
  expect(progress).toEqual([...new Set(progress)].toSorted((a, b) => a - b));
  const starts = events.flatMap((event) => (event.type === 'segment.created' ? [event.segment.start_ms] : []));
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
}
