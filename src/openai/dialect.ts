/** What the OpenAI-compatible door does in its own way. */
import { openaiContract } from '../contract/document.ts';
import type { Dialect } from '../http/door.ts';
import { toErrorAnswer, toErrorResponse } from './errors.ts';
import { readOpenAIPath } from './paths.ts';

export const openaiDialect: Dialect = {
  contract: openaiContract,
  readPath: readOpenAIPath,
  toFailure: toErrorAnswer,
  // Events have no names: a name that the SDKs do not know would end up as a chunk. A stream that ends without [DONE]
  // looks complete to them, so that a failure needs its own event.
  stream: {
    encode,
    heartbeat: ': keep-alive\n\n',
    end: 'data: [DONE]\n\n',
    encodeFailure: (problem, { reason }) => encode(toErrorResponse(problem, reason)),
  },
};

function encode(event: unknown): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
