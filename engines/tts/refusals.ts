/** Maps error responses about the voice, the format and the speed to problem codes. */
import { EngineError, type SpeechCall } from '../contract/index.ts';
import type { Refusal } from '../lib/provider/failures.ts';
import type { RemoteFormat } from './apis.ts';

export interface Asked {
  readonly call: SpeechCall;
  readonly voice: string | undefined;
  readonly format: RemoteFormat;
}

const rejectionStatuses = new Set([400, 404, 422]);

/**
 * Returns undefined to let lib/provider/failures.ts decide. A rejected value that the client did not choose is a
 * settings error.
 */
export function explainRefusal(refusal: Refusal, asked: Asked, cause: Error): Error | undefined {
  if (!rejectionStatuses.has(refusal.status)) return undefined;
  if (isAbout(refusal, 'voice')) {
    if (asked.voice === undefined) {
      return new EngineError('voice-not-supported', 'The provider requires a voice.', { cause });
    }
    if (asked.voice === asked.call.voice) {
      return new EngineError('voice-not-supported', 'The provider does not support this voice.', { cause });
    }
    return misconfigured('voice', cause);
  }
  if (asked.call.speed !== undefined && isAbout(refusal, 'speed')) {
    return new EngineError('parameter-not-supported', 'The provider does not support this speed.', { cause });
  }
  if (isAbout(refusal, 'response.?format')) {
    return asked.format === asked.call.format
      ? new EngineError('format-not-supported', 'The provider does not support this format.', { cause })
      : misconfigured('format', cause);
  }
  return undefined;
}

function misconfigured(what: string, cause: Error): EngineError {
  return new EngineError('provider-misconfigured', `The provider does not support the configured ${what}.`, {
    cause,
  });
}

/** Decides by `param` or, if it is empty, by the message, ignoring the word inside model names ("grok-voice-tts"). */
function isAbout({ param, message, code }: Refusal, field: string): boolean {
  if (param !== '') return new RegExp(`^${field}`, 'i').test(param);
  return code !== 'model_not_found' && new RegExp(`(?<![-/\\w])${field}`, 'i').test(complaint(message));
}

/** FastAPI echoes the request, including the text: use only the locations of its validation errors. */
function complaint(message: string): string {
  const places = [...message.matchAll(/"loc":\s*\[([^\]]*)\]/g)].map(([, place]) => place);
  return places.length > 0 ? places.join() : message;
}
