/** A service whose provider is the service itself, directly or through another one: X-Parlance-Via. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { createViaId, viaHeader } from '../../lib/via.ts';
import { freePort } from '../support/free-port.ts';
import { createApi } from '../support/http.ts';
import { answers, startProvider, type RawProvider } from '../support/provider.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';

const chat = { messages: [{ role: 'user', content: 'Hello' }] };
const completion = { choices: [{ message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }] };

async function start(options: TestServiceOptions): Promise<TestService> {
  const service = await startTestService(options);
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

/** A service with the provider of a test behind it. */
async function startWithProvider() {
  const provider = await startProvider();
  provider.behave(answers(200, completion));
  const config = `engines: { cloud: { use: llm-agent, baseUrl: "${provider.baseUrl}", models: [mind] } }`;
  const service = await start({ config });
  const ask = (via?: string) =>
    createApi(service.url).post('/api/v1/chat', chat, via === undefined ? {} : { [viaHeader]: via });
  return { service, provider, ask };
}

/** The ids in the latest request to a provider. */
const passed = ({ calls }: RawProvider) => calls.at(-1)?.headers[viaHeader]?.split(', ') ?? [];

describe('a request to a provider', () => {
  test('names the service, by an id that stays the same', async () => {
    const { provider, ask } = await startWithProvider();
    expect((await ask()).status).toBe(200);
    const [id, ...others] = passed(provider);
    expect(id).toMatch(/^[\w-]{16}$/);
    expect(others).toEqual([]);
    await ask();
    expect(passed(provider)).toEqual([id]);
  });

  test('names every service that the request has passed, and nothing else that it says', async () => {
    const { provider, ask } = await startWithProvider();
    const chain = [createViaId(), createViaId()];
    await ask(`${chain.join(',')}, not an id, <script>`);
    expect(passed(provider).slice(0, -1)).toEqual(chain);
    await ask();
    expect(passed(provider)).toHaveLength(1);
  });

  test('names at most 16', async () => {
    const { provider, ask } = await startWithProvider();
    const chain = Array.from({ length: 100 }, createViaId);
    expect((await ask(chain.join(', '))).status).toBe(200);
    expect(passed(provider)).toHaveLength(16);
    expect(passed(provider).slice(0, 15)).toEqual(chain.slice(-15));
  });

  test('names no other id than that of this start', async () => {
    const [first, second] = [await startWithProvider(), await startWithProvider()];
    await first.ask();
    await second.ask();
    expect(passed(first.provider)).not.toEqual(passed(second.provider));
  });
});

describe('a request that has passed the service before', () => {
  test('is refused before any work, whatever else it is', async () => {
    const { service, provider, ask } = await startWithProvider();
    await ask();
    const via = [createViaId(), ...passed(provider), createViaId()].join(', ');
    const { status, problem } = await ask(via);
    expect({ status, code: problem.code }).toEqual({ status: 502, code: 'provider-misconfigured' });
    expect(problem.detail).toContain('This service is its own provider');
    expect(provider.calls).toHaveLength(1);
    const listing = await fetch(`${service.url}/api/v1/models`, { headers: { [viaHeader]: via } });
    expect(listing.status).toBe(502);
    await listing.body?.cancel();
  });

  test('is found behind another service', async () => {
    const port = await freePort();
    const config = (baseUrl: string) =>
      `engines: { other: { use: tts, api: parlance, baseUrl: "${baseUrl}/api/v1", models: [voice] } }`;
    const first = await start({ config: config(`http://127.0.0.1:${port}`) });
    const second = await start({ config: config(first.url), env: { PORT: String(port) } });
    const { status, problem } = await createApi(first.url).post('/api/v1/tts', { text: 'Hello.' });
    expect({ status, code: problem.code }).toEqual({ status: 502, code: 'provider-misconfigured' });
    const spoken = ({ log }: TestService) => log.filter(({ msg, path }) => msg === 'request' && path === '/api/v1/tts');
    expect(spoken(first).length).toBe(2);
    expect(spoken(second).length).toBe(1);
  });
});

/** An engine of a user's own: it calls its provider with `context.fetch`, at its start and for each chat. */
const ownEngine = (url: string) => `
  const usage = null;
  export default {
    contract: 1,
    name: 'own',
    capability: 'chat',
    options: { type: 'object', properties: {} },
    async create(_options, context) {
      await (await context.fetch('${url}/download')).text();
      return {
        models: [{ id: 'mind', local: false }],
        async *complete({ messages }, { signal }) {
          const asked = messages[0].content === 'Request'
            ? new Request('${url}/chat', { headers: { "x-own": "yes" } })
            : '${url}/chat';
          await (await context.fetch(asked, { signal })).text();
          yield { type: 'step-started', step: 0 };
          yield { type: 'completed', result: { content: '', finishReason: 'stop', reasoning: null, usage } };
        },
      };
    },
  };`;

test('context.fetch of an engine passes the chain on for a request, and for no download', async () => {
  const provider = await startProvider();
  provider.behave(answers(200, 'fine'));
  const files = { 'own.mjs': ownEngine(provider.baseUrl) };
  const service = await start({ config: 'engines: { own: { use: ./own.mjs } }', files });
  expect(provider.calls.map(({ path }) => path)).toEqual(['/v1/download']);
  expect(passed(provider)).toEqual([]);
  const via = createViaId();
  for (const content of ['URL', 'Request']) {
    const body = { messages: [{ role: 'user', content }] };
    expect((await createApi(service.url).post('/api/v1/chat', body, { [viaHeader]: via })).status).toBe(200);
    expect(passed(provider)).toEqual([via, expect.stringMatching(/^[\w-]{16}$/)]);
  }
  expect(provider.calls.at(-1)).toMatchObject({ headers: { 'x-own': 'yes' } });
});
