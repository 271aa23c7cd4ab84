/** Format of the native API: problem documents, and events with a type and a sequence number. */
import { nativeContract } from '../contract/document.ts';
import type { Schemas } from '../contract/operations.ts';
import { limitHeaders } from '../contract/rate-limit.ts';
import type { ApiFormat } from './api-format.ts';

type StreamEvent = Schemas['ChatEvent'] | Schemas['TranscriptionEvent'];

export const nativeFormat: ApiFormat = {
  contract: nativeContract,
  readPath: (path) => path,
  toFailure: (problem) => problem,
  limitHeaders,
  stream: {
    encode: (event) => encode(event as StreamEvent),
    heartbeat: ':\n\n',
    end: () => '',
    encodeFailure: ({ body: problem }, { last }) => {
      const { type, seq } = (last ?? { type: 'chat.started', seq: -1 }) as StreamEvent;
      const isTranscription = /^(transcription|segment)\./.test(type);
      return encode({ type: isTranscription ? 'transcription.failed' : 'chat.failed', seq: seq + 1, problem });
    },
  },
};

/** Encodes an event; `event:` is its type and `id:` its `seq`. */
function encode(event: StreamEvent): string {
  return `event: ${event.type}\nid: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
}
