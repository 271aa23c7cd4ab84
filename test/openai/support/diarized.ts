/**
 * Transcripts with speakers as the types of `openai` declare them: at run time by the shapes, whose names come from the
 * types, and at compile time by the contract, to which every answer of the tests is held.
 */
import type {
  TranscriptionDiarized,
  TranscriptionDiarizedSegment,
  TranscriptionStreamEvent,
  TranscriptionTextDeltaEvent,
  TranscriptionTextDoneEvent,
  TranscriptionTextSegmentEvent,
} from 'openai/resources/audio/transcriptions';
import { expect } from 'vitest';
import type { Schemas } from '../../../src/openai/operations.ts';

export const answerOfSdk = (answer: Schemas['DiarizedTranscription']): TranscriptionDiarized => answer;
export const eventOfSdk = (event: Schemas['TranscriptionEvent']): TranscriptionStreamEvent => event;

type Kind = 'string' | 'number' | 'object';
type Shape<T> = {
  readonly [Name in keyof T]-?: undefined extends T[Name] ? `${Kind}?` : Kind;
};

const segment: Shape<TranscriptionDiarizedSegment> & Shape<TranscriptionTextSegmentEvent> = {
  type: 'string',
  id: 'string',
  start: 'number',
  end: 'number',
  text: 'string',
  speaker: 'string',
};
const answer: Shape<TranscriptionDiarized> = {
  task: 'string',
  duration: 'number',
  text: 'string',
  segments: 'object',
  usage: 'object?',
};
const delta: Shape<TranscriptionTextDeltaEvent> = {
  type: 'string',
  delta: 'string',
  logprobs: 'object?',
  segment_id: 'string?',
};
const done: Shape<TranscriptionTextDoneEvent> = {
  type: 'string',
  text: 'string',
  languages: 'object?',
  logprobs: 'object?',
  usage: 'object?',
};
const events: Readonly<Record<TranscriptionStreamEvent['type'], Readonly<Record<string, string>>>> = {
  'transcript.text.segment': segment,
  'transcript.text.delta': delta,
  'transcript.text.done': done,
};

export function expectDiarized(value: TranscriptionDiarized): void {
  expectShape(value, answer);
  for (const one of value.segments) expectShape(one, segment);
}

export function expectStreamEvent(event: TranscriptionStreamEvent): void {
  expectShape(event, events[event.type]);
}

function expectShape(value: object, shape: Readonly<Record<string, string>>): void {
  const kinds = new Map(Object.entries(value).map(([name, inner]): [string, string] => [name, typeof inner]));
  for (const [name, kind] of Object.entries(shape)) {
    const found = kinds.get(name) ?? 'undefined';
    expect(kind.endsWith('?') ? [kind.slice(0, -1), 'undefined'] : [kind], name).toContain(found);
  }
}
