/** The faults that a client requests in sandbox mode: answers that break off, and sockets that are late or close. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pause } from '../../lib/abort.ts';
import { ignore } from '../../lib/errors.ts';
import type { AnyAnswer } from '../contract/operations.ts';
import type { Faults } from '../contract/prefer.ts';
import type { TextSocket } from '../contract/session.ts';
import { upgradedStatus, type OpenedSession } from './incoming-request.ts';

/** Applies the faults, and returns the answer to send. */
export function applyFaults(answer: AnyAnswer, faults: Faults, res: ServerResponse): AnyAnswer {
  if (answer.status === upgradedStatus) {
    const { run, ...session } = answer.body as OpenedSession;
    const body: OpenedSession = { ...session, run: (socket) => run(faultySocket(socket, faults, res.req.socket)) };
    return { ...answer, body };
  }
  if (faults.cut !== undefined) cutBody(res, faults.cut);
  return answer;
}

function cutBody(res: ServerResponse, bytes: number): void {
  const [write, end] = [res.write.bind(res) as Write, res.end.bind(res)];
  const { socket } = res.req; // a pipelined response has no socket yet
  let left = bytes;
  const writeUntilCut: Write = (chunk, ...callbacks) => {
    const part = Buffer.from(chunk).subarray(0, left);
    left -= part.length;
    if (left > 0) return write(part, ...callbacks);
    write(part, () => socket.destroy());
    return false;
  };
  const endUnlessCut = (last?: Chunk) => {
    if (last !== undefined || left === 0) writeUntilCut(last ?? '');
    return left > 0 ? end() : res;
  };
  Object.assign(res, { write: writeUntilCut, end: endUnlessCut });
}

type Chunk = string | Uint8Array<ArrayBuffer>;
type Write = (chunk: Chunk, ...callbacks: (() => void)[]) => boolean;

/** Wraps a socket with the faults. Delayed events keep the pace at which they were created. */
function faultySocket(socket: TextSocket, faults: Faults, connection: Socket): TextSocket {
  const { stall = 0, cut = Infinity, close, after = 0 } = faults;
  const [delayMs, { messages, signal }] = [stall * 1000, socket];
  let [events, bytes] = [0, 0];
  const closeIfDue = () => close !== undefined && events >= after && socket.close(close, 'Requested by Prefer.');
  const later = (work: () => unknown) => void pause(delayMs, signal).then(work).catch(ignore);
  closeIfDue();
  return {
    ...{ messages, signal },
    close: (code, reason) => later(() => socket.close(code, reason)),
    drained: (maxUnsent) => socket.drained(maxUnsent),
    send(text) {
      later(() => {
        bytes += Buffer.byteLength(text);
        if (bytes > cut) return connection.destroy();
        events += 1;
        socket.send(text);
        return closeIfDue();
      });
    },
  };
}
