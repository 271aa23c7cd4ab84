/** Completes the upgrade of a request, and runs its session. */
import { onAbort } from '../../lib/abort.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Sockets } from './socket/upgrade.ts';
import type { UpgradeResponse } from './socket/upgrade-response.ts';
import type { IncomingRequest, OpenedSession } from './incoming-request.ts';
import type { PlaceTaken } from './sessions.ts';

interface ServeSessionOptions {
  readonly sockets: Sockets;
  readonly metrics?: Metrics | undefined;
}

/** Resolves when the session has ended and its socket has closed. Rejects if the upgrade fails. */
export async function serveSession(
  { run, isAllowed, taken }: OpenedSession,
  res: UpgradeResponse,
  request: IncomingRequest,
  { sockets, metrics }: ServeSessionOptions,
): Promise<void> {
  const { id, signal, log, record } = request;
  const socket = await sockets.accept(res, { isAllowed, signal });
  const end = request.upgraded?.();
  const started = performance.now();
  const off = onAbort(signal, () => socket.close(1012, 'The service is shutting down.'));
  onAbort(taken, (reason) => socket.close((reason as PlaceTaken).code, (reason as PlaceTaken).message));
  try {
    await run(socket);
    socket.close(1000);
  } catch (error) {
    log.error({ id, err: error }, 'a session failed');
    socket.close(1011);
  }
  off();
  record.close = await socket.closed;
  metrics?.sessionEnded(performance.now() - started);
  end?.();
}
