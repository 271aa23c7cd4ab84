/** The events that the service sends. */
import type { TurnEvent } from '../../realtime/speech-session.ts';
import type { Schemas } from '../operations.ts';
import { turnItem } from './conversation.ts';
import { bufferFull, commitEmpty, failure, type ErrorDetails } from './errors.ts';
import { toWire } from './items.ts';

type Numbered = Schemas['RealtimeServerEvent'] | Schemas['RealtimeTranscriptionServerEvent'];

/** An event without its `event_id`, which is assigned later. */
export type ServerEvent<Event = Numbered> = Event extends Numbered ? Omit<Event, 'event_id'> : never;

export function errorEvent(error: ErrorDetails, eventId: string | null): ServerEvent {
  return { type: 'error', error: { ...error, event_id: eventId } };
}

/** `previous` is the item of the previously committed turn. */
export function turnEvents(event: TurnEvent, previous: string | null): readonly ServerEvent[] {
  if (!('turn' in event)) return [errorEvent(event.type === 'full' ? bufferFull : commitEmpty, event.cause)];
  const id = { item_id: event.turn };
  const content = { ...id, content_index: 0 } as const;
  switch (event.type) {
    case 'started':
      return [{ type: 'input_audio_buffer.speech_started', audio_start_ms: event.ms, ...id }];
    case 'stopped':
      return [{ type: 'input_audio_buffer.speech_stopped', audio_end_ms: event.ms, ...id }];
    case 'committed': {
      const place = { previous_item_id: previous };
      const item = toWire(turnItem(event.turn));
      return [
        { type: 'input_audio_buffer.committed', ...place, ...id },
        { type: 'conversation.item.added', ...place, item },
        { type: 'conversation.item.done', ...place, item },
      ];
    }
    case 'voice':
    case 'early':
    case 'resumed':
    case 'forgotten':
      return [];
    case 'delta':
      return [{ type: 'conversation.item.input_audio_transcription.delta', ...content, delta: event.text }];
    case 'completed': {
      const { transcript, seconds, languages } = event;
      const type = 'conversation.item.input_audio_transcription.completed';
      const found = languages && { languages: languages.map((code) => ({ code })) };
      return [{ type, ...content, transcript, usage: { type: 'duration', seconds }, ...found }];
    }
    case 'failed': {
      const { param: _param, ...error } = failure(event.error);
      return [{ type: 'conversation.item.input_audio_transcription.failed', ...content, error }];
    }
  }
}
