/** The tables of the interface document for chat (2.4, 2.5) and of DESIGN.md for direct speech, rule by rule. */
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
/** What is wrong, the fields, where, and what the rule says. */
type Broken = readonly [rule: string, fields: Fields, pointer: string, ...details: string[]];
type Valid = readonly [rule: string, fields: Fields];

const message = { role: 'user', content: 'Hello' };
const history = (length: number) => Array.from({ length }, () => message);
const ofRole = (role: unknown) => ({ messages: [{ ...message, role }] });
const ofContent = (content: unknown) => ({ messages: [{ ...message, content }] });

const emoji = '\u{1F600}';
const letters = (count: number) => 'x'.repeat(count);

const formats = ['mp3', 'wav', 'ogg', 'opus', 'flac', 'aac', 'pcm'];

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

/** An optional id: a string of 1 to 256 characters, or null. */
const brokenId = (name: string): Broken[] => [
  [`${name} is empty`, { [name]: '' }, `/${name}`, tooShort],
  [`${name} has 257 characters`, { [name]: letters(257) }, `/${name}`, tooLong(256)],
  [`${name} is a number`, { [name]: 5 }, `/${name}`, 'must be string'],
  [`${name} is a list`, { [name]: ['a'] }, `/${name}`, 'must be string'],
  [`${name} is a truth value`, { [name]: true }, `/${name}`, 'must be string'],
];
const validId = (name: string): Valid[] => [
  [`${name} of 1 character`, { [name]: 'x' }],
  [`${name} of 256 characters`, { [name]: letters(256) }],
  [`${name} of 256 characters outside of the basic plane`, { [name]: emoji.repeat(256) }],
  [`${name} null`, { [name]: null }],
];

const brokenChats: readonly Broken[] = [
  ['messages are missing', { messages: undefined }, '/messages', 'is missing'],
  ['messages are null', { messages: null }, '/messages', 'must be array'],
  ['messages are a text', { messages: 'Hello' }, '/messages', 'must be array'],
  ['messages are an object', { messages: message }, '/messages', 'must be array'],
  ['there are 0 messages', { messages: [] }, '/messages', 'must NOT have fewer than 1 items'],
  ['there are 101 messages', { messages: history(101) }, '/messages', 'must NOT have more than 100 items'],

  ['a message is a text', { messages: ['Hello'] }, '/messages/0', 'must be object'],
  ['a message is null', { messages: [null] }, '/messages/0', 'must be object'],
  ['a message is a list', { messages: [[]] }, '/messages/0', 'must be object'],
  ['the last message is a number', { messages: [...history(99), 5] }, '/messages/99', 'must be object'],

  ['role is missing', ofRole(undefined), '/messages/0/role', 'is missing'],
  ['role is unknown', ofRole('tool'), '/messages/0/role', oneRole],
  ['role is in upper case', ofRole('User'), '/messages/0/role', oneRole],
  ['role is empty', ofRole(''), '/messages/0/role', oneRole],
  ['role is null', ofRole(null), '/messages/0/role', 'must be string', oneRole],
  ['role is a list', ofRole(['user']), '/messages/0/role', 'must be string', oneRole],

  ['content is missing', ofContent(undefined), '/messages/0/content', 'is missing'],
  ['content is empty', ofContent(''), '/messages/0/content', tooShort],
  ['content has 32001 characters', ofContent(letters(32_001)), '/messages/0/content', tooLong(32_000)],
  ['content has 32001 emoji', ofContent(emoji.repeat(32_001)), '/messages/0/content', tooLong(32_000)],
  ['content is null', ofContent(null), '/messages/0/content', 'must be string'],
  ['content is a number', ofContent(5), '/messages/0/content', 'must be string'],
  ['content is a list of parts', ofContent([{ type: 'text', text: 'Hi' }]), '/messages/0/content', 'must be string'],

  ...brokenId('model'),

  ['temperature is below 0', { temperature: -0.01 }, '/temperature', 'must be >= 0'],
  ['temperature is above 2', { temperature: 2.01 }, '/temperature', 'must be <= 2'],
  ['temperature is a text', { temperature: '1' }, '/temperature', 'must be number'],
  ['temperature is a truth value', { temperature: true }, '/temperature', 'must be number'],

  ['max_tokens is 0', { max_tokens: 0 }, '/max_tokens', 'must be >= 1'],
  ['max_tokens is 32001', { max_tokens: 32_001 }, '/max_tokens', 'must be <= 32000'],
  ['max_tokens is a fraction', { max_tokens: 1.5 }, '/max_tokens', 'must be integer'],
  ['max_tokens is a text', { max_tokens: '100' }, '/max_tokens', 'must be integer'],

  ['top_p is 0', { top_p: 0 }, '/top_p', 'must be > 0'],
  ['top_p is below 0', { top_p: -0.1 }, '/top_p', 'must be > 0'],
  ['top_p is above 1', { top_p: 1.01 }, '/top_p', 'must be <= 1'],
  ['top_p is a text', { top_p: '0.5' }, '/top_p', 'must be number'],

  ...brokenId('voice_id'),
  ...brokenId('tts_model'),
];

const validChats: readonly Valid[] = [
  ['1 message', { messages: history(1) }],
  ['100 messages', { messages: history(100) }],
  ['the role system', ofRole('system')],
  ['the role user', ofRole('user')],
  ['the role assistant', ofRole('assistant')],
  ['content of 1 character', ofContent('x')],
  ['content of 1 character outside of the basic plane', ofContent(emoji)],
  ['content of 32000 characters', ofContent(letters(32_000))],
  ['content of 32000 emoji, which are 64000 UTF-16 units', ofContent(emoji.repeat(32_000))],
  ...validId('model'),
  ['temperature 0', { temperature: 0 }],
  ['temperature 2', { temperature: 2 }],
  ['temperature 0.7', { temperature: 0.7 }],
  ['temperature null', { temperature: null }],
  ['max_tokens 1', { max_tokens: 1 }],
  ['max_tokens 32000', { max_tokens: 32_000 }],
  ['max_tokens null', { max_tokens: null }],
  ['top_p 1', { top_p: 1 }],
  ['top_p just above 0', { top_p: Number.MIN_VALUE }],
  ['top_p null', { top_p: null }],
  ...validId('voice_id'),
  ...validId('tts_model'),
  ['properties that the contract does not know', { stream: true, messages: [{ ...message, name: 'Ada' }] }],
];

const brokenSpeeches: readonly Broken[] = [
  ['text is missing', { text: undefined }, '/text', 'is missing'],
  ['text is empty', { text: '' }, '/text', tooShort],
  ['text has 32001 characters', { text: letters(32_001) }, '/text', tooLong(32_000)],
  ['text is null', { text: null }, '/text', 'must be string'],
  ['text is a list', { text: ['Hello'] }, '/text', 'must be string'],
  ['format is unknown', { format: 'midi' }, '/format', `must be one of ${formats.join(', ')}`],
  ['format is in upper case', { format: 'MP3' }, '/format', `must be one of ${formats.join(', ')}`],
  ['format is a number', { format: 3 }, '/format', 'must be string', `must be one of ${formats.join(', ')}`],
  ...brokenId('model'),
  ...brokenId('voice_id'),
];

const validSpeeches: readonly Valid[] = [
  ['text of 1 character', { text: 'x' }],
  ['text of 32000 emoji', { text: emoji.repeat(32_000) }],
  ...[...formats, null].map((format): Valid => [`format ${format}`, { format }]),
  ...validId('model'),
  ...validId('voice_id'),
  ['properties that the contract does not know', { speed: 2 }],
];

interface JsonOperation {
  readonly path: string;
  /** The smallest valid request, and what is missing from an empty one. */
  readonly base: Fields;
  readonly required: string;
  readonly broken: readonly Broken[];
  readonly valid: readonly Valid[];
}

const operations: readonly JsonOperation[] = [
  {
    path: '/api/v1/chat',
    base: { messages: [message] },
    required: '/messages',
    broken: brokenChats,
    valid: validChats,
  },
  {
    path: '/api/v1/chat/stream',
    base: { messages: [message] },
    required: '/messages',
    broken: brokenChats,
    valid: validChats,
  },
  { path: '/api/v1/tts', base: { text: 'Hello' }, required: '/text', broken: brokenSpeeches, valid: validSpeeches },
];

describe.each(operations)('POST $path', ({ path, base, required, broken, valid }) => {
  const sendRaw = (body: string | Buffer, type = 'application/json') =>
    api.send('POST', path, { headers: { 'content-type': type }, body });
  /** No engine is configured: what passes validation is told so. */
  const served = { status: 503, problem: { code: 'no-engine' } };
  const malformed = { status: 422, problem: { code: 'malformed-body', errors: [{ in: 'body', pointer: '' }] } };
  const noObject = {
    status: 422,
    problem: { code: 'invalid-request', errors: [{ in: 'body', pointer: '', detail: 'must be a JSON object' }] },
  };

  describe('responds with 422 and names the field when', () => {
    for (const [rule, fields, pointer, ...details] of broken) {
      it(rule, async () => {
        const { status, problem } = await api.post(path, { ...base, ...fields });
        expect(status).toBe(422);
        expect(problem.code).toBe('invalid-request');
        expect(problem.errors).toEqual(details.map((detail) => ({ in: 'body', pointer, detail })));
        expect(problem.detail).toContain(`${pointer.slice(1)} ${details[0]!}`);
      });
    }

    it('a number overflows', async () => {
      const number = path.endsWith('tts') ? 'format' : 'temperature';
      const { status, problem } = await sendRaw(JSON.stringify(base).replace('{', `{"${number}":1e999,`));
      expect(status).toBe(422);
      expect(problem.errors?.[0]).toMatchObject({ in: 'body', pointer: `/${number}` });
    });
  });

  describe('accepts', () => {
    for (const [rule, fields] of valid) {
      it(rule, async () => {
        expect(await api.post(path, { ...base, ...fields })).toMatchObject(served);
      });
    }

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
      ['an escape that is none', whole.replace('Hello', '\\x41')],
    ])('%s', async (_what, body) => {
      expect(await sendRaw(body)).toMatchObject(malformed);
    });

    it.each([
      ['a byte that is none of UTF-8', Buffer.from(whole.replace('Hello', '\xff'), 'latin1')],
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
    const [name] = Object.keys(base);

    it('100,000 unclosed brackets', async () => {
      expect(await sendRaw('['.repeat(100_000))).toMatchObject(tooDeep);
      expect(await sendRaw('{"":'.repeat(100_000))).toMatchObject(tooDeep);
      expect(await sendRaw('['.repeat(32))).toMatchObject(malformed);
    });

    it('arrays nested 100,000 deep', async () => {
      expect(await sendRaw(nested)).toMatchObject(tooDeep);
      expect(await sendRaw(`{"${name!}":${nested}}`)).toMatchObject(tooDeep);
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
      expect(problem.errors).toEqual([{ in: 'body', pointer: required, detail: 'is missing' }]);
      expect(await sendRaw(whole.replace('{', '{"constructor":{"prototype":{}},"__proto__":null,'))).toMatchObject(
        served,
      );
    });
  });
});

describe.each(['/api/v1/chat', '/api/v1/chat/stream'])('POST %s', (path) => {
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
