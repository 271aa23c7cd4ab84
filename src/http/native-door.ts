/** The native door: problem documents, and events with a type and a sequence number. */
import { nativeContract } from '../contract/document.ts';
import type { Schemas } from '../contract/operations.ts';
import type { Dialect } from './door.ts';

type ChatEvent = Schemas['ChatEvent'];

export const nativeDialect: Dialect = {
  contract: nativeContract,
  readPath: (path) => path,
  toFailure: (problem) => problem,
  stream: {
    encode: (event) => encode(event as ChatEvent),
    heartbeat: ':\n\n',
    end: '',
    encodeFailure: ({ body: problem }, { last }) =>
      encode({ type: 'chat.failed', seq: last ? (last as ChatEvent).seq + 1 : 0, problem }),
  },
};

/** `event:` is the type, `id:` the seq. */
function encode(event: ChatEvent): string {
  return `event: ${event.type}\nid: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
}
