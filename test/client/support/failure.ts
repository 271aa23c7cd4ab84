import { expect } from 'vitest';
import { ParlanceError } from '../../../src/client/index.ts';

/** What the call rejects with. */
export async function failureOf(call: Promise<unknown>): Promise<ParlanceError> {
  const error: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(ParlanceError);
  return error as ParlanceError;
}
