/** Measures how much of the data for a socket has been sent. */
import type { Socket } from 'node:net';

/**
 * Returns the number of bytes that the kernel has accepted. `bytesWritten` also includes bytes buffered in this
 * process.
 */
export function acceptedBytes(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength - queuedInSystemCall(socket);
}

/**
 * Returns the bytes of the current write that the kernel has not accepted yet: with a slow client, a large write may
 * take minutes. With TLS, reads the underlying connection, because TLS counts a whole write until it ends.
 */
function queuedInSystemCall(socket: WithHandle): number {
  return (socket._parent ?? socket)._handle?.writeQueueSize ?? 0;
}

type WithHandle = Socket & {
  readonly _handle?: { readonly writeQueueSize?: number } | null;
  readonly _parent?: WithHandle | null;
};
