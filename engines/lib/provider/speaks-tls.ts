/** Many servers close a connection that sends HTTP instead of TLS, without a response. */
import { connect } from 'node:tls';
import { withoutBrackets } from '../../../lib/loopback.ts';

const timeoutMs = 2_000;

/** For an http URL that fails: resolves with whether the server answers a TLS handshake there. Sends no request. */
export function speaksTls(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const host = withoutBrackets(hostname);
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port || 80), rejectUnauthorized: false, timeout: timeoutMs });
    const end = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket
      .once('secureConnect', end(true))
      .once('error', end(false))
      .once('close', end(false))
      .once('timeout', end(false));
  });
}
