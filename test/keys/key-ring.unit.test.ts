/** Keys by their tokens, from API_KEYS and from the file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openKeyRing } from '../../src/keys/key-ring.ts';
import { createToken } from '../../src/keys/key.ts';
import { keyName } from '../../src/keys/schema.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { keysFile, sha256, tokenOf, type TestEntry } from './support/keys.ts';

interface Line {
  readonly level: string;
  readonly facts: object;
  readonly message: string;
}

interface Opening {
  readonly apiKeys?: readonly string[];
  readonly entries: readonly TestEntry[];
  /** What is written to the file after each read of it. */
  readonly writes?: (string | undefined)[];
}

/** A ring of these keys; `write` replaces the file. */
async function open({ apiKeys = [], entries, writes = [] }: Opening) {
  const path = join(await temporaryDirectory(), 'keys.yaml');
  const write = (text: string) => writeFileSync(path, text);
  write(keysFile(...entries));
  const wait = () => {
    const text = writes.shift();
    if (text !== undefined) write(text);
    return Promise.resolve();
  };
  const lines: Line[] = [];
  const at = (level: string) => (facts: object, message: string) => void lines.push({ level, facts, message });
  const log = { info: at('info'), warn: at('warn'), error: at('error') };
  const ring = (await openKeyRing({ apiKeys: [...apiKeys], apiKeysFile: path }, log, wait))!;
  onTestFinished(() => ring[Symbol.dispose]());
  return { ring, write, lines, path, nameOf: (token: string) => ring.find(token)?.key.name };
}

const plain = tokenOf('plain');
const app = { name: 'app' };
/** Jobs and usage on disks belong to these names: they must not change between releases. */
const [ofFirst, ofPlain] = ['key:3382deff', 'key:4af610c5'];

describe('a key', () => {
  it('is found by its token, from both sources', async () => {
    const { nameOf, ring } = await open({ apiKeys: ['first', plain], entries: [app, { ...app, version: 2 }] });
    expect([plain, 'first', tokenOf('app'), tokenOf('app', 2)].map(nameOf)).toEqual([ofPlain, ofFirst, 'app', 'app']);
    expect(ring.find(tokenOf('app'))!.key).toBe(ring.find(tokenOf('app', 2))!.key);
    expect(['', 'APP', sha256(plain), `${plain} `, 'app'].map(nameOf)).toEqual(Array(5).fill(undefined));
  });

  it('of API_KEYS has the same name at any position, beside any others, and when it is repeated', async () => {
    const rings = await Promise.all(
      [[plain], ['first', plain], [plain, plain, 'first']].map((apiKeys) => open({ apiKeys, entries: [app] })),
    );
    expect(rings.map(({ nameOf }) => nameOf(plain))).toEqual([ofPlain, ofPlain, ofPlain]);
    expect(rings.map(({ nameOf }) => nameOf('first'))).toEqual([undefined, ofFirst, ofFirst]);
  });

  it('may do everything by default', async () => {
    const { ring } = await open({ entries: [app] });
    const { key } = ring.find(tokenOf('app'))!;
    expect([key.mayCall('createChat'), key.mayUseModel('x'), key.mayUseTool('read_aloud')]).toEqual([true, true, true]);
    expect(key).toMatchObject({ weight: 1, limits: {} });
  });

  it('has its weight, limits and permissions', async () => {
    const limits = { requestsPerMinute: 60, tokensPerDay: 5 };
    const entry = {
      ...app,
      weight: 3,
      limits,
      operations: ['createChat'],
      models: ['gpt-*', '!gpt-4*'],
      tools: ['a__*'],
    };
    const { key } = (await open({ entries: [entry] })).ring.find(tokenOf('app'))!;
    expect(key).toMatchObject({ name: 'app', weight: 3, limits });
    expect(['createChat', 'streamChat'].filter(key.mayCall)).toEqual(['createChat']);
    expect(['gpt-5', 'gpt-4o', 'local', 'my-gpt-5'].filter(key.mayUseModel)).toEqual(['gpt-5']);
    expect(['a__b', 'b__a', 'read_aloud'].filter(key.mayUseTool)).toEqual(['a__b']);
  });

  it('without tools has none', async () => {
    const { key } = (await open({ entries: [{ ...app, tools: [] }] })).ring.find(tokenOf('app'))!;
    expect(key.mayUseTool('read_aloud')).toBe(false);
  });

  it('of the file must not be one of API_KEYS', async () => {
    await expect(open({ apiKeys: [tokenOf('app')], entries: [app] })).rejects.toThrow(
      /keys.yaml: keys\[0\].sha256: the token is also key:[\da-f]{8} of API_KEYS$/,
    );
  });
});

it('no keys mean open mode; a file without keys prevents the start', async () => {
  const log = { info() {}, warn() {}, error() {} };
  expect(await openKeyRing({ apiKeys: [] }, log)).toBeUndefined();
  await expect(open({ entries: [] })).rejects.toThrow(/^API_KEYS_FILE: \S+ has no keys; fix: npm run key -- new NAME$/);
});

it('the start does not accept a half-written file', async () => {
  const whole = keysFile({ ...app, operations: ['createChat'] });
  const { ring } = await open({ entries: [app], writes: [whole] });
  expect(ring.find(tokenOf('app'))!.key.mayCall('streamChat')).toBe(false);
});

describe('expiry', () => {
  beforeEach(() => void vi.useFakeTimers({ now: new Date('2027-02-01T00:00:00Z') }));
  afterEach(() => void vi.useRealTimers());

  it('expires a token at its time, and no other token', async () => {
    const { ring } = await open({
      entries: [
        { ...app, expires: '2027-02-01T00:00:01Z' },
        { ...app, version: 2 },
      ],
    });
    expect(ring.find(tokenOf('app'))!.isExpired).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect(ring.find(tokenOf('app'))!.isExpired).toBe(true);
    expect(ring.find(tokenOf('app', 2))!.isExpired).toBe(false);
  });

  it('of a token ends what was begun with it, and not what belongs to its key', async () => {
    const { ring } = await open({ entries: [{ ...app, expires: '2027-02-01T00:00:01Z' }] });
    const { key, tokenDigest } = ring.find(tokenOf('app'))!;
    expect([ring.keyOf(tokenDigest), ring.named('app')]).toEqual([key, key]);
    vi.advanceTimersByTime(1_000);
    expect([ring.keyOf(tokenDigest), ring.named('app')]).toEqual([undefined, key]);
  });

  it('is announced once a day from 14 days before', async () => {
    const expires = '2027-02-17T00:00:00+00:00';
    const { lines } = await open({
      entries: [
        { ...app, expires },
        { name: 'later', expires: '2028-01-01T00:00:00Z' },
      ],
    });
    expect(lines).toEqual([]);
    const days: number[] = [];
    for (let day = 1; day <= 20; day += 1) {
      vi.advanceTimersByTime(86_400_000);
      if (lines.length > days.length) days.push(day);
    }
    expect(days).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    const line = { level: 'warn', facts: { key: 'app', expires }, message: 'an API key expires soon' };
    expect(lines).toEqual(days.map(() => line));
  });
});

describe('reading the file again', () => {
  it('adds, removes and changes keys, and logs their names', async () => {
    const { ring, write, lines, nameOf } = await open({
      apiKeys: [plain],
      entries: [{ name: 'goes' }, { name: 'stays' }, { name: 'changes' }, { name: 'rotates' }],
    });
    const before = ring.find(tokenOf('changes'))!.key;
    write(
      keysFile(
        ...[{ name: 'stays' }, { name: 'changes', weight: 2 }],
        ...[{ name: 'rotates' }, { name: 'rotates', version: 2 }, { name: 'comes' }],
      ),
    );
    await ring.reload();
    expect([plain, ...['goes', 'stays', 'comes'].map((name) => tokenOf(name))].map(nameOf)).toEqual([
      ...[ofPlain, undefined, 'stays', 'comes'],
    ]);
    expect(nameOf(tokenOf('rotates', 2))).toBe('rotates');
    expect(before.weight).toBe(1); // requests in flight keep it
    expect(ring.find(tokenOf('changes'))!.key.weight).toBe(2);
    const facts = { added: ['comes'], removed: ['goes'], changed: ['changes', 'rotates'] };
    expect(lines).toEqual([{ level: 'warn', facts, message: 'the keys file was reloaded' }]);
  });

  it('applies a permission that no key has by default', async () => {
    const { ring, write, lines } = await open({ entries: [app] });
    write(keysFile({ ...app, operations: ['createChat', 'startPreparation'] }));
    await ring.reload();
    expect(lines).toMatchObject([{ level: 'info', facts: { removed: [], changed: ['app'] } }]);
    expect(ring.find(tokenOf('app'))!.key.mayCall('stopPreparation')).toBe(true);
  });

  it('accepts a file only after two equal reads, because a half-written one may permit too much', async () => {
    const half = keysFile(app);
    const whole = keysFile({ ...app, operations: ['createChat'] }, { name: 'next' });
    const { ring, write, lines } = await open({
      entries: [{ ...app, operations: ['createChat'] }],
      writes: [undefined, whole],
    });
    write(half);
    await ring.reload();
    expect(ring.find(tokenOf('app'))!.key.mayCall('streamChat')).toBe(false);
    expect(lines).toMatchObject([{ level: 'info', facts: { added: ['next'], changed: [] } }]);
  });

  it('rejects a file that does not stop changing', async () => {
    const writes = Array.from({ length: 100 }, (_, index) => keysFile({ name: `app-${String(index)}` }));
    const { ring, lines, nameOf } = await open({ entries: [app], writes: [undefined, ...writes] });
    await ring.reload();
    const reason = expect.stringMatching(
      /keys.yaml does not stop changing; fix: write another file and rename it$/,
    ) as string;
    expect(lines).toMatchObject([{ level: 'error', facts: { reason } }]);
    expect(nameOf(tokenOf('app'))).toBe('app');
  });

  it('runs one reload after the other', async () => {
    const { ring, write, lines } = await open({ entries: [app] });
    const first = ring.reload();
    write(keysFile(app, { name: 'next' }));
    await Promise.all([first, ring.reload()]);
    expect(lines.map(({ facts }) => facts)).toMatchObject([{ added: ['next'] }, { added: [] }]);
  });

  it.each([
    ['YAML', 'keys: ['],
    ['a keys file', 'keys: [{ name: app, token: hush }]'],
    ['there', ''],
    ['free of the tokens of API_KEYS', keysFile({ name: 'plain' })],
  ])('keeps the keys when it is not %s', async (_what, text) => {
    const { ring, write, lines, nameOf } = await open({ apiKeys: [plain], entries: [app] });
    write(text);
    await ring.reload();
    expect([plain, tokenOf('app')].map(nameOf)).toEqual([ofPlain, 'app']);
    const facts = { reason: expect.stringContaining('keys.yaml') as string };
    expect(lines).toEqual([{ level: 'error', facts, message: 'the keys file is invalid; the keys stay as they are' }]);
    expect(JSON.stringify(lines)).not.toContain('hush');
  });

  it('may remove the last key: every request is then rejected', async () => {
    const { ring, write, nameOf } = await open({ entries: [app] });
    write('keys: []');
    await ring.reload();
    expect(nameOf(tokenOf('app'))).toBeUndefined();
  });
});

it('a new token has 256 random bits and its own hash', () => {
  const [one, two] = [createToken('web-app'), createToken('web-app')];
  expect(one.token).toMatch(/^pl_web-app_[A-Za-z0-9_-]{43}$/);
  expect(one.token).not.toBe(two.token);
  expect(one.sha256).toBe(sha256(one.token));
});

it.each([
  ['web-app', true],
  ['a', true],
  ['key', true],
  ['key-a', true],
  [ofPlain, false],
  ['Web', false],
  ['-a', false],
  ['', false],
  ['a'.repeat(33), false],
])('the name %j is valid: %s', (name, isValid) => {
  expect(keyName.test(name)).toBe(isValid);
});
