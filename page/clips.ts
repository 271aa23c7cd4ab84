/**
 * Clips that only this page knows. The page deletes each clip after it has been played, or when it will not be played.
 */
import type { SpeechRequest } from '../src/client/index.ts';
import { client } from './service.ts';

/**
 * When the signal aborts, the service may already have created the clip, and only its response has the id that is
 * needed to delete it. The request is aborted only after this time, so that a voice that hangs does not occupy all
 * connections of the browser.
 */
const graceMs = 10_000;

/**
 * Resolves with the id of a clip that is playable immediately, long before it is complete; undefined if the signal has
 * aborted.
 */
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
  client.value.deleteClip(id).catch(() => undefined); // the clip has expired, or will
}
