/** Client secrets, for pages that must not have access to the API key. */
import { defaultModel } from '../../engine-host/models/model-selection.ts';
import { answer } from '../../contract/operations.ts';
import { invalid } from '../../contract/problems.ts';
import type { Services } from '../../handlers/dependencies.ts';
import { mayCall } from '../../keys/permissions.ts';
import type { Handler, Operations } from '../operations.ts';
import { openSession } from './connect.ts';
import { newIdentity, operationsOf, toSession, updateConfig, type SessionUpdate } from './session-config.ts';

const defaultSeconds = 600;
/** Maximum size in JSON characters, because a key may keep 1,000 session configurations in memory. */
const maxSession = 16_384;

export const createRealtimeClientSecret: Handler<'createRealtimeClientSecret', Services> = async (
  { body: { expires_after: expiry, session: asked } },
  services,
) => {
  const session = asked ?? defaultSession(services);
  if (JSON.stringify(session).length > maxSession) {
    throw invalid('body', '/session', `must not exceed ${String(maxSession)} characters`);
  }
  const config = updateConfig(openSession(session.type, undefined, services), session, services);
  const { value, expires } = await services.clientSecrets.create(expiry?.seconds ?? defaultSeconds, session);
  return answer<Operations, 'createRealtimeClientSecret'>({
    status: 200,
    mediaType: 'application/json',
    body: { value, expires_at: Math.floor(expires / 1000), session: toSession(config, newIdentity()) },
  });
};

/** A conversation, if the API key may chat and there is a model. */
function defaultSession({ registry }: Services): SessionUpdate {
  const mayChat = operationsOf.realtime.some(mayCall) && defaultModel(registry, 'chat') !== undefined;
  return { type: mayChat ? 'realtime' : 'transcription' };
}
