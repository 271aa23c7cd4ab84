/** An HTTP proxy of the test's own: CONNECT for https targets, absolute-form for http ones. It resolves names itself. */
import { createServer, request, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';

export interface ProxyRequest {
  /** `CONNECT provider.test:443`, or `POST http://provider.test/v1/chat/completions`. */
  readonly line: string;
  /** Proxy-Authorization. */
  readonly authorization: string | undefined;
}

export interface Proxy {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly requests: readonly ProxyRequest[];
  /** Answers everything with this status and this text from now on. */
  refuse(status: number, text?: string): void;
}

/** Sends whatever it is asked for to this port on loopback, whatever its name is. It ends with the test. */
export async function startProxy(targetPort: number): Promise<Proxy> {
  const requests: ProxyRequest[] = [];
  const sockets = new Set<Socket>();
  let refusal: { readonly status: number; readonly text: string } | undefined;
  const note = ({ method = '', url = '', headers }: IncomingMessage) =>
    requests.push({ line: `${method} ${url}`, authorization: headers['proxy-authorization'] });
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket)); // tests break connections on purpose
  };

  const server = createServer((incoming, response) => {
    note(incoming);
    if (refusal) return void response.writeHead(refusal.status).end(refusal.text);
    const { pathname, search } = new URL(incoming.url!);
    const { 'proxy-authorization': _own, ...headers } = incoming.headers;
    const { method } = incoming;
    const target = { host: '127.0.0.1', port: targetPort, path: pathname + search, method, headers, agent: false };
    const outgoing = request(target, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      response.flushHeaders();
      pipeline(answer, response, () => {});
    });
    response.once('close', () => outgoing.destroy());
    pipeline(incoming, outgoing, (error) => {
      if (error) response.destroy();
    });
  });
  server.on('connection', keep);
  server.on('connect', (incoming, socket: Socket) => {
    note(incoming);
    if (refusal) return void socket.end(`HTTP/1.1 ${refusal.status} No\r\n\r\n${refusal.text}`);
    const target = connect(targetPort, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      pipeline(socket, target, () => {});
      pipeline(target, socket, () => {});
    });
    keep(target);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    refuse: (status, text = '') => void (refusal = { status, text }),
  };
}

const fixture = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8');

/** Of the name `provider.test`. */
export const certificate = fixture('certificate.pem');

/** Takes TLS connections for `provider.test` and passes on what they say; resolves with its port. It ends with the test. */
export async function startTls(targetPort: number): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTlsServer({ key: fixture('key.pem'), cert: certificate }, (socket) => {
    const target = connect(targetPort, '127.0.0.1');
    for (const one of [socket, target]) sockets.add(one.on('error', () => {}));
    pipeline(socket, target, () => {});
    pipeline(target, socket, () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
