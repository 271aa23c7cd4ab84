import { once } from 'node:events';
import { Readable } from 'node:stream';
import { runInScope } from '../request-scope.ts';
import type { AnyAnswer } from '../contract/operations.ts';
import { problemAnswer } from '../contract/problems.ts';
import { ClientDisconnected, failureReason, logFailure } from './failures.ts';
import type { IncomingRequest } from './incoming-request.ts';
import { safeListener } from './socket/safe-listener.ts';

/**
 * Waits for the first bytes of audio or of an answer from another front. An earlier failure (an evicted clip, a failing
 * disk) can then still be answered with a problem, whereas Koa would break the connection. A later failure breaks the
 * connection, because a truncated body must not look complete.
 */
export async function awaitFirstBytes(answer: AnyAnswer, request: IncomingRequest): Promise<AnyAnswer> {
  const isWhole = answer.isForwarded && answer.mediaType !== 'text/event-stream';
  if (!isWhole && !answer.mediaType.startsWith('audio/')) return answer;
  const body = Readable.from(answer.body as AsyncIterable<Uint8Array>, { objectMode: false });
  request.atEnd(() => body.destroy(request.signal.reason as Error | undefined));
  await once(body, 'readable');
  const failed = (error: unknown) => {
    const reason = failureReason(error, request);
    if (reason instanceof ClientDisconnected) return;
    runInScope(request.scope, () => logFailure(problemAnswer(reason, request.id), error, request));
  };
  body.on('error', safeListener(request.log, failed));
  return { ...answer, body };
}
