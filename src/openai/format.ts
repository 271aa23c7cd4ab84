/** Format of the API under /v1. */
import { openaiContract } from '../contract/document.ts';
import type { ApiFormat } from '../http/api-format.ts';
import { toErrorAnswer, toErrorResponse } from './errors.ts';
import { openaiLimitHeaders } from './limit-headers.ts';
import { readOpenAIPath } from './paths.ts';

export const openaiFormat: ApiFormat = {
  contract: openaiContract,
  readPath: readOpenAIPath,
  toFailure: toErrorAnswer,
  limitHeaders: openaiLimitHeaders,
  // Events have no names: SDKs would treat one with an unknown name as a chunk. A stream that ends without [DONE] looks
  // complete to them, so a failure needs its own event.
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
