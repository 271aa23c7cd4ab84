/** Client secrets for pages that must not have the API key. */
import { answer } from '../../contract/operations.ts';
import type { Services } from '../../handlers/dependencies.ts';
import type { Handler, Operations } from '../operations.ts';

const defaultSeconds = 600;

export const createRealtimeClientSecret: Handler<'createRealtimeClientSecret', Services> = async (
  { body: { expires_after: expiry, session = { type: 'transcription' } } },
  { clientSecrets },
) => {
  const { value, expires } = await clientSecrets.create(expiry?.seconds ?? defaultSeconds, session);
  return answer<Operations, 'createRealtimeClientSecret'>({
    status: 200,
    mediaType: 'application/json',
    body: { value, expires_at: Math.floor(expires / 1000), session },
  });
};
