/** Sending to a reader that does not read: the end does not wait for it. */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { nativeFormat } from '../../src/http/native-format.ts';
import { sendEvents } from '../../src/http/sse.ts';

const { stream: format } = nativeFormat;
import type { Schemas } from '../../src/contract/operations.ts';
import { problemAnswer, ProblemError } from '../../src/contract/problems.ts';

const ending = new ProblemError('shutting-down', 'The service is shutting down.');

/** An answer in flight whose reader has not read any of it. */
async function unread(): Promise<{ res: ServerResponse; answer: IncomingMessage }> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const sending = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }).end();
  onTestFinished(() => void sending.destroy());
  const [, res] = (await once(server, 'request')) as [unknown, ServerResponse];
  res.flushHeaders();
  const [answer] = (await once(sending, 'response')) as [IncomingMessage];
  return { res, answer };
}

/** Deltas without end, as a run tells them: it throws when its signal aborts. */
async function* endless(signal: AbortSignal, told: { count: number }): AsyncGenerator<Schemas['ChatEvent']> {
  for (;;) {
    signal.throwIfAborted();
    yield await Promise.resolve({ type: 'content.delta', seq: told.count++, step: 0, delta: 'x'.repeat(65_536) });
  }
}

it('ends with the error despite a full buffer', async () => {
  const { res, answer } = await unread();
  const controller = new AbortController();
  const told = { count: 0 };
  const sent = sendEvents(res, {
    events: endless(controller.signal, told),
    signal: controller.signal,
    heartbeatMs: 1,
    format,
    encodeFailure: (error, last) => format.encodeFailure(problemAnswer(error, 'an-id'), { reason: error, last }),
  });
  await expect.poll(() => res.writableNeedDrain && told.count, { timeout: 10_000 }).toBeGreaterThan(0);
  await expect.poll(() => res.writableLength).toBeLessThan(1_000_000);
  controller.abort(ending);
  await sent;
  expect(res.writableEnded).toBe(true);
  const write = vi.spyOn(res, 'write');
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) text += String(piece);
  expect(text.slice(text.lastIndexOf('event:'))).toMatch(
    new RegExp(`^event: chat.failed\nid: ${told.count}\ndata: .*"code":"shutting-down".*\n\n$`),
  );
  await new Promise((resolve) => setTimeout(resolve, 20)); // twenty heartbeats
  expect(write).not.toHaveBeenCalled();
});

it('does not wait for drain after an abort', async () => {
  const { res } = await unread();
  await sendEvents(res, {
    events: (async function* () {
      yield* await Promise.resolve([
        { type: 'content.delta', seq: 0, step: 0, delta: 'x'.repeat(50_000_000) } as const,
      ]);
    })(),
    signal: AbortSignal.abort(ending),
    heartbeatMs: 1,
    format,
    encodeFailure: (error, last) => format.encodeFailure(problemAnswer(error, 'an-id'), { reason: error, last }),
  });
  expect(res.writableEnded).toBe(true);
});

it('rejects after a disconnect, and writes nothing more', async () => {
  const { res, answer } = await unread();
  const controller = new AbortController();
  const told = { count: 0 };
  const gone = new Error('gone');
  res.once('close', () => controller.abort(gone));
  const sent = sendEvents(res, {
    events: endless(controller.signal, told),
    signal: controller.signal,
    heartbeatMs: 1,
    format,
    encodeFailure: (error) => {
      throw error as Error;
    },
  });
  await expect.poll(() => res.writableNeedDrain && told.count, { timeout: 10_000 }).toBeGreaterThan(0);
  answer.destroy();
  await expect(sent).rejects.toBe(gone);
});
