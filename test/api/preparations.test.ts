/** Preparations: what this machine can have, who may start it, and what is seen of it. */
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import type { Schemas } from '../../src/contract/operations.ts';
import { bearer, keysFile, tokenOf } from '../keys/support/keys.ts';
import { createApi, type Answer } from '../support/http.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';

/** Notes what it is asked to make in a file; each asset behaves as its id says. */
const source = `
  import { appendFileSync } from 'node:fs';
  import { join } from 'node:path';
  import { setTimeout as wait } from 'node:timers/promises';
  let isThere = false;
  const create = (_options, context) => {
    const group = (id, { isConfigured, bytes = 1000, isReady = () => false } = {}) => ({ id, isConfigured, assets: [{
      ...{ kind: 'made', id, title: 'Part ' + id, bytes, license: 'MIT', verb: 'downloading', source: 'npm', isReady },
      path: join(context.dataDir, id),
      async make({ signal, progress }) {
        appendFileSync(context.resolve('prepared'), id + '\\n');
        if (id === 'quick') isThere = true;
        if (id === 'quick') return;
        progress(0.42);
        if (id === 'broken') throw new Error('the site answered 404');
        await wait(3_600_000, undefined, { signal });
      },
    }] });
    return {
      models: [{ id: 'mine', local: true }],
      synthesize: async () => undefined,
      assets: [
        group('endless', { isConfigured: true }),
        group('there', { isReady: () => true }),
        group('broken'),
        group('huge', { bytes: 2 ** 50 }),
        group('quick', { isReady: () => isThere }),
      ],
    };
  };
  export default { contract: 1, name: 'parts', capability: 'speech', options: { type: 'object', properties: {} }, create };
`;

const engine = { config: 'engines: { parts: { use: ./parts.mjs } }', files: { 'parts.mjs': source, prepared: '' } };

async function start({ env = {}, files = {} }: Pick<TestServiceOptions, 'env' | 'files'> = {}) {
  const service = await startTestService({ ...engine, files: { ...engine.files, ...files }, env });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

const path = '/api/v1/preparations';

type Headers = Readonly<Record<string, string>>;

function callsOf(service: Pick<TestService, 'url' | 'dir'>, headers: Headers = {}) {
  const api = createApi(service.url);
  const send = (method: string, id = '') => api.send(method, `${path}${id && `/${id}`}`, { headers });
  return {
    list: async () => (await send('GET')).body as Schemas['PreparationList'],
    start: (id: string) => send('POST', id),
    stop: (id: string) => send('DELETE', id),
    prepared: () => readFile(join(service.dir, 'prepared'), 'utf8'),
  };
}

const stateOf = (answer: Answer) => answer.body as Schemas['Preparation'];

async function listed(calls: ReturnType<typeof callsOf>, id: string) {
  return (await calls.list()).data.find((one) => one.id === id);
}

describe('GET /preparations', () => {
  it('lists what the engines offer: what the settings need first, with its state and command', async () => {
    const calls = callsOf(await start());
    const { data, startable, reason } = await calls.list();
    expect(data.map(({ id, state }) => `${id} ${state}`)).toEqual([
      'endless missing',
      'there ready',
      'broken missing',
      'huge missing',
      'quick missing',
    ]);
    expect(data[0]).toEqual({
      ...{ id: 'endless', title: 'Part endless', purpose: '', capability: 'speech', configured: true },
      ...{ model: null, bytes: 1000, memory_bytes: null, license: 'MIT' },
      ...{ state: 'missing', progress: null, reason: 'Not installed.', command: 'npm run setup -- endless' },
    });
    expect({ startable, reason }).toEqual({ startable: true, reason: 'You may start preparations.' });
    expect(await calls.prepared()).toBe('');
  });
});

describe('the memory that models may use', () => {
  it('is that of the machine', async () => {
    const { memory_bytes: bytes } = await callsOf(await start()).list();
    expect(bytes).toBeGreaterThan(2 ** 28);
    expect(bytes).toBeLessThanOrEqual(totalmem());
  });

  it('is MEMORY_BUDGET, if that is less', async () => {
    const calls = callsOf(await start({ env: { MEMORY_BUDGET: '2000000' } }));
    expect(await calls.list()).toMatchObject({ memory_bytes: 2_000_000 });
  });
});

describe('POST /preparations/{id}', () => {
  it('starts it, with progress in the listing; DELETE stops it, and it can be started again', async () => {
    const calls = callsOf(await start());
    const begun = await calls.start('endless');
    expect(begun.status).toBe(202);
    expect(stateOf(begun).state).toBe('preparing');
    await expect
      .poll(() => listed(calls, 'endless'))
      .toMatchObject({
        ...{ state: 'preparing', progress: 0.42, reason: 'Installing (downloading Part endless: 42 %).' },
      });
    const stopped = await calls.stop('endless');
    expect(stopped.status).toBe(200);
    expect(stateOf(stopped)).toMatchObject({ state: 'missing', progress: null, reason: /^Stopped/ });
    expect((await calls.start('endless')).status).toBe(202);
    await expect.poll(() => calls.prepared()).toBe('endless\nendless\n');
  });

  it('is ready at its end, and then does nothing more', async () => {
    const calls = callsOf(await start());
    expect((await calls.start('quick')).status).toBeLessThan(300);
    await expect.poll(() => listed(calls, 'quick')).toMatchObject({ state: 'ready', reason: 'Ready.' });
    expect((await calls.start('quick')).status).toBe(200);
    expect((await calls.stop('quick')).status).toBe(200);
    expect(await calls.prepared()).toBe('quick\n');
  });

  it('of one that is in progress responds with its state: two callers at once start it once', async () => {
    const calls = callsOf(await start());
    const answers = await Promise.all(Array.from({ length: 8 }, () => calls.start('endless')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    await expect.poll(() => calls.prepared()).toBe('endless\n');
  });

  it('responds with 409 while another one is in progress', async () => {
    const calls = callsOf(await start());
    await calls.start('endless');
    const { status, problem, headers } = await calls.start('quick');
    expect({ status, code: problem.code }).toEqual({ status: 409, code: 'preparation-in-progress' });
    expect(problem.detail).toContain('"endless"');
    expect(headers.get('retry-after')).toBe('30');
    await calls.stop('endless');
    expect((await calls.start('quick')).status).toBeLessThan(300);
  });

  it('says in the listing why it failed, and may be started again', async () => {
    const service = await start();
    const calls = callsOf(service);
    await calls.start('broken');
    await expect
      .poll(() => listed(calls, 'broken'))
      .toMatchObject({
        ...{ state: 'failed', progress: null, reason: 'Part broken is not installed: the site answered 404.' },
      });
    expect(service.log.map(({ msg }) => msg)).toContain('a preparation has failed');
    expect((await calls.start('broken')).status).toBe(202);
  });

  it('responds with 503 storage-full to what does not fit on the disk', async () => {
    const calls = callsOf(await start());
    const { status, problem } = await calls.start('huge');
    expect({ status, code: problem.code }).toEqual({ status: 503, code: 'storage-full' });
    expect(problem.detail).toMatch(/^It needs \d+ MB of disk; \d+ MB are free\.$/);
    expect(await calls.prepared()).toBe('');
  });

  it.each([
    'piano',
    '__proto__',
    'constructor',
    '..%2f..%2fetc%2fpasswd',
    'http:%2f%2fevil.example%2fx',
    'x'.repeat(128),
  ])('knows no id but those of the listing: %s', async (id) => {
    const calls = callsOf(await start());
    for (const answer of [await calls.start(id), await calls.stop(id)]) {
      expect({ status: answer.status, code: answer.problem.code }).toEqual({ status: 404, code: 'preparation-not-found' }); // prettier-ignore
    }
    expect(await calls.prepared()).toBe('');
  });

  it('is ended by the end of the service', async () => {
    const service = await startTestService(engine);
    await using _ = service;
    const calls = callsOf(service);
    await calls.start('endless');
    await expect.poll(() => calls.prepared()).toBe('endless\n');
    await service.service.stop(0); // would otherwise wait for an hour
    expect(service.log.map(({ msg }) => msg)).not.toContain('a preparation has failed');
  });
});

describe('who may start and stop', () => {
  const allowed = { status: 202, startable: true };
  const refused = { status: 403, startable: false };

  /** The same for both operations, and for the listing, which says why not. */
  async function outcome(env: Headers, headers: Headers = {}, files: Headers = {}) {
    const calls = callsOf(await start({ env, files }), headers);
    const { startable, reason } = await calls.list();
    const answers = [await calls.start('endless'), await calls.stop('endless')];
    const codes = answers.flatMap((answer) => (answer.status === 403 ? [answer.problem.code] : []));
    const [started, stopped] = answers.map(({ status }) => status);
    expect(stopped).toBe(started === 202 ? 200 : started);
    return { status: started, startable, reason, codes };
  }

  it.each<{ what: string; env?: Headers; headers?: Headers; expected: object }>([
    { what: 'a program of this machine', expected: allowed },
    { what: 'PUBLIC_URL on loopback', env: { PUBLIC_URL: 'http://localhost:1' }, expected: allowed },
    { what: 'ALLOW_OPEN', env: { ALLOW_OPEN: 'true' }, expected: refused },
    { what: 'HOST beyond loopback', env: { ALLOW_OPEN: 'true', HOST: '0.0.0.0' }, expected: refused },
    { what: 'TRUST_PROXY', env: { TRUST_PROXY: '1' }, expected: refused },
    { what: 'PREPARE=off', env: { PREPARE: 'off' }, expected: refused },
    {
      what: 'a page of CORS_ORIGINS',
      env: { CORS_ORIGINS: 'https://app.example.com' },
      headers: { origin: 'https://app.example.com' },
      expected: refused,
    },
    { what: 'any page, with CORS_ORIGINS=*', env: { CORS_ORIGINS: '*' }, headers: { origin: 'http://127.0.0.1:1' }, expected: refused }, // prettier-ignore
  ])('in open mode: $what', async ({ env = {}, headers, expected }) => {
    const { reason, codes, ...found } = await outcome(env, headers);
    expect(found).toEqual(expected);
    expect(reason).not.toBe('');
    expect(new Set(codes)).toEqual(new Set(found.startable ? [] : ['preparation-not-allowed']));
  });

  it("the service's own page may", async () => {
    const service = await start();
    const calls = callsOf(service, { origin: service.url });
    expect((await calls.list()).startable).toBe(true);
    expect((await calls.start('endless')).status).toBe(202);
  });

  it('a page of another origin gets as far as any request of its', async () => {
    const calls = callsOf(await start(), { origin: 'https://evil.example' });
    expect((await calls.start('endless')).problem.code).toBe('origin-not-allowed');
    expect(await calls.prepared()).toBe('');
  });

  describe('with keys', () => {
    const operations = ['listPreparations', 'startPreparation'];
    const keys = keysFile(
      { name: 'all' },
      { name: 'listing', operations: ['listPreparations', 'createChat'] },
      { name: 'named', operations },
      { name: 'stopping', operations: ['listPreparations', 'stopPreparation'] },
    );
    let service: TestService;
    beforeAll(async () => {
      const env = { API_KEYS_FILE: 'keys.yaml', API_KEYS: 'a-token-of-the-environment' };
      service = await startTestService({ ...engine, files: { ...engine.files, 'keys.yaml': keys }, env });
    });
    afterAll(() => service[Symbol.asyncDispose]());

    it.each([
      ['a key of API_KEYS', 'a-token-of-the-environment', false],
      ['an entry without `operations`', tokenOf('all'), false],
      ['an entry that does not list it', tokenOf('listing'), false],
      ['an entry that lists startPreparation', tokenOf('named'), true],
    ])('%s', async (_what, token, isAllowed) => {
      const calls = callsOf(service, bearer(token));
      expect((await calls.list()).startable).toBe(isAllowed);
      const [started, stopped] = [await calls.start('endless'), await calls.stop('endless')];
      expect([started.status, stopped.status]).toEqual(isAllowed ? [202, 200] : [403, 403]);
      if (!isAllowed) expect(started.problem.code).toBe('operation-not-allowed');
    });

    it('an entry that lists stopPreparation only may stop', async () => {
      const calls = callsOf(service, bearer(tokenOf('stopping')));
      expect((await calls.start('endless')).status).toBe(403);
      expect((await calls.stop('endless')).status).toBe(200);
    });

    it('PREPARE=off holds for every key', async () => {
      const env = { API_KEYS_FILE: 'keys.yaml', PREPARE: 'off' };
      const calls = callsOf(await start({ env, files: { 'keys.yaml': keys } }), bearer(tokenOf('named')));
      expect((await calls.list()).startable).toBe(false);
      expect((await calls.start('endless')).problem.code).toBe('preparation-not-allowed');
    });
  });
});

it('the client lists, starts and stops', async () => {
  const { preparations } = createClient({ baseUrl: (await start()).url });
  expect((await preparations.list()).startable).toBe(true);
  expect(await preparations.start('endless')).toMatchObject({ id: 'endless', state: 'preparing' });
  expect(await preparations.stop('endless')).toMatchObject({ id: 'endless', state: 'missing' });
  await expect(preparations.start('piano')).rejects.toMatchObject({ code: 'preparation-not-found', status: 404 });
});
