/** A request for the WebSocket without an upgrade. */
import { ProblemError } from '../../contract/problems.ts';
import type { Services } from '../../handlers/dependencies.ts';
import { requireTranscription } from '../../handlers/transcription.ts';
import type { Handler } from '../operations.ts';

export const requireUpgrade: Handler<'connectRealtime', Services> = () => {
  const detail = 'Connect with a WebSocket client, to ws:// or wss://; a proxy in between must forward the upgrade.';
  return Promise.reject(new ProblemError('upgrade-required', detail, { headers: { Upgrade: 'websocket' } }));
};

/** Throws `transcription-disabled`. */
export function requireRealtime(services: Services): void {
  requireTranscription(services);
  if (services.realtimeEnabled) return;
  throw new ProblemError('transcription-disabled', 'Live transcription is switched off (REALTIME=off).');
}
