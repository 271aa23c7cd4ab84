/** The progress of what is sent on a socket. */
import type { Socket } from 'node:net';

/** Bytes that the kernel has accepted. `bytesWritten` alone also counts what is buffered in this process. */
export function acceptedBytes(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength - queuedInSystemCall(socket);
}

/**
 * Bytes of the current write not yet accepted by the kernel: a slow client may need minutes for a large write. With TLS,
 * those of the connection below, since TLS counts a write until its end.
 */
function queuedInSystemCall(socket: WithHandle): number {
  return (socket._parent ?? socket)._handle?.writeQueueSize ?? 0;
}

type WithHandle = Socket & {
  readonly _handle?: { readonly writeQueueSize?: number } | null;
  readonly _parent?: WithHandle | null;
};
