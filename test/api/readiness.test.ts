/** /readyz: what READY_REQUIRES waits for, and what a shutdown does to it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';
import { echo } from './support/engines.ts';
import { eventually } from './support/eventually.ts';

/** An engine of this capability whose availability is what the file `state` beside the settings has. */
function engine(capability: string, { needs = true } = {}): Required<Pick<TestServiceOptions, 'config' | 'files'>> {
  const source = `
import { readFileSync } from 'node:fs';

export default {
  contract: 1,
  name: 'own',
  capability: '${capability}',
  options: { type: 'object', properties: {} },
  create(options, context) {
    const entry = (id, code) => ({
      ...{ id, local: true, voices: [], ${needs ? "needs: ['something']" : ''} },
      ...(code !== 'ready' && { availability: { available: false, code, reason: 'The state is ' + code + '.' } }),
    });
    const entries = () => [entry('first', readFileSync(context.resolve('state'), 'utf8')), entry('second', 'preparing')];
    return {
      models: entries(),
      recheck: async () => context.publish(entries()),
      transcribe() {}, complete() {}, synthesize() {},
    };
  },
};
`;
  return { config: 'engines: { own: { use: ./own.mjs } }\n', files: { 'own.mjs': source, state: 'ready' } };
}

async function setState(service: TestService, state: string): Promise<void> {
  await writeFile(join(service.dir, 'state'), state);
  await service.service.registry.recheck();
}

const readyz = ({ url }: TestService) => createApi(url).get('/readyz');
const ready = { status: 200, body: { status: 'ready' } };

describe('/readyz', () => {
  it('returns 200 by default, whatever the engines lack', async () => {
    await using service = await startTestService(engine('transcription'));
    await setState(service, 'model-file-missing');
    expect(await readyz(service)).toMatchObject(ready);
  });

  it.each(['transcription', 'speech', 'chat'])('waits for the default model of %s, if required', async (capability) => {
    await using service = await startTestService({ ...engine(capability), env: { READY_REQUIRES: capability } });
    for (const state of ['preparing', 'program-missing', 'model-file-missing']) {
      await setState(service, state);
      const { status, problem, headers } = await readyz(service);
      expect({ status, code: problem.code }).toEqual({ status: 503, code: 'not-ready' });
      expect(problem.detail).toBe(`Required and not ready: ${capability}: The state is ${state}.`);
      expect(headers.get('retry-after')).toBe('5');
    }
    await setState(service, 'ready');
    expect(await readyz(service)).toMatchObject(ready);
  });

  it('stays ready once it was', async () => {
    await using service = await startTestService({ ...engine('speech'), env: { READY_REQUIRES: 'speech' } });
    expect(await readyz(service)).toMatchObject(ready);
    await setState(service, 'preparing');
    expect(await readyz(service)).toMatchObject(ready);
  });

  it.each(['upstream-unreachable', 'key-refused', 'key-missing', 'busy'])(
    'returns 200 for a required model that is %s: other requests still work',
    async (state) => {
      await using service = await startTestService({ ...engine('chat'), env: { READY_REQUIRES: 'chat' } });
      await setState(service, state);
      expect(await readyz(service)).toMatchObject(ready);
    },
  );

  it('does not wait for a model that needs nothing installed, such as one of a provider', async () => {
    const own = engine('chat', { needs: false });
    await using service = await startTestService({ ...own, env: { READY_REQUIRES: 'chat' } });
    await setState(service, 'preparing');
    expect(await readyz(service)).toMatchObject(ready);
  });

  it('returns 200 for a required capability without an engine', async () => {
    await using service = await startTestService({ ...echo, env: { READY_REQUIRES: 'chat,speech' } });
    expect(await readyz(service)).toMatchObject(ready);
  });
});

describe('a drain', () => {
  it('turns /readyz to 503, while everything else is served and connections end after their answers', async () => {
    await using service = await startTestService(echo);
    const api = createApi(service.url);
    expect((await api.get('/api/v1/models')).headers.get('connection')).toBe('keep-alive');
    service.service.drain();
    const { status, problem, headers } = await readyz(service);
    expect({ status, code: problem.code }).toEqual({ status: 503, code: 'shutting-down' });
    expect(headers.get('retry-after')).toBe('5');
    expect(await api.get('/healthz')).toMatchObject({ status: 200 });
    const answer = await api.get('/api/v1/transcribe/models');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('connection')).toBe('close');
  });
});

it('probes are logged at debug, other requests at info', async () => {
  await using service = await startTestService(echo);
  const api = createApi(service.url);
  for (const path of ['/healthz', '/readyz', '/api/v1/models']) await api.get(path);
  const lines = () => service.log.filter(({ msg }) => msg === 'request');
  await eventually(lines).toHaveLength(3);
  const levels = new Map(lines().map(({ path, level }) => [path, level]));
  expect([...levels]).toEqual([
    ['/healthz', 20],
    ['/readyz', 20],
    ['/api/v1/models', 30],
  ]);
});

it('a probe that answers 503 is logged at debug alone, without an error: nothing has failed', async () => {
  await using service = await startTestService({ ...engine('speech'), env: { READY_REQUIRES: 'speech' } });
  await setState(service, 'preparing');
  const { headers } = await readyz(service);
  service.service.drain();
  await readyz(service);
  const lines = () => service.log.filter(({ path, code }) => path === '/readyz' || code !== undefined);
  await eventually(lines).toHaveLength(4);
  expect(lines()).toMatchObject([
    { level: 20, id: headers.get('x-request-id'), code: 'not-ready', msg: 'a request was refused' },
    { level: 20, status: 503, msg: 'request' },
    { level: 20, code: 'shutting-down' },
    { level: 20, status: 503 },
  ]);
  expect(lines().filter(({ err }) => err !== undefined)).toEqual([]);
});
