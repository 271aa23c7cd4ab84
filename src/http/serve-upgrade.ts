/** Answers a request for a WebSocket and runs its session. */
import { onAbort } from '../../lib/abort.ts';
import type { AnyAnswer } from '../contract/operations.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { runInScope } from '../request-scope.ts';
import { checkHead, type HeadOptions } from './check-head.ts';
import { sendOnSocket } from './connection/raw-response.ts';
import type { AcceptedSocket, Sockets, Upgrade } from './connection/upgrade.ts';
import { ClientDisconnected, failureOf, failureReason } from './failures.ts';
import type { Connected, IncomingRequest } from './incoming-request.ts';
import { upgradedStatus, type OpenUpgrade } from './open-request.ts';

export interface ServeUpgradeOptions extends HeadOptions {
  readonly sockets: Sockets;
  readonly metrics?: Metrics | undefined;
}

/** Time for the client to close a refused connection, in milliseconds. */
const refusedMs = 10_000;

/** Resolves when the connection has been refused or has closed. */
export async function serveUpgrade(
  upgrade: Upgrade,
  { request, upgraded, end }: OpenUpgrade,
  options: ServeUpgradeOptions,
): Promise<void> {
  const { sockets, metrics } = options;
  try {
    const target = checkHead(upgrade.req, request, options);
    const connected = await request.api.connect(request, target);
    if (!('run' in connected)) return refuse(connected.answer);
    const { headers, isAllowed, scope, facts } = connected;
    const { id, signal } = request;
    const accepting = { headers: { 'X-Request-Id': id, ...headers }, isAllowed, signal };
    const socket = await sockets.accept(upgrade, accepting);
    upgraded();
    const started = performance.now();
    const close = await runInScope(scope, runSession, connected, socket, request);
    metrics?.sessionEnded(performance.now() - started);
    end(upgradedStatus, { ...facts(), close });
  } catch (error) {
    if (failureReason(error, request) instanceof ClientDisconnected) end(499);
    else refuse(failureOf(error, request).answer);
  }

  function refuse(answer: AnyAnswer): void {
    const { socket } = upgrade.req;
    sendOnSocket(socket, answer, request.id);
    socket.resume().setTimeout(refusedMs, () => socket.destroy());
    end(answer.status);
  }
}

/** Resolves with the close code. */
async function runSession({ run }: Connected, socket: AcceptedSocket, { id, signal, log }: IncomingRequest) {
  const off = onAbort(signal, () => socket.close(1012, 'The service is shutting down.'));
  try {
    await run(socket);
    socket.close(1000);
  } catch (error) {
    log.error({ id, err: error }, 'a session failed');
    socket.close(1011);
  }
  off();
  return socket.closed;
}
