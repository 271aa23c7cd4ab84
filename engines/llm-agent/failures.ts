/** The failures of an answer that began as a success. */
import { EngineError } from '../contract/index.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';

export function badResponse(message: string, why: string): EngineError {
  return new EngineError('provider-bad-response', message, { cause: new Error(why) });
}

/** `{error}`, with or without the rest of an event; of /responses also the events that say so by their type. */
export function throwIfError(event: JsonObject, redact: (text: string) => string): void {
  const { error, type } = event;
  const isError = isObject(error) || (typeof error === 'string' && error !== '');
  if (isError || type === 'error' || type === 'response.failed') throw errorInside(event, redact);
}

export function errorInside(event: JsonObject, redact: (text: string) => string): EngineError {
  const cause = new Error(`an error inside the answer: ${redact(JSON.stringify(event))}`);
  return new EngineError('provider-error', 'The provider failed while it answered.', { cause });
}
