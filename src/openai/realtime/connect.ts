/** GET /v1/realtime: live transcription over a WebSocket. */
import { invalid, ProblemError } from '../../contract/problems.ts';
import type { Connect, Connecting } from '../../contract/session.ts';
import type { Services } from '../../handlers/dependencies.ts';
import { openSpeechSession } from '../../realtime/speech-session.ts';
import { requireTranscription } from '../../transcription/run.ts';
import type { Handler } from '../operations.ts';
import type { SessionUpdate } from './client-events.ts';
import { Session } from './run-session.ts';
import { lifeMs, newIdentity, openConfig, updateConfig, type SessionConfig } from './session-config.ts';
import { beginSession } from './session.ts';

/** Throws `transcription-disabled`. */
export function requireRealtime(services: Services): void {
  requireTranscription(services);
  if (services.realtimeEnabled) return;
  throw new ProblemError('transcription-disabled', 'Live transcription is switched off (REALTIME=off).');
}

/** Answers a request that does not ask for an upgrade. */
export const requireUpgrade: Handler<'connectRealtime', Services> = () => {
  const detail = 'Connect with a WebSocket client, to ws:// or wss://; a proxy in between must forward the upgrade.';
  return Promise.reject(new ProblemError('upgrade-required', detail, { headers: { Upgrade: 'websocket' } }));
};

/** Throws `invalid-request` for another kind of connection, and the errors of the model if it cannot be used now. */
export const connectRealtime: Connect<Services> = (connecting, services) => {
  const config = configOf(connecting, services);
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
  if (session) return updateConfig(openConfig(services, undefined), session as SessionUpdate, services);
  if (intent === 'transcription') return openConfig(services, model);
  const rule = 'must be transcription, as in /v1/realtime?intent=transcription: conversations are not supported yet';
  throw invalid('query', '/intent', rule);
}
