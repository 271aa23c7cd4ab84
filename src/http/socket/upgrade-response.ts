/** The response to a request for a WebSocket: Node.js hands over such requests without one. */
import type { IncomingMessage } from 'node:http';
import { ServerResponse } from '../../../lib/node-http.ts';

/** Time for the client to close a refused connection, in milliseconds. */
const refusedMs = 10_000;

/** A refusal ends the connection. An accepted socket must be detached. */
export class UpgradeResponse extends ServerResponse {
  /** The bytes after the head of the request. */
  readonly head: Buffer;

  constructor(req: IncomingMessage, head: Buffer) {
    super(req);
    const { socket } = req;
    this.head = head;
    this.shouldKeepAlive = false;
    this.assignSocket(socket);
    this.on('finish', () => {
      this.detachSocket(socket);
      socket.end();
      socket.resume().setTimeout(refusedMs, () => socket.destroy());
      this.emit('close');
    });
  }
}
