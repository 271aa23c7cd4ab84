/**
 * JSON requests: the numbers of the interface document for chat (2.4, 2.5) and of DESIGN.md for direct speech, and what is
 * no valid body. test/contract/property breaks every rule of the contract in every operation.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi, type Api } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let api: Api;

beforeAll(async () => {
  service = await startTestService({ config: 'engines: {}\n' });
  api = createApi(service.url);
});
afterAll(() => service[Symbol.asyncDispose]());

type Fields = Readonly<Record<string, unknown>>;
/** A request that breaks a rule, the JSON Pointer of the violation, and parts of the expected detail. */
type Broken = readonly [rule: string, path: string, fields: Fields, pointer: string, ...details: string[]];
type Valid = readonly [rule: string, path: string, fields: Fields];

const chat = '/api/v1/chat';
const speech = '/api/v1/tts';

const message = { role: 'user', content: 'Hello' };
const history = (length: number) => Array.from({ length }, () => message);
const ofRole = (role: unknown) => ({ messages: [{ ...message, role }] });
const ofContent = (content: unknown) => ({ messages: [{ ...message, content }] });

const emoji = '\u{1F600}';
const letters = (count: number) => 'x'.repeat(count);

const tooShort = 'must NOT have fewer than 1 characters';
const tooLong = (limit: number) => `must NOT have more than ${limit} characters`;
const tooDeep = {
  status: 422,
  problem: {
    code: 'invalid-request',
    errors: [{ in: 'body', pointer: '', detail: 'must not be nested more than 32 levels deep' }],
  },
};
const tooMany = {
  status: 422,
  problem: {
    code: 'invalid-request',
    errors: [{ in: 'body', pointer: '', detail: 'must not have more than 20000 objects, arrays and commas' }],
  },
};
const oneRole = 'must be one of system, user, assistant';

/** The smallest valid request. */
const bases: Readonly<Record<string, Fields>> = { [chat]: { messages: [message] }, [speech]: { text: 'Hello' } };

const broken: readonly Broken[] = [
  ['messages are missing', chat, { messages: undefined }, '/messages', 'is missing'],
  ['there are 0 messages', chat, { messages: [] }, '/messages', 'must NOT have fewer than 1 items'],
  ['there are 101 messages', chat, { messages: history(101) }, '/messages', 'must NOT have more than 100 items'],
  ['the last message is a number', chat, { messages: [...history(99), 5] }, '/messages/99', 'must be object'],
  ['role is unknown', chat, ofRole('tool'), '/messages/0/role', oneRole],
  ['role is null', chat, ofRole(null), '/messages/0/role', 'must be string', oneRole],
  ['content is empty', chat, ofContent(''), '/messages/0/content', tooShort],
  ['content has 32001 characters', chat, ofContent(letters(32_001)), '/messages/0/content', tooLong(32_000)],
  ['content has 32001 emoji', chat, ofContent(emoji.repeat(32_001)), '/messages/0/content', tooLong(32_000)],
  ['model is empty', chat, { model: '' }, '/model', tooShort],
  ['temperature is below 0', chat, { temperature: -0.01 }, '/temperature', 'must be >= 0'],
  ['temperature is above 2', chat, { temperature: 2.01 }, '/temperature', 'must be <= 2'],
  ['max_tokens is 0', chat, { max_tokens: 0 }, '/max_tokens', 'must be >= 1'],
  ['max_tokens is 32001', chat, { max_tokens: 32_001 }, '/max_tokens', 'must be <= 32000'],
  ['max_tokens is a fraction', chat, { max_tokens: 1.5 }, '/max_tokens', 'must be integer'],
  ['top_p is 0', chat, { top_p: 0 }, '/top_p', 'must be > 0'],
  ['top_p is above 1', chat, { top_p: 1.01 }, '/top_p', 'must be <= 1'],
  ['text has 32001 characters', speech, { text: letters(32_001) }, '/text', tooLong(32_000)],
  [
    'format is in upper case',
    speech,
    { format: 'MP3' },
    '/format',
    'must be one of mp3, wav, ogg, opus, flac, aac, pcm',
  ],
  ...['model', 'voice_id', 'tts_model'].map((name): Broken => {
    return [`${name} has 257 characters`, chat, { [name]: letters(257) }, `/${name}`, tooLong(256)];
  }),
];

const valid: readonly Valid[] = [
  ['100 messages', chat, { messages: history(100) }],
  ['content of 32000 emoji, which are 64000 UTF-16 units', chat, ofContent(emoji.repeat(32_000))],
  ['ids of 256 emoji', chat, { model: emoji.repeat(256), voice_id: emoji.repeat(256), tts_model: emoji.repeat(256) }],
  ['the smallest numbers', chat, { temperature: 0, max_tokens: 1, top_p: Number.MIN_VALUE }],
  ['the largest numbers', chat, { temperature: 2, max_tokens: 32_000, top_p: 1 }],
  [
    'null for what is optional',
    chat,
    { temperature: null, max_tokens: null, top_p: null, model: null, tts_model: null },
  ],
  ['properties that the contract does not know', chat, { stream: true, messages: [{ ...message, name: 'Ada' }] }],
  ['text of 32000 emoji', speech, { text: emoji.repeat(32_000) }],
];

/** No engine is configured, so requests that pass validation receive `no-engine`. */
const served = { status: 503, problem: { code: 'no-engine' } };

describe('responds with 422 and names the field when', () => {
  for (const [rule, path, fields, pointer, ...details] of broken)
    it(rule, async () => {
      const { status, problem } = await api.post(path, { ...bases[path], ...fields });
      expect({ status, code: problem.code }).toEqual({ status: 422, code: 'invalid-request' });
      expect(problem.errors).toEqual(details.map((detail) => ({ in: 'body', pointer, detail })));
      expect(problem.detail).toContain(`${pointer.slice(1)} ${details[0]!}`);
    });
});

it.each(valid)('accepts %s', async (_rule, path, fields) => {
  expect(await api.post(path, { ...bases[path], ...fields })).toMatchObject(served);
});

describe('a JSON body', () => {
  const path = chat;
  const base = bases[path];
  const sendRaw = (body: string | Buffer, type = 'application/json') =>
    api.send('POST', path, { headers: { 'content-type': type }, body });
  const malformed = { status: 422, problem: { code: 'malformed-body', errors: [{ in: 'body', pointer: '' }] } };
  const noObject = {
    status: 422,
    problem: { code: 'invalid-request', errors: [{ in: 'body', pointer: '', detail: 'must be a JSON object' }] },
  };

  it('may not have a number that overflows', async () => {
    const { status, problem } = await sendRaw(JSON.stringify(base).replace('{', '{"temperature":1e999,'));
    expect(status).toBe(422);
    expect(problem.errors?.[0]).toMatchObject({ in: 'body', pointer: '/temperature' });
  });

  describe('accepts', () => {
    it.each(['application/json; charset=utf-8', 'Application/JSON'])('the content type %s', async (type) => {
      expect(await sendRaw(JSON.stringify(base), type)).toMatchObject(served);
    });

    it('unknown query parameters', async () => {
      expect(await api.post(`${path}?model=x&model=y&debug`, base)).toMatchObject(served);
    });

    it('whitespace and a byte order mark around the object', async () => {
      expect(await sendRaw(`\uFEFF\r\n\t ${JSON.stringify(base, null, 4)}\n`)).toMatchObject(served);
    });
  });

  describe('rejects as malformed', () => {
    const whole = JSON.stringify(base);
    it.each([
      ['an empty body', ''],
      ['white space alone', ' \n'],
      ['plain text', 'Hello'],
      ['a body that was cut off', whole.slice(0, -1)],
      ['a body with something behind it', `${whole}}`],
      ['single quotes', whole.replaceAll('"', "'")],
      ['a trailing comma', whole.replace(/\}$/, ',}')],
      ['NaN', whole.replace('{', '{"temperature":NaN,')],
      ['a line break within a string', whole.replace('Hello', 'Hel\nlo')],
      ['an invalid escape', whole.replace('Hello', '\\x41')],
    ])('%s', async (_what, body) => {
      expect(await sendRaw(body)).toMatchObject(malformed);
    });

    it.each([
      ['a byte that is invalid in UTF-8', Buffer.from(whole.replace('Hello', '\xff'), 'latin1')],
      ['a character that is cut in two', Buffer.from(whole.replace('Hello', '\xf0\x9f\x98'), 'latin1')],
      ['an overlong encoding', Buffer.from(whole.replace('Hello', '\xc0\xaf'), 'latin1')],
      ['UTF-16', Buffer.from(`\uFEFF${whole}`, 'utf16le')],
    ])('%s', async (_what, body) => {
      expect(await sendRaw(body)).toMatchObject(malformed);
    });
  });

  describe('rejects JSON that is not an object:', () => {
    const whole = JSON.stringify(base);
    it.each([
      ['a list', `[${whole}]`],
      ['a text', '"Hello"'],
      ['the object, encoded twice', JSON.stringify(whole)],
      ['a number', '5'],
      ['null', 'null'],
      ['true', 'true'],
    ])('%s', async (_what, body) => {
      expect(await sendRaw(body)).toMatchObject(noObject);
    });
  });

  describe('responds with 415 to', () => {
    it.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/problem+json',
      'json',
      ', application/json',
    ])('the content type %s', async (type) => {
      const { status, problem } = await sendRaw(JSON.stringify(base), type);
      expect(status).toBe(415);
      expect(problem.code).toBe('unsupported-media-type');
      expect(problem.detail).toContain('application/json');
    });

    it('a compressed body', async () => {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      const { status, problem } = await api.send('POST', path, { headers, body: JSON.stringify(base) });
      expect(status).toBe(415);
      expect(problem.detail).toContain('gzip');
    });

    it('a body without a content type', async () => {
      const { status, problem } = await api.send('POST', path, { body: JSON.stringify(base) });
      expect(status).toBe(415);
      expect(problem.code).toBe('unsupported-media-type');
    });
  });

  describe('is not affected by', () => {
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const whole = JSON.stringify(base);

    it('100,000 unclosed brackets', async () => {
      expect(await sendRaw('['.repeat(100_000))).toMatchObject(tooDeep);
      expect(await sendRaw('{"":'.repeat(100_000))).toMatchObject(tooDeep);
      expect(await sendRaw('['.repeat(32))).toMatchObject(malformed);
    });

    it('arrays nested 100,000 deep', async () => {
      expect(await sendRaw(nested)).toMatchObject(tooDeep);
      expect(await sendRaw(`{"messages":${nested}}`)).toMatchObject(tooDeep);
    });

    it('an unknown property nested 100,000 deep', async () => {
      expect(await sendRaw(whole.replace('{', `{"unknown":${nested},`))).toMatchObject(tooDeep);
    });

    it('an unknown property at the nesting limit', async () => {
      const within = `${'['.repeat(31)}${']'.repeat(31)}`;
      expect(await sendRaw(whole.replace('{', `{"unknown":${within},`))).toMatchObject(served);
      expect(await sendRaw(whole.replace('{', `{"unknown":[${within}],`))).toMatchObject(tooDeep);
    });

    it('brackets, braces and commas in strings', async () => {
      const text = JSON.stringify('[{,"\\\\'.repeat(5000));
      expect(await sendRaw(whole.replace('{', `{"unknown":${text},${text}:null,`))).toMatchObject(served);
    });

    it('an object with __proto__', async () => {
      const { problem } = await sendRaw(`{"__proto__":${whole}}`);
      expect(problem.errors).toEqual([{ in: 'body', pointer: '/messages', detail: 'is missing' }]);
      expect(await sendRaw(whole.replace('{', '{"constructor":{"prototype":{}},"__proto__":null,'))).toMatchObject(
        served,
      );
    });
  });
});

describe('several violations', () => {
  const path = chat;
  const mistakes = {
    messages: [{ role: 'tool' }, { content: '' }],
    model: '',
    temperature: 3,
    max_tokens: 0.5,
    top_p: 0,
    voice_id: 5,
    tts_model: [],
  };
  const all = [
    ['/messages/0/content', 'is missing'],
    ['/messages/0/role', oneRole],
    ['/messages/1/role', 'is missing'],
    ['/messages/1/content', tooShort],
    ['/model', tooShort],
    ['/temperature', 'must be <= 2'],
    ['/max_tokens', 'must be integer'],
    ['/max_tokens', 'must be >= 1'],
    ['/top_p', 'must be > 0'],
    ['/voice_id', 'must be string'],
    ['/tts_model', 'must be string'],
  ].map(([pointer, detail]) => ({ in: 'body', pointer, detail }));

  /** The mistakes in a body of exactly so many bytes. */
  const ofBytes = (bytes: number) => {
    const empty = JSON.stringify({ ...mistakes, padding: '' }).length;
    return { ...mistakes, padding: letters(bytes - empty) };
  };
  const byPlace = (errors: readonly object[] = []) => errors.map((error) => JSON.stringify(error)).sort();

  it('lists every violation of a body up to 64 KB', async () => {
    const { status, problem } = await api.post(path, ofBytes(65_536));
    expect(status).toBe(422);
    expect(byPlace(problem.errors)).toEqual(byPlace(all));
    expect(problem.detail).toMatch(/, and 10 more$/);
  });

  it('lists one violation of a larger body', async () => {
    const { status, problem } = await api.post(path, ofBytes(65_537));
    expect(status).toBe(422);
    expect(problem.errors).toHaveLength(1);
    expect(all).toContainEqual(problem.errors![0]);
  });

  it('lists at most 100 violations and counts all', async () => {
    const { status, problem } = await api.post(path, { messages: Array.from({ length: 9000 }, () => ({})) });
    expect(status).toBe(422);
    expect(problem.errors).toHaveLength(100);
    // Two for each of the first 101 messages, and one for their number.
    expect(problem.detail).toMatch(/, and 202 more$/);
  });

  it('rejects 3 MB of empty messages', async () => {
    const messages = Array.from({ length: 1_000_000 }, () => ({}));
    expect(await api.post(path, { messages })).toMatchObject(tooMany);
  });

  it('rejects 3 MB of empty objects in a field of another type', async () => {
    const objects = Array.from({ length: 1_000_000 }, () => ({}));
    expect(await api.post(path, { messages: [message], model: objects })).toMatchObject(tooMany);
  });
});
