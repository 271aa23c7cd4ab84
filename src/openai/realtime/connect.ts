/** GET /v1/realtime: live transcription and conversations over a WebSocket. */
import { invalid, ProblemError } from '../../contract/problems.ts';
import type { Connect, Connecting } from '../../contract/session.ts';
import type { Services } from '../../handlers/dependencies.ts';
import { openSpeechSession } from '../../realtime/speech-session.ts';
import { requireOperation } from '../../keys/permissions.ts';
import { requireTranscription } from '../../transcription/run.ts';
import type { Handler } from '../operations.ts';
import { openConversation } from './conversation-config.ts';
import { Session } from './run-session.ts';
import {
  lifeMs,
  newIdentity,
  openConfig,
  operationsOf,
  updateConfig,
  type SessionConfig,
  type SessionUpdate,
} from './session-config.ts';
import { beginSession } from './session.ts';

/** Throws `transcription-disabled`. */
export function requireRealtime(services: Services): void {
  if (services.realtimeEnabled) return;
  throw new ProblemError('transcription-disabled', 'Live sessions are switched off (REALTIME=off).');
}

/** Answers a request that does not ask for an upgrade. */
export const requireUpgrade: Handler<'connectRealtime', Services> = () => {
  const detail = 'Connect with a WebSocket client, to ws:// or wss://; a proxy in between must forward the upgrade.';
  return Promise.reject(new ProblemError('upgrade-required', detail, { headers: { Upgrade: 'websocket' } }));
};

/**
 * Rejects with `invalid-request` for another kind of connection, the errors of the model if it cannot be used now, and
 * `quota-exceeded` for a transcription session if the API key has used up its audio budget.
 */
export const connectRealtime: Connect<Services> = async (connecting, services) => {
  const config = configOf(connecting, services);
  if (config.type === 'transcription') await services.requireBudget('audio', { isRequest: true });
  return (socket, place) => {
    const opening = beginSession(newIdentity(), config);
    return new Session(socket, opening, { ...connecting, place, services, openSpeechSession, lifeMs }).run();
  };
};

/**
 * The session of a client secret is complete. Parameters of the URL are then ignored, because SDKs send the id of
 * another model in it.
 */
function configOf({ query, session }: Connecting, services: Services): SessionConfig {
  const { intent, model, call_id: call } = query;
  if (call !== undefined) throw invalid('query', '/call_id', 'is not supported: there are no calls by WebRTC or SIP');
  if (session) {
    const update = session as SessionUpdate;
    return updateConfig(openSession(update.type, undefined, services), update, services);
  }
  return openSession(intent === 'transcription' ? intent : 'realtime', model, services);
}

/** Throws `operation-not-allowed`, `transcription-disabled`, and the errors of the model. */
export function openSession(type: SessionConfig['type'], model: string | undefined, services: Services): SessionConfig {
  requireOperation(...operationsOf[type]);
  if (type === 'realtime') return openConversation(services, model);
  requireTranscription(services);
  return openConfig(services, model);
}
