/** The log: ids of the request in each line, and the second net for secrets. */
import { describe, expect, it } from 'vitest';
import { EngineError } from '../engines/contract/index.ts';
import { runInScope } from '../src/request-scope.ts';
import { createLog } from '../src/log.ts';
import type { LogLine } from './support/service.ts';

const lines: LogLine[] = [];
const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line) as LogLine) });

function logged(facts: object): LogLine {
  log.info(facts, 'a line');
  return lines.at(-1)!;
}

function errOf(error: unknown) {
  return logged({ err: error }).err as { type: string; message: string; stack: string; code?: unknown };
}

describe('a line', () => {
  const trace = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', flags: 0 };

  it('has the ids of the request, for child loggers too', () => {
    runInScope({ caller: 'key-1', id: 'a-request', trace }, () => {
      const ids = { id: 'a-request', trace_id: trace.traceId, span_id: trace.spanId };
      expect(logged({ status: 200 })).toMatchObject({ ...ids, status: 200 });
      log.child({ engine: 'local' }).debug({}, 'works');
      expect(lines.at(-1)).toMatchObject({ ...ids, engine: 'local', msg: 'works' });
    });
  });

  it('has none outside of requests', () => {
    expect(Object.keys(logged({}))).toEqual(['level', 'time', 'pid', 'hostname', 'msg']);
  });

  it('does not modify the facts', () => {
    const facts = { headers: { authorization: 'hush' }, apiKey: 'hush' };
    logged(facts);
    expect(facts).toEqual({ headers: { authorization: 'hush' }, apiKey: 'hush' });
  });
});

describe('quoted texts are truncated', () => {
  const huge = 'x'.repeat(2_000_000);

  it.each([
    ['a text', { key: huge }],
    ['a text in a list', { removed: [huge] }],
    ['a long list', { removed: Array(20_000).fill('name') }],
    ['a text below', { call: { model: huge } }],
    ['a name', { call: { [huge]: 1 } }],
    ['many names', { call: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`name-${i}`, 1])) }],
    ['many texts', { call: Array(200).fill({ messages: Array(200).fill({ text: huge }) }) }],
    ['many errors', { errors: Array(2_000).fill(new Error(huge)) }],
    ['bytes', { bytes: Buffer.alloc(1_000_000) }],
  ])('%s', (_what, facts) => {
    expect(JSON.stringify(logged(facts)).length).toBeLessThan(150_000);
  });

  it('after 32,768 characters', () => {
    expect(logged({ reason: huge, key: 'app' })).toMatchObject({ reason: `${'x'.repeat(32_767)}…`, key: '…' });
    expect(logged({ reason: 'x'.repeat(32_000), key: 'app' })).toMatchObject({ key: 'app' });
  });
});

describe('secrets', () => {
  it.each([
    ['at the top', { apiKey: 'hush' }],
    ['in another case', { 'X-Api-Key': 'hush', AUTHORIZATION: 'hush' }],
    ['deeper', { request: { headers: { Authorization: 'Bearer hush', cookie: ['hush'] } } }],
    ['in a list', { servers: [{ password: 'hush' }] }],
    ['too deep to look', { a: { b: { c: { d: { e: { token: 'hush' } } } } } }],
    ['in what libraries attach to errors', { err: Object.assign(new Error('no'), { config: { headers: 'hush' } }) }],
    ['in an error under another name', { failure: Object.assign(new Error('no'), { request: 'hush' }) }],
    ['in an error below', { outcome: { reason: Object.assign(new Error('no'), { request: 'hush' }) } }],
  ])('are removed: %s', (_what, facts) => {
    expect(JSON.stringify(logged(facts))).not.toContain('hush');
  });

  it('do not remove other facts', () => {
    const facts = { tokens: 5, call: { model: 'a', messages: [1] }, at: new Date(0), none: null };
    expect(logged(facts)).toMatchObject({ ...facts, at: '1970-01-01T00:00:00.000Z' });
  });

  it('do not hide a line whose facts throw', () => {
    const hostile = {
      get trap() {
        throw new Error('no');
      },
    };
    expect(logged({ hostile, kept: 1 })).toMatchObject({ hostile: '[unreadable]', kept: 1 });
  });
});

describe('a text of others that looks like a key', () => {
  const key = 'sk-proj-4f9aQ7xk20Lm';
  const complaint = `Incorrect API key provided: ${key}, find yours at https://provider.example.`;
  const masked = 'Incorrect API key provided: [key], find yours at https://provider.example.';

  it.each([
    ['the message of an error', { err: new Error(complaint) }],
    ['its cause', { err: new Error('failed', { cause: new TypeError(complaint) }) }],
    ['one of several errors', { err: new AggregateError([new Error(complaint)]) }],
    ['an error under another name, deeper', { outcome: { reason: new Error(complaint) } }],
    ['a name and a code', { err: Object.assign(new Error('failed'), { name: complaint, code: complaint }) }],
    ['a text that was thrown', { err: complaint }],
    ['what a program has printed', { stderr: complaint }],
    ['a list', { lines: ['one', complaint] }],
    ['an object', { server: { answer: { text: complaint } } }],
    ['what an engine logs under a name of ours', { model: { said: complaint } }],
  ])('is masked in %s', (_where, facts) => {
    const line = JSON.stringify(logged(facts));
    expect(line).not.toContain(key);
    expect(line).toContain(masked);
  });

  it('is masked in the stack of an error and of its causes', () => {
    const { stack } = errOf(new Error(complaint, { cause: new Error(`${complaint} Again.`) }));
    expect(stack).not.toContain(key);
    expect(stack.split(masked)).toHaveLength(3);
  });

  it('is masked in the message of a line, also of an engine', () => {
    log.child({ engine: 'third-party' }).warn({}, complaint);
    expect(lines.at(-1)).toMatchObject({ engine: 'third-party', msg: masked });
    log.info(complaint);
    expect(lines.at(-1)).toMatchObject({ msg: masked });
  });

  it('is not masked in names of the service: API keys and models', () => {
    const facts = { key: 'token-service-2027', model: 'hf:meta-llama-3.1', removed: ['key-of-app-2026'] };
    expect(logged(facts)).toMatchObject(facts);
  });

  it('is masked where the text is truncated, too', () => {
    const text = 'x'.repeat(2_040) + ` ${key}${'9'.repeat(5_000)}`;
    expect(JSON.stringify(logged({ text }))).not.toContain('sk-proj');
  });
});

describe('an error', () => {
  it('has its type, message, code and stack, with those of its causes', () => {
    const cause = new TypeError('deep down');
    const error = Object.assign(new RangeError('on top', { cause }), { code: 'E_TOP' });
    const { type, message, code, stack } = errOf(error);
    expect({ type, message, code }).toEqual({ type: 'RangeError', message: 'on top: deep down', code: 'E_TOP' });
    expect(stack).toMatch(/^RangeError: on top\n {4}at [^]*\ncaused by: TypeError: deep down\n {4}at /);
  });

  it('of a provider has no stack: a refused key is one line that says what was refused', () => {
    const cause = new Error('openai answered 401: {"error":{"message":"Incorrect API key"}}');
    const refused = new EngineError('provider-auth-failed', 'The provider rejected the API key.', { cause });
    expect(errOf(refused)).toEqual({
      type: 'EngineError',
      message: 'The provider rejected the API key: openai answered 401: {"error":{"message":"Incorrect API key"}}',
      code: 'provider-auth-failed',
    });
    expect(errOf(new EngineError('engine-failed', 'A bug.')).stack).toContain('    at ');
  });

  it('of several addresses of a host is the first one', () => {
    const refused = new AggregateError([new Error('ECONNREFUSED ::1'), new Error('ECONNREFUSED 127.0.0.1')]);
    expect(errOf(new Error('fetch failed', { cause: refused })).message).toContain('ECONNREFUSED ::1');
  });

  it('does not repeat causes that its message quotes', () => {
    const refused = new Error('the connection failed (ENOTFOUND)', { cause: new TypeError('ENOTFOUND') });
    const download = new Error('model.bin cannot be downloaded: the connection failed (ENOTFOUND)', { cause: refused });
    const { message, stack } = errOf(new Error(`${download.message}. Copy it manually`, { cause: download }));
    expect(message).toBe('model.bin cannot be downloaded: the connection failed (ENOTFOUND). Copy it manually');
    expect(stack.split('ENOTFOUND')).toHaveLength(2);
    expect(stack.match(/^caused by: (Type)?Error\n {4}at /gm)).toHaveLength(3);
  });

  it('has at most 2 KB of its causes, and ends at circular ones', () => {
    const said = (length: number) => new Error('x'.repeat(length));
    const { message, stack } = errOf(new Error('failed', { cause: said(100_000) }));
    expect(message.length).toBe(2_048);
    expect(stack.length).toBeLessThan(2 * 2_048 + 2_000);
    expect(errOf(said(100_000)).stack.length).toBe(4_096);
    const round = new Error('round');
    round.cause = round;
    expect(errOf(round).message.length).toBeLessThan(200);
  });

  it('may be any thrown value', () => {
    expect(logged({ err: 'a text' }).err).toBe('a text');
    expect(logged({ err: { reason: 'an object', token: 'hush' } }).err).toEqual({
      reason: 'an object',
      token: '[redacted]',
    });
  });
});
