/** A server that has a model, and sends as much of it as the test allows. It ends with the test. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Mirror {
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
  /** Sends up to this share of the file, also to those who ask later on. */
  sendUpTo(fraction: number): void;
  /** Breaks the connections in the middle of what they carry. */
  breakOff(): void;
}

interface Transfer {
  readonly response: ServerResponse;
  /** The next byte to send. */
  at: number;
}

export async function startMirror(content: Uint8Array): Promise<Mirror> {
  const requests: IncomingMessage[] = [];
  const transfers = new Set<Transfer>();
  let allowed = 0;

  function send(transfer: Transfer): void {
    transfer.response.write(content.subarray(transfer.at, Math.max(transfer.at, allowed)));
    transfer.at = Math.max(transfer.at, allowed);
    if (transfer.at === content.length) transfer.response.end();
  }

  const server = createServer((request, response) => {
    requests.push(request);
    const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
    const start = Number(from ?? 0);
    response.setHeader('content-length', content.length - start);
    if (from !== undefined) {
      response.statusCode = 206;
      response.setHeader('content-range', `bytes ${start}-${content.length - 1}/${content.length}`);
    }
    response.flushHeaders();
    const transfer = { response, at: start };
    transfers.add(transfer);
    response.once('close', () => transfers.delete(transfer));
    send(transfer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    sendUpTo(fraction) {
      allowed = Math.ceil(content.length * fraction);
      transfers.forEach(send);
    },
    breakOff: () => server.closeAllConnections(),
  };
}
