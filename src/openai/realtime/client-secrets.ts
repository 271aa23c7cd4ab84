/** Client secrets, for pages that must not have access to the API key. */
import { answer } from '../../contract/operations.ts';
import { invalid } from '../../contract/problems.ts';
import type { Services } from '../../handlers/dependencies.ts';
import type { Handler, Operations } from '../operations.ts';
import { newIdentity, openConfig, toSession, updateConfig } from './session-config.ts';

const defaultSeconds = 600;
/** Maximum size in JSON characters, because a key may keep 1,000 session configurations in memory. */
const maxSession = 16_384;

export const createRealtimeClientSecret: Handler<'createRealtimeClientSecret', Services> = async (
  { body: { expires_after: expiry, session = { type: 'transcription' } } },
  services,
) => {
  if (JSON.stringify(session).length > maxSession) {
    throw invalid('body', '/session', `must not exceed ${String(maxSession)} characters`);
  }
  const config = updateConfig(openConfig(services, undefined), session, services);
  const { value, expires } = await services.clientSecrets.create(expiry?.seconds ?? defaultSeconds, session);
  return answer<Operations, 'createRealtimeClientSecret'>({
    status: 200,
    mediaType: 'application/json',
    body: { value, expires_at: Math.floor(expires / 1000), session: toSession(config, newIdentity()) },
  });
};
