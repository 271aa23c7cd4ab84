/** Errors inside a response with status 200. */
import { EngineError } from '../contract/index.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';

/** Throws for `{error}`, with or without other fields, and for the error event types of /responses. */
export function throwIfError(event: JsonObject, outline: (text: string) => string): void {
  const { error, type } = event;
  const isError = isObject(error) || (typeof error === 'string' && error !== '');
  if (isError || type === 'error' || type === 'response.failed') throw errorInside(event, outline);
}

export function errorInside(event: JsonObject, outline: (text: string) => string): EngineError {
  const cause = new Error(`error inside the response: ${outline(JSON.stringify(event))}`);
  return new EngineError('provider-error', 'The provider failed during its response.', { cause });
}
