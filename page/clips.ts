/** Clips that only this page knows: it deletes each when it has been played, and those that nobody will hear. */
import type { SpeechRequest } from '../src/client/index.ts';
import { client } from './service.ts';

/**
 * The service may have made the clip by the time the signal aborts, and only its response says which one: the response is
 * awaited for as long, and the clip is deleted.
 */
const graceMs = 2_000;

/** Resolves with the id of a clip that is playable at once, long before it is complete; undefined if the signal has aborted. */
export async function createClip(speech: SpeechRequest, signal: AbortSignal): Promise<string | undefined> {
  const request = new AbortController();
  signal.addEventListener('abort', () => setTimeout(() => request.abort(), graceMs));
  try {
    const { id } = await client.value.createClip(speech, { signal: request.signal });
    if (!signal.aborted) return id;
    deleteClip(id);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return undefined;
}

export function deleteClip(id: string): void {
  client.value.deleteClip(id).catch(() => undefined); // it has expired, or will
}
