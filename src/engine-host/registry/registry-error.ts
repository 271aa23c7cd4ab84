import { messageOf } from '../../../lib/errors.ts';

/** Invalid engine settings; the message has one line per mistake. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
}

/** Creates a RegistryError. `place` is the path below `engines` in the settings. */
export function refusal(place: string, what: string, cause?: unknown): RegistryError {
  return new RegistryError(`engines.${place}: ${what}`, { cause });
}

/** Wraps errors of third-party code in a RegistryError that names the path in the settings. */
export async function explained<T>(place: string, what: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw refusal(place, `${what}: ${messageOf(cause)}`, cause);
  }
}

/** Joins the messages into one error. */
export function combined(errors: readonly RegistryError[]): RegistryError {
  const [first] = errors;
  if (first !== undefined && errors.length === 1) return first;
  return new RegistryError(errors.map(({ message }) => message).join('\n'));
}
