/** The log as text: what a person reads, and nothing that a terminal obeys. */
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../engines/contract/index.ts';
import { createLogLines, describeDuration, harmlessJson } from '../../src/bin/log-lines.ts';
import { createLog } from '../../src/log.ts';

const texts: string[] = [];
const plain = createLogLines((_style, text) => text);
const marked = createLogLines((style, text) => (text === '' ? '' : `<${style}>${text}</>`));
const log = createLog('debug', { write: (json) => void texts.push(plain(json)) });

const last = () => texts.at(-1)!;
const withoutTime = () => last().replace(/^\d\d:\d\d:\d\d /, '');

// eslint-disable-next-line no-control-regex
const obeyed = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2066]/;

describe('a line', () => {
  it('of a request has the time, what was asked, the status, how long it took, and its facts', () => {
    const request = { id: 'an-id', operation: 'createChat', method: 'POST', path: '/api/v1/chat', status: 200, ms: 1234 };
    log.info({ ...request, key: 'web-app', model: 'qwen 3', audio_ms: 2500, tokens: { total: 7 } }, 'request');
    expect(last()).toMatch(/^\d\d:\d\d:\d\d POST /);
    expect(withoutTime()).toBe(
      'POST /api/v1/chat 200 1.2 s key=web-app model="qwen 3" audio="2.5 s" tokens={"total":7}\n',
    );
  });

  it('of a request that failed has the id that its caller got', () => {
    log.info({ id: 'an-id', method: 'GET', path: '/nothing', status: 404, ms: 1 }, 'request');
    expect(withoutTime()).toBe('GET /nothing 404 1 ms id=an-id\n');
  });

  it('of a key that a provider refuses is one line', () => {
    const err = new EngineError('provider-auth-failed', 'It rejected the key.', { cause: new Error('401: no') });
    log.error({ err }, 'the engine fails at models()');
    expect(withoutTime()).toBe('error the engine fails at models(): It rejected the key: 401: no\n');
  });

  it('of an event has its level where it matters, the reason, and the stack of an error', () => {
    log.info({ engine: 'local' }, 'the model is loaded');
    expect(withoutTime()).toBe('the model is loaded engine=local\n');
    log.warn({ err: new Error('refused') }, 'retrying');
    expect(withoutTime()).toBe('warning retrying: refused\n');
    log.error({ err: new Error('on top', { cause: new Error('below') }) }, 'failed');
    expect(withoutTime()).toMatch(/^error failed: on top: below\n {4}at [^]*\n {4}caused by: Error: below\n {4}at [^]*\n$/);
  });

  it('has colors by level and status', () => {
    const request = { time: 0, level: 30, msg: 'request', method: 'GET', path: '/', ms: 1 };
    for (const [status, style] of [[200, 'green'], [304, 'green'], [404, 'yellow'], [503, 'red']] as const) {
      expect(marked(JSON.stringify({ ...request, status }))).toContain(`GET / <${style}>${status}</> 1 ms`);
    }
    expect(marked('{"level":60,"time":0,"msg":"exiting"}')).toContain('<red>error</> exiting');
  });
}); // prettier-ignore

describe('what others wrote', () => {
  const hostile = 'a\x1b[2J\x1b]0;title\x07b\x9b31mc\u202ed\r\x00\x7f';

  it.each([
    ['a message', () => log.info({}, hostile)],
    ['a fact', () => log.info({ reason: hostile }, 'x')],
    ['a list', () => log.info({ lines: [hostile] }, 'x')],
    ['the name of a fact', () => log.info({ [hostile]: 1 }, 'x')],
    ['an error', () => log.error({ err: Object.assign(new Error(hostile), { stack: `    at ${hostile}` }) }, 'x')],
    ['a request', () => log.info({ id: hostile, method: hostile, path: hostile, status: 500, ms: 1 }, 'request')],
    ['an error that is not an error', () => log.error({ err: hostile }, 'x')],
  ])('commands no terminal: %s', (_what, write) => {
    write();
    expect(last()).not.toMatch(obeyed);
    expect(last()).toContain('\\u001b[2J');
  });

  it.each([
    ['a message', () => log.info({}, 'a\n00:00:00 GET /admin 200 1 ms')],
    ['a fact', () => log.info({ reason: 'a\n00:00:00 GET /admin 200 1 ms' }, 'x')],
  ])('makes no line that looks like one of ours: %s', (_what, write) => {
    write();
    expect(last().split('\n').filter((line) => /^\d\d:/.test(line))).toHaveLength(1);
  }); // prettier-ignore

  it('may have the names of our facts, with any value', () => {
    log.info({ time: 'never', level: {}, msg: [1], status: 'ok', ms: null, id: 5, err: null }, 'request');
    expect(last()).toMatch(/^\d\d:\d\d:\d\d /);
    log.info({ time: 1e300, __proto__: null, constructor: 'x', toString: 1 }, 'x');
    expect(last()).toBe('--:--:-- x constructor=x toString=1\n');
  });

  it('is cut', () => {
    log.info({ reason: 'x'.repeat(30_000) }, 'x');
    expect(last().length).toBeLessThan(500);
  });

  it('stays JSON where a terminal gets JSON', () => {
    const json = `${JSON.stringify({ msg: hostile })}\n`;
    expect(harmlessJson(json)).not.toMatch(obeyed);
    expect(JSON.parse(harmlessJson(json))).toEqual({ msg: hostile });
  });
});

it.each([
  [0.4, '0 ms'],
  [999, '999 ms'],
  [1_000, '1.0 s'],
  [59_999, '59.9 s'],
  [60_000, '1 min 0 s'],
  [7_384_000, '123 min 4 s'],
])('%d milliseconds are %s', (ms, text) => {
  expect(describeDuration(ms)).toBe(text);
});
