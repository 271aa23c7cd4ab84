/** What a refusal means for speech, where the provider says more than "no". */
import { EngineError, type SpeechCall } from '../contract/index.ts';
import type { Refusal } from '../lib/provider/failures.ts';
import type { RemoteFormat } from './apis.ts';

export interface Asked {
  readonly call: SpeechCall;
  readonly voice: string | undefined;
  readonly format: RemoteFormat;
}

const refusing = new Set([400, 404, 422]);

/** Undefined leaves it to the table of failures. What the caller did not choose is a mistake of the settings. */
export function explainRefusal(refusal: Refusal, asked: Asked, cause: Error): Error | undefined {
  if (!refusing.has(refusal.status)) return undefined;
  if (isAbout(refusal, 'voice')) {
    if (asked.voice === undefined) {
      return new EngineError('voice-not-supported', 'The provider wants the request to name a voice.', { cause });
    }
    if (asked.voice === asked.call.voice) {
      return new EngineError('voice-not-supported', 'The provider does not know this voice.', { cause });
    }
    return misconfigured('voice', cause);
  }
  if (isAbout(refusal, 'response.?format')) {
    return asked.format === asked.call.format
      ? new EngineError('format-not-supported', 'The provider does not know this format.', { cause })
      : misconfigured('format', cause);
  }
  return undefined;
}

function misconfigured(what: string, cause: Error): EngineError {
  return new EngineError('provider-misconfigured', `The provider does not know the ${what} of the settings.`, {
    cause,
  });
}

/** It blames the field, or its message speaks of it; names of models may have the word in them ("grok-voice-tts"). */
function isAbout({ param, message, code }: Refusal, field: string): boolean {
  if (param !== '') return new RegExp(`^${field}`, 'i').test(param);
  return code !== 'model_not_found' && new RegExp(`(?<![-/\\w])${field}`, 'i').test(complaint(message));
}

/** FastAPI repeats what it was sent, the text too: of its list of mistakes only the places count. */
function complaint(message: string): string {
  const places = [...message.matchAll(/"loc":\s*\[([^\]]*)\]/g)].map(([, place]) => place);
  return places.length > 0 ? places.join() : message;
}
