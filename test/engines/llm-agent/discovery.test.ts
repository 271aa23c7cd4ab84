/** Models listed by the provider. */
import { describe, expect, test } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/processes.ts';
import { answers, openProvider, resets, startProvider, type Behavior } from '../../support/provider.ts';
import { key, openAgent, openWithDiscovery, says, secret, serves, startAgent, type Discovering } from './support.ts';

const lists = (...ids: string[]) => answers(200, { object: 'list', data: ids.map((id) => ({ id, object: 'model' })) });

/** Like `openWithDiscovery`, once the first list has arrived or failed: a listing waits for it, but not as long as a busy machine may need. */
async function discover(behavior: Behavior, options: Discovering['options'] = {}, now = Date.now) {
  const agent = await openWithDiscovery(behavior, { options, now });
  await until('the first list is there', () =>
    agent.log.some(({ message }) => /list(ed)? the models of the provider$/.test(message)),
  );
  return agent;
}

describe('without models in the settings', () => {
  test('the models of the provider are served, prefixed with the instance name', async () => {
    const agent = await discover(lists('llama3.2', 'vendor/gpt'), { local: true });
    const [first, second] = agent.models();
    expect([first, second]).toMatchObject([
      { id: 'cloud/llama3.2', entry: { id: 'llama3.2', local: true, discovered: true } },
      { id: 'cloud/vendor/gpt' },
    ]);
    expect(first!.availability).toMatchObject({ available: true, code: 'ready' });
    expect((await agent.ask({ model: 'cloud/vendor/gpt' })).content).toBe('Hi.');
    expect(JSON.parse(String(await agent.provider.calls.at(-1)!.body))).toMatchObject({ model: 'vendor/gpt' });
  });

  test.each([
    ['a bare list', '[{"id":"a"},{"id":"b"}]', ['cloud/a', 'cloud/b']],
    ['null (Ollama without models)', '{"object":"list","data":null}', []],
    ['nonsense between', '{"data":[{"id":"a"},{"id":7},null,{"id":""},{"id":"a"},{"id":"x\\ny"}]}', ['cloud/a']],
  ])('%s is parsed', async (_name, text, expected) => {
    expect(await (await discover(answers(200, text))).ids()).toEqual(expected);
  });

  test('models whose names show that they are not chat models are excluded, unless a filter includes them', async () => {
    const chat = ['gpt-4o', 'o3-mini', 'llama3.2', 'gemini-3-pro', 'mistral-large', 'sorani-7b', 'attset'];
    const others = [
      ...['text-embedding-3-small', 'nomic-embed-text', 'Qwen3-Embedding-0.6B', 'bge-reranker-v2'],
      ...[
        'whisper-large-v3',
        'gpt-4o-mini-transcribe',
        'tts-1-hd',
        'gpt-4o-mini-tts',
        'gpt-audio',
        'gpt-4o-audio-preview',
      ],
      ...['gpt-realtime', 'omni-moderation-latest', 'dall-e-3', 'gpt-image-1', 'imagen-4.0', 'sora-2', 'davinci-002'],
    ];
    const all = lists(...others, ...chat);
    expect(await (await discover(all)).ids()).toEqual(chat.map((id) => `cloud/${id}`));
    expect(await (await discover(all, { modelFilter: ['*'] })).ids()).toHaveLength(others.length + chat.length);
  });

  test('capabilities as a Parlance lists them select the chat models, and those of other providers do not', async () => {
    const models = [
      ...[
        { id: 'mind', capabilities: ['chat'] },
        { id: 'whisper-like', capabilities: ['speech', 'chat'] },
      ],
      ...[
        { id: 'local', capabilities: ['transcription'] },
        { id: 'espeak', capabilities: ['speech'] },
      ],
      ...[{ id: 'silent' }, { id: 'other', capabilities: ['tool_use'] }, { id: 'none', capabilities: [] }],
      ...[
        { id: 'mistral', capabilities: { completion_chat: true } },
        { id: 'odd', capabilities: [null, 7] },
      ],
    ];
    const list = answers(200, { object: 'list', data: models });
    const others = ['silent', 'other', 'none', 'mistral', 'odd'].map((id) => `cloud/${id}`);
    expect(await (await discover(list)).ids()).toEqual(['cloud/mind', 'cloud/whisper-like', ...others]);
    expect(await (await discover(list, { modelFilter: ['*e*'] })).ids()).toEqual([
      ...['cloud/whisper-like', 'cloud/silent', 'cloud/other', 'cloud/none'],
    ]);
  });

  test('a filter selects models', async () => {
    const all = lists('gpt-5', 'gpt-5-transcribe', 'whisper-1', 'o9', 'g+t');
    const modelFilter = ['gpt-*', 'o9', 'g+*', '!*-transcribe'];
    expect(await (await discover(all, { modelFilter })).ids()).toEqual(['cloud/gpt-5', 'cloud/o9', 'cloud/g+t']);
    expect(await (await discover(all, { modelFilter: ['!*-*'] })).ids()).toEqual(['cloud/o9', 'cloud/g+t']);
  });
});

describe('the list', () => {
  test('is served from memory, and refreshed when it is old', async () => {
    let time = 1_000_000;
    const { ids, listings, provider } = await discover(lists('a'), {}, () => time);
    await ids();
    await ids();
    expect(listings()).toBe(1);
    provider.behave(lists('a', 'b'));
    time += 61_000;
    expect(await Promise.all([ids(), ids()])).toEqual([['cloud/a'], ['cloud/a']]);
    await expect.poll(ids).toEqual(['cloud/a', 'cloud/b']);
    expect(listings()).toBe(2);
  });

  test('is kept when a refresh fails, which is logged once', async () => {
    let time = 1_000_000;
    const { ids, listings, log, provider } = await discover(lists('a'), { apiKey: key }, () => time);
    await ids();
    provider.behave(answers(500, `${secret} ${key}`));
    // A refresh starts when the one before has ended: with the fourth, two have failed.
    await until('it was asked for in vain, twice', async () => {
      time += 61_000;
      await ids();
      return listings() >= 4;
    });
    expect(log.filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect(await ids()).toEqual(['cloud/a']);
    expect(JSON.stringify(log)).not.toContain(key);
  });

  test.each([
    ['HTML', answers(200, '<html>')],
    ['404', answers(404, '')],
    ['another JSON', answers(200, { hello: 'world' })],
  ])('is empty when it is %s', async (_name, behavior) => {
    const { ids, log } = await discover(behavior);
    expect(await ids()).toEqual([]);
    expect(log.filter(({ level }) => level !== 'debug')).toMatchObject([
      { level: 'error', message: expect.stringMatching(/^the engine cannot list its models$/) as string },
    ]);
  });

  test('with a rejected key sets key-refused', async () => {
    const { models } = await discover(answers(401, ''), { models: ['written'], discover: true });
    expect(models()[0]!.availability).toMatchObject({ available: false, code: 'key-refused' });
  });
});

test('a list that needs no key does not clear key-refused', async () => {
  let time = 1_000_000;
  const { models, recheck, ask, provider, listings } = await discover(lists('a'), { apiKey: key }, () => time);
  provider.behave(serves(lists('a'), answers(401, '')));
  await expect(ask()).rejects.toMatchObject({ code: 'provider-auth-failed' });
  time += 61_000;
  await recheck();
  await expect.poll(listings).toBe(2);
  expect(models()[0]!.availability).toMatchObject({ available: false, code: 'key-refused' });
  provider.behave(serves(lists('a')));
  await ask();
  await recheck();
  expect(models()[0]!.availability).toMatchObject({ available: true, code: 'ready' });
});

test('a provider that starts later becomes available', async () => {
  const port = await freePort();
  let time = 1_000_000;
  const agent = await openAgent({ baseUrl: `http://127.0.0.1:${port}/v1` }, { now: () => time });
  await until('it was asked in vain', () => agent.log.length > 0);
  expect(agent.models()).toEqual([]);
  await using provider = await openProvider({ port });
  provider.behave(lists('late'));
  time += 5_000;
  await agent.recheck();
  await expect.poll(() => agent.models().map(({ id }) => id)).toEqual(['cloud/late']);
});

describe('local', () => {
  const ollama = (...models: object[]) => answers(200, { models });
  const cloud = { remote_host: 'https://ollama.com:443' };

  const localOf = async (ids: readonly string[], tags: Behavior, options: Discovering['options'] = {}) => {
    const provider = await startProvider({ tags });
    provider.behave(lists(...ids));
    const { models } = await openAgent({ baseUrl: provider.baseUrl, ...options });
    await expect.poll(() => models().map(({ entry }) => entry.mayBeLocal ?? false)).toContain(false);
    return models().map(({ entry }) => entry.local);
  };

  test.each([
    ['true for a server on this machine', ['llama3.2', 'qwen3:4b'], answers(404, 'No.'), {}, [true, true]],
    [
      'false for names of cloud models of Ollama',
      ['a:cloud', 'b:120b-cloud', 'c:1b'],
      answers(404, 'No.'),
      {},
      [false, false, true],
    ],
    [
      'false for a model that Ollama lists with a remote host',
      ['copy:latest', 'c:1b'],
      ollama({ name: 'copy:latest', model: 'copy:latest', ...cloud }, { name: 'c:1b' }),
      {},
      [false, true],
    ],
    ['what the settings say', ['c:1b'], answers(404, 'No.'), { local: false }, [false]],
    ['what the settings say, for a cloud model as well', ['a:cloud'], answers(404, 'No.'), { local: true }, [true]],
  ] as const)('%s', async (_what, ids, tags, options, expected) => {
    expect(await localOf(ids, tags, options)).toEqual(expected);
  });

  test('false for a written model with the name of a cloud model, also behind another id', async () => {
    const models = ['a:cloud', { id: 'mine', remoteId: 'b:7b-cloud' }, 'c:1b'];
    expect(await localOf([], answers(404, 'No.'), { models })).toEqual([false, false, true]);
  });

  test.each([
    ['that Ollama lists with a remote host', 'mine:7b', false],
    ['without its tag', 'Mine', false],
    ['with the registry, which is not listed', 'registry.ollama.ai/library/mine', false],
    ['that Ollama runs itself', 'OWN', true],
  ])('of a written model %s', async (_what, id, expected) => {
    const listed = [{ name: 'mine:latest', ...cloud }, { name: 'mine:7b', ...cloud }, { name: 'own:latest' }];
    expect(await localOf([], ollama(...listed), { models: [{ id: 'here', remoteId: id }] })).toEqual([expected]);
  });

  test.each([
    ['llama.cpp, which accepts any name', ollama({ name: 'model.gguf', model: 'model.gguf' })],
    ['LM Studio', answers(200, { error: 'Unexpected endpoint or method. (GET /api/tags). Returning 200 anyway' })],
    ['a page', answers(200, '<html>')],
  ])('true for a written model of %s', async (_what, tags) => {
    expect(await localOf([], tags, { models: ['any-name'] })).toEqual([true]);
  });

  test('false until the provider has answered, and then as it says; an outage changes nothing', async () => {
    let time = 1_000_000;
    let tags = answers(500, 'No.');
    const provider = await startProvider({ tags: (call) => tags(call) });
    const models = ['mine', 'own'];
    const agent = await openAgent({ baseUrl: provider.baseUrl, models }, { now: () => time });
    const seen = () => agent.models().map(({ entry }) => [entry.local, entry.mayBeLocal]);
    const undecided = [
      [false, true],
      [false, true],
    ];
    const decided = [
      [false, undefined],
      [true, undefined],
    ];
    const later = async () => ((time += 61_000), await agent.recheck(), seen());
    expect(seen()).toEqual(undecided);
    expect(agent.models()[1]!.availability).toMatchObject({ code: 'ready' });
    tags = ollama({ name: 'mine:latest', ...cloud }, { name: 'own:latest' });
    await expect.poll(later).toEqual(decided);
    tags = answers(401, 'No.');
    await expect.poll(later).toEqual(undecided);
    expect(agent.models()[1]!.availability).toMatchObject({ code: 'ready' });
    tags = ollama({ name: 'mine:latest', ...cloud }, { name: 'own:latest' });
    await expect.poll(later).toEqual(decided);
    let outages = 0;
    tags = (call) => ((outages += 1), resets(call));
    await expect.poll(async () => (await later(), outages)).toBeGreaterThan(1); // the first one has ended
    expect(seen()).toEqual(decided);
  });

  test('of written models is known without a list of models', async () => {
    const provider = await startProvider({ tags: ollama({ name: 'mine:latest', ...cloud }) });
    provider.behave(answers(404, 'No list.'));
    const { models } = await openAgent({ baseUrl: provider.baseUrl, models: ['mine', 'own'], discover: true });
    await expect.poll(() => models().map(({ entry }) => entry.mayBeLocal)).toEqual([undefined, undefined]);
    expect(models().map(({ entry }) => entry.local)).toEqual([false, false]);
  });

  test('false for any other address', async () => {
    const { models } = await openAgent({ baseUrl: 'https://provider.test/v1', models: ['remote'] });
    expect(models().map(({ entry }) => entry.local)).toEqual([false]);
  });
});

describe('with models in the settings', () => {
  test('no list is requested', async () => {
    const { ids, listings } = await openWithDiscovery(lists('a'), { options: { models: ['written'] } });
    expect(await ids()).toEqual(['written']);
    expect(listings()).toBe(0);
  });

  test('both are served with discover, without duplicates', async () => {
    const models = ['a', { id: 'own', remoteId: 'b' }];
    const { ids, ask, provider } = await discover(lists('a', 'b', 'c'), { models, discover: true });
    expect(await ids()).toEqual(['a', 'own', 'cloud/c']);
    await ask({ model: 'own' });
    expect(JSON.parse(String(await provider.calls.at(-1)!.body))).toMatchObject({ model: 'b' });
  });

  test('no list is requested without the required key', async () => {
    const { ids, listings } = await openWithDiscovery(lists('a'), { options: { apiKey: '' } });
    expect(await ids()).toEqual([]);
    expect(listings()).toBe(0);
  });
});

describe('doctor', () => {
  test('reports the number of models', async () => {
    const agent = await discover(lists('a', 'b'), { apiKey: key });
    const detail = `${agent.provider.baseUrl}, with a key, serves 2 of its models`;
    expect(await agent.inspect()).toEqual([{ what: 'provider cloud', ok: true, detail }]);
  });

  test('reports what is wrong', async () => {
    const agent = await discover(answers(401, key), { apiKey: key });
    expect(await agent.inspect()).toMatchObject([
      { ok: false, detail: expect.stringContaining('rejected the API key') as string },
    ]);
    const written = await startAgent(says('Hi.'), { apiKey: '' });
    expect(await written.inspect()).toMatchObject([
      { ok: false, detail: expect.stringContaining('apiKey is empty') as string },
    ]);
    const page = await startAgent(answers(200, '<!doctype html>'), { apiKey: key });
    expect(await page.inspect()).toMatchObject([
      { ok: false, detail: expect.stringContaining('answered with an HTML page') as string },
    ]);
  });
});
