/** Reads the bodies of successful responses. */
import { unexpected, unreadable } from './errors.ts';
import type { Shape } from './shapes.ts';

export function bodyOf(response: Response): ReadableStream<Uint8Array> {
  if (!response.body) throw unexpected(response);
  return response.body;
}

export async function jsonOf<T>(response: Response, shape: Shape, signal: AbortSignal | undefined): Promise<T> {
  const data = await read(response, () => response.json() as Promise<T>, signal);
  if (!shape(data)) throw unexpected(response, { what: 'a body of another kind' });
  return data;
}

export function textOf(response: Response, signal: AbortSignal | undefined): Promise<string> {
  return read(response, () => response.text(), signal);
}

async function read<T>(response: Response, body: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await body();
  } catch (cause) {
    signal?.throwIfAborted();
    throw unexpected(response, { what: unreadable, cause });
  }
}
