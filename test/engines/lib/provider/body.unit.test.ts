/** engines/lib/provider/transport: how the body of an answer is read, and which failures are retried. */
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { EngineError } from '../../../../engines/contract/index.ts';
import { isTransient } from '../../../../engines/lib/provider/connection-failures.ts';
import { readErrorText, readText } from '../../../../engines/lib/provider/transport.ts';
import { stalled } from '../support.ts';

const answer = (body: Readable) => ({ status: 200, headers: {}, body });
const stream = (...chunks: readonly string[]) => answer(Readable.from(chunks.map((chunk) => Buffer.from(chunk))));
const noCaller = new AbortController().signal;

describe('the text of a body', () => {
  test('is decoded across chunks', async () => {
    const bytes = Buffer.from('Grüße');
    const body = Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]);
    expect(await readText(answer(body), 100, noCaller)).toBe('Grüße');
  });

  test('may be as long as the limit, and no longer', async () => {
    expect(await readText(stream('12345', '67890'), 10, noCaller)).toBe('1234567890');
    const tooLong = stream('12345', '67890');
    const message = 'The response of the provider is too large.';
    const error = { code: 'provider-bad-response', message, cause: { message: 'it exceeds 9 bytes' } };
    await expect(readText(tooLong, 9, noCaller)).rejects.toMatchObject(error);
    expect(tooLong.body.destroyed).toBe(true);
  });

  test('that breaks off is a bad response', async () => {
    const cause = new Error('ECONNRESET');
    const body = stalled('half');
    queueMicrotask(() => body.destroy(cause));
    await expect(readText(answer(body), 100, noCaller)).rejects.toMatchObject({ code: 'provider-bad-response', cause });
  });

  test('that an abort breaks off rejects with the reason of the abort', async () => {
    const reason = new Error('the caller has left');
    const body = stalled('half');
    queueMicrotask(() => body.destroy(new Error('aborted')));
    await expect(readText(answer(body), 100, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe('the text of an error answer', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test('is whole when it is short', async () => {
    expect(await readErrorText(stream('{"error":', '"no"}'))).toBe('{"error":"no"}');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is cut where it is endless', async () => {
    const body = new Readable({ read: () => void body.push(Buffer.alloc(10_000, 'x')) });
    const { length } = await readErrorText(answer(body));
    expect(length).toBeGreaterThanOrEqual(65_536);
    expect(length).toBeLessThan(80_000);
    expect(body.destroyed).toBe(true);
  });

  test('is what came within 2 s', async () => {
    const reading = readErrorText(answer(stalled('half')));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await reading).toBe('half');
  });

  test('is what came before the connection broke', async () => {
    const body = stalled('half');
    const reading = readErrorText(answer(body));
    setImmediate(() => body.destroy(new Error('ECONNRESET')));
    expect(await reading).toBe('half');
  });
});

describe('a failure to reach the provider', () => {
  const failure = (cause: unknown) => new EngineError('provider-unreachable', 'No.', { cause });
  const coded = (code: string) => Object.assign(new Error(code), { code });

  test.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'UND_ERR_SOCKET', 'UND_ERR_PRX_CONN'])(
    'is retried after %s',
    (code) => expect(isTransient(failure(coded(code)))).toBe(true),
  );

  test.each(['ENOTFOUND', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID'])(
    'is not retried after %s, which stays',
    (code) => expect(isTransient(failure(coded(code)))).toBe(false),
  );

  test('is not retried for a cause without a code, nor for another failure', () => {
    expect(isTransient(failure(undefined))).toBe(false);
    const cause = coded('ECONNRESET');
    expect(isTransient(new EngineError('provider-bad-response', 'No.', { cause }))).toBe(false);
  });
});
