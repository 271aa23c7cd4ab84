/** Engines that break the contract, in a whole service: each costs its own calls, never another engine's, nor the process. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { startTestService, type TestService, type TestServiceOptions } from '../../support/service.ts';
import { startChildService } from '../../support/child-service.ts';
import { createApi } from '../../support/http.ts';
import { runScript } from '../../support/scripts.ts';
import { temporaryDirectory, writeFiles } from '../../support/temporary.ts';
import { spokenWords } from '../../../src/conformance/recordings.ts';
import { readFile } from 'node:fs/promises';

type Capability = 'transcription' | 'chat' | 'speech';

/** An engine that works, but for what `members` say. */
const engine = (capability: Capability, members = '', create = '') => `
  const never = () => new Promise(() => {});
  const ready = { available: true, code: 'ready', reason: 'Ready.' };
  const good = {
    models: [{ id: 'bad-model', local: true }],
    transcribe: async () => ({ text: 'alpha', language: null }),
    async *complete() {
      yield { type: 'step-started', step: 0 };
      yield { type: 'content-delta', step: 0, delta: 'Hi' };
      yield { type: 'completed', result: { content: 'Hi', finishReason: 'stop', reasoning: null, usage: null } };
    },
    synthesize: async () => ({ mediaType: 'audio/mpeg', audio: (async function* () { yield new Uint8Array([255, 251]); })() }),
  };
  export default {
    contract: 1, name: 'bad', capability: '${capability}', options: { type: 'object', properties: {} },
    create: ${create === '' ? '(_options, context) => Object.assign(Object.create(good), {' + members + '})' : create},
  };`;

const engineTimeouts = {
  ...{ createMs: 200, recheckMs: 50 },
  ...{ chatIdleMs: 200, abortMs: 20, endMs: 50, inspectMs: 100 },
};

async function start(source: string, options: TestServiceOptions = {}): Promise<TestService> {
  const service = await startTestService({
    config: 'engines: { bad: { use: ./bad.mjs }, sandbox: { use: sandbox } }',
    files: { 'bad.mjs': source },
    engineTimeouts,
    ...options,
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

const paths = { transcription: '/transcribe/models', chat: '/models', speech: '/tts/models' } as const;
const goodModels = { transcription: 'sandbox-transcribe', chat: 'sandbox-chat', speech: 'sandbox-speech' } as const;

/** Calls the verb of the capability with a model. */
async function call(service: TestService, capability: Capability, model: string): Promise<Response> {
  if (capability === 'chat') return service.post('/chat', { model, messages: [{ role: 'user', content: 'Hello' }] });
  if (capability === 'speech') return service.post('/tts', { model, text: 'Hello' });
  const form = new FormData();
  form.set('file', new File([await readFile(spokenWords)], 'words.wav'));
  form.set('model', model);
  return service.api('/transcribe', { method: 'POST', body: form });
}

interface Problem {
  readonly code: string;
  readonly detail: string;
}

async function expectOthersWork(service: TestService, capability: Capability): Promise<void> {
  const listed = (await (await service.api(paths[capability])).json()) as { data: { id: string }[] };
  expect(listed.data.map(({ id }) => id)).toContain(goodModels[capability]);
  const answer = await call(service, capability, goodModels[capability]);
  await answer.arrayBuffer();
  expect(answer.status).toBe(200);
}

async function problemOf(response: Response): Promise<Problem> {
  return (await response.json()) as Problem;
}

/** What a function that returns a promise may do wrong. */
const faults = {
  'throws at once': `() => { throw new TypeError('a private matter'); }`,
  rejects: `async () => { throw new TypeError('a private matter'); }`,
  'rejects with nothing': `() => Promise.reject(undefined)`,
  'never settles': `() => never()`,
  'returns a thenable that throws': `() => ({ then() { throw new Error('a private matter'); } })`,
  'returns nothing': `() => undefined`,
} as const;

const capabilities = ['transcription', 'chat', 'speech'] as const;
const everyFault = Object.keys(faults) as (keyof typeof faults)[];

const lawlessModels = {
  'has an entry without an id': `[{ local: true }]`,
  'has an entry that does not say where it works': `[{ id: 'bad-model' }]`,
  'has an id that is too long': `[{ id: 'x'.repeat(257), local: true }]`,
  'has languages that are not a list': `[{ id: 'bad-model', local: true, languages: 'de' }]`,
  'has an entry that throws': `[{ id: 'bad-model', get local() { throw new TypeError('a private matter'); } }]`,
  'has an availability with an unknown code': `[{ id: 'bad-model', local: true, availability: { ...ready, code: 'fine' } }]`,
  'has an availability without a reason': `[{ id: 'bad-model', local: true, availability: { available: true, code: 'busy' } }]`,
  'has a voice without a language': `[{ id: 'bad-model', local: true, voices: [{ id: 'ann', name: 'Ann' }] }]`,
  'is a text': `'bad-model'`,
  'is nothing': `undefined`,
  'has too many entries': `Array(1e6).fill({ id: 'bad-model', local: true })`,
};

describe('a published list', () => {
  it.each(Object.entries(lawlessModels))(
    'that %s leaves the engine without that entry, and the others serve',
    async (_what, models) => {
      const service = await start(engine('chat', `models: ${models}`));
      await expectOthersWork(service, 'chat');
      expect(await problemOf(await call(service, 'chat', 'bad-model'))).toMatchObject({ code: 'unknown-model' });
      const lines = service.log.filter(({ msg }) => msg === 'an entry of the engine is left out');
      expect(lines).toMatchObject([{ level: 50, engine: 'bad' }]);
      expect(await (await service.api('/models')).text()).not.toContain('private');
    },
  );

  it('that has an id of another engine later takes none of its requests', async () => {
    const members = `models: [], recheck: async () => context.publish([{ id: 'sandbox-chat', local: false }])`;
    const service = await start(engine('chat', members));
    await service.service.registry.recheck();
    const answer = (await (await call(service, 'chat', 'sandbox-chat')).json()) as { content: string };
    expect(answer.content).toBe('You said: Hello');
    const { data } = (await (await service.api('/models')).json()) as { data: { id: string; engine: string }[] };
    expect(data.filter(({ id }) => id === 'sandbox-chat')).toMatchObject([{ engine: 'sandbox' }]);
    expect(service.log.filter(({ msg }) => msg.includes('its id is in use'))).toHaveLength(1);
  });

  it('with a failure does not make a hosted model the default in place of a local one', async () => {
    const failure = `Object.assign(new Error('lost'), { code: 'engine-failed', [Symbol.for('parlance.engine-error')]: true })`;
    const source = engine('transcription', '', `(_, context) => (context.publish([], ${failure}), good)`);
    const far = engine('transcription', `models: [{ id: 'far', local: false }]`);
    const service = await start(source, {
      config: 'engines: { bad: { use: ./bad.mjs }, far: { use: ./far.mjs } }',
      files: { 'bad.mjs': source, 'far.mjs': far },
    });
    expect(await (await service.api('/transcribe/models')).json()).toMatchObject({
      data: [{ id: 'far' }],
      default: null,
    });
  });

  it('is read whole: requests during a change see one list or the other, never a mixture', async () => {
    const list = (name: string) => `['${name}-1', '${name}-2', '${name}-3'].map((id) => ({ id, local: true }))`;
    const members = `
      models: ${list('a')},
      recheck: async () => context.publish((globalThis.listsOfEngine ^= 1) ? ${list('b')} : ${list('a')})`;
    const service = await start(engine('chat', members));
    const { registry } = service.service;
    const ends = new AbortController();
    const changes = (async () => {
      while (!ends.signal.aborted) {
        await registry.recheck();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    const seen = new Set<string>();
    for (let count = 0; count < 100 || seen.size < 2; count += 1) {
      const answers = await Promise.all([1, 2, 3, 4, 5].map(async () => (await service.api('/models')).json()));
      for (const { data } of answers as { data: { id: string; engine: string }[] }[]) {
        seen.add(data.filter(({ engine: name }) => name === 'bad').map(({ id }) => id).join()); // prettier-ignore
      }
    }
    ends.abort();
    await changes;
    delete (globalThis as { listsOfEngine?: number }).listsOfEngine;
    expect([...seen].sort()).toEqual(['a-1,a-2,a-3', 'b-1,b-2,b-3']);
  });

  it('without the model of a call that runs lets the call end', async () => {
    const members = `
      async *complete() {
        context.publish([]);
        yield { type: 'step-started', step: 0 };
        yield { type: 'content-delta', step: 0, delta: 'Hi' };
        yield { type: 'completed', result: { content: 'Hi', finishReason: 'stop', reasoning: null, usage: null } };
      }`;
    const service = await start(engine('chat', members));
    expect(await (await call(service, 'chat', 'bad-model')).json()).toMatchObject({ content: 'Hi' });
    expect(await problemOf(await call(service, 'chat', 'bad-model'))).toMatchObject({ code: 'unknown-model' });
  });
});

describe('recheck()', () => {
  it.each(everyFault.filter((fault) => fault !== 'returns nothing'))(
    'that %s leaves the published list, and is logged once',
    async (fault) => {
      const service = await start(engine('chat', `recheck: ${faults[fault]}`));
      for (let count = 0; count < 2; count++) await service.service.registry.recheck();
      expect((await call(service, 'chat', 'bad-model')).status).toBe(200);
      const lines = service.log.filter(({ msg }) => msg.startsWith('the engine fails at recheck()'));
      expect(lines).toMatchObject([{ level: 50, engine: 'bad' }]);
    },
  );

  it('is called after a call that fails because its model is unavailable', async () => {
    const unavailable = `Object.assign(new Error('Gone.'), { code: 'model-unavailable', [Symbol.for('parlance.engine-error')]: true })`;
    const members = `
      complete: () => { throw ${unavailable}; },
      recheck: async () => context.publish([{ id: 'bad-model', local: true, availability: { available: false, code: 'model-file-missing', reason: 'Its file is gone.' } }])`;
    const service = await start(engine('chat', members));
    expect(await problemOf(await call(service, 'chat', 'bad-model'))).toMatchObject({ code: 'model-unavailable' });
    const { data } = (await (await service.api('/models')).json()) as { data: unknown[] };
    expect(data[0]).toMatchObject({ id: 'bad-model', available: false, reason: 'Its file is gone.' });
  });
});

const verbs = { transcription: 'transcribe', chat: 'complete', speech: 'synthesize' } as const;

describe.each(capabilities)('the verb of %s', (capability) => {
  const verb = verbs[capability];
  const cases = everyFault.filter((fault) => fault !== 'never settles');

  it.each(cases)('that %s fails its own call with engine-failed, and the log has the cause', async (fault) => {
    const service = await start(engine(capability, `${verb}: ${faults[fault]}`));
    const answer = await call(service, capability, 'bad-model');
    expect(answer.status).toBe(500);
    const problem = await problemOf(answer);
    expect(problem).toMatchObject({ code: 'engine-failed' });
    expect(problem.detail).not.toContain('private');
    const line = service.log.find(({ msg }) => msg === 'a request failed');
    expect(line).toMatchObject({ code: 'engine-failed' });
    if (fault === 'rejects' && capability !== 'chat') expect(JSON.stringify(line)).toContain('a private matter');
    await expectOthersWork(service, capability);
  });

  it('that throws an EngineError of another package with an unknown code fails with engine-failed', async () => {
    const error = `Object.assign(new Error('Gone.'), { code: 'gone-fishing', [Symbol.for('parlance.engine-error')]: true })`;
    const service = await start(engine(capability, `${verb}: () => { throw ${error}; }`));
    expect(await problemOf(await call(service, capability, 'bad-model'))).toMatchObject({ code: 'engine-failed' });
  });

  it('that throws an EngineError with a long message fails with its beginning', async () => {
    const error = `Object.assign(new Error('No. '.repeat(1e6)), { code: 'overloaded', [Symbol.for('parlance.engine-error')]: true })`;
    const service = await start(engine(capability, `${verb}: () => { throw ${error}; }`));
    const { code, detail } = await problemOf(await call(service, capability, 'bad-model'));
    expect({ code, length: detail.length }).toEqual({ code: 'overloaded', length: 4_096 });
  });

  it('that throws an EngineError of another package fails with its code', async () => {
    const error = `Object.assign(new Error('Too many.'), { code: 'overloaded', retryAfter: 7, [Symbol.for('parlance.engine-error')]: true })`;
    const service = await start(engine(capability, `${verb}: () => { throw ${error}; }`));
    const answer = await call(service, capability, 'bad-model');
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(await problemOf(answer)).toMatchObject({ code: 'overloaded', detail: 'Too many.' });
  });
});

describe('a transcript', () => {
  it.each([
    `{ language: null }`,
    `{ text: 1, language: null }`,
    `{ text: 'a' }`,
    `{ text: 'a', language: null, durationMs: -1 }`,
    `{ text: 'a', language: null, durationMs: NaN }`,
    `'text'`,
    `{ text: 'x'.repeat(2 ** 24 + 1), language: null }`,
    `{ text: 'x', language: null, segments: Array(5).fill({ startMs: 0, endMs: 1, text: 'x'.repeat(2 ** 22) }) }`,
  ])('that is %s fails with engine-failed', async (transcript) => {
    const service = await start(engine('transcription', `transcribe: async () => (${transcript})`));
    expect(await problemOf(await call(service, 'transcription', 'bad-model'))).toMatchObject({ code: 'engine-failed' });
  });

  it('that never comes, from an engine that ignores its signal, is engine-timeout', async () => {
    const service = await start(engine('transcription', `transcribe: () => never()`), {
      env: { TRANSCRIBE_TIMEOUT: '1' },
    });
    const answer = await call(service, 'transcription', 'bad-model');
    expect(answer.status).toBe(504);
    expect(await problemOf(answer)).toMatchObject({ code: 'engine-timeout' });
  });
});

describe('a callback that an engine uses wrongly in a timer', () => {
  /** Waits for the abort, whose reason it does not reject with. */
  const reporting = (body: string) => `
    models: [{ id: 'bad-model', local: true, supports: ['segment'] }],
    transcribe: (_call, { signal, onSegment, onProgress, onQueued }) => new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => {
        context.log.info({ reason: signal.reason.code }, 'aborted');
        onSegment({ startMs: 'after the end' });
        reject(new Error('stopped'));
      });
      setTimeout(() => { ${body} });
    })`;
  const segment = (members: string) => `onSegment({ startMs: 0, endMs: 10, text: 'x', ${members} });`;
  const reports = {
    'a time that has a fraction': segment('startMs: 0.5'),
    'a time that is no number': segment('startMs: NaN'),
    'a negative time': segment('startMs: -1'),
    'an end before the start': segment('startMs: 11'),
    'no text': segment('text: undefined'),
    'no segment': 'onSegment();',
    'segments out of order': segment('startMs: 5') + segment('startMs: 4'),
    'more segments than a reader takes': `for (let at = 0; at < 20; at++) ${segment("text: 'x'.repeat(1 << 20)")}`,
  };
  const paths = { native: '/api/v1/transcribe/stream', openai: '/v1/audio/transcriptions' } as const;

  async function stream(service: TestService, api: keyof typeof paths): Promise<string> {
    const form = new FormData();
    form.set('file', new File([await readFile(spokenWords)], 'words.wav'));
    form.set('model', 'bad-model');
    if (api === 'openai') form.set('stream', 'true');
    const answer = await fetch(service.url + paths[api], { method: 'POST', body: form });
    return answer.text();
  }

  it.each(Object.entries(reports))('%s: fails its own stream, and the engine is aborted', async (_what, body) => {
    const service = await start(engine('transcription', reporting(body)));
    expect(await stream(service, 'native')).toContain('"code":"engine-failed"');
    const aborted = service.log.filter(({ msg }) => msg === 'aborted');
    expect(aborted).toMatchObject([{ reason: 'engine-failed' }]);
    await expectOthersWork(service, 'transcription');
  });

  it('fails a stream of the other API', async () => {
    const service = await start(engine('transcription', reporting(reports['a negative time'])));
    expect(await stream(service, 'openai')).toContain('"code":"engine_failed"');
  });

  it('is fatal to neither the service nor the call after its end', async () => {
    const body = `resolve({ text: 'alpha', language: null }); setTimeout(() => onSegment({ startMs: 0.5 }));`;
    const service = await start(engine('transcription', reporting(body)));
    expect(await stream(service, 'native')).toContain('"text":"alpha"');
    await expectOthersWork(service, 'transcription');
  });

  it('a line of a program that it cannot read fails its call', async () => {
    const members = `transcribe: (_call, { signal }) => context.run('/bin/echo', ['hello'], { signal, timeoutMs: 1e4, cwd: '/', onLine: (line) => line.no.such })`;
    const service = await start(engine('transcription', members));
    expect(await problemOf(await call(service, 'transcription', 'bad-model'))).toMatchObject({ code: 'engine-failed' });
  });

  it.each([
    [
      'a tool event that it cannot take',
      `tools[0].run({ text: 'Hello.' }, { signal, emit() { throw new Error('no'); } })`,
    ],
    ['invalid usage', 'setTimeout(() => onUsage(null))'],
  ])('%s fails the run', async (_what, body) => {
    const members = `async *complete(_call, { tools, signal, onUsage }) {
      yield { type: 'step-started', step: 0 };
      tools[0].run({}, { signal, emit() {} }); // rejects
      tools[0].run();
      ${body};
      await never();
    }`;
    const service = await start(engine('chat', members), { engineTimeouts: { ...engineTimeouts, chatIdleMs: 60_000 } });
    expect(await problemOf(await call(service, 'chat', 'bad-model'))).toMatchObject({ code: 'engine-failed' });
  });
});

describe('fields that the contract does not have', () => {
  const extra = `extra: 'unknown'`;

  it('do not reach the caller of a transcription or of its stream', async () => {
    const part = `{ startMs: 0, endMs: 10, text: 'alpha', ${extra} }`;
    const members = `
      models: [{ id: 'bad-model', local: true, supports: ['segment', 'word'], ${extra} }],
      transcribe: async (_call, { onSegment }) => {
        onSegment?.(${part});
        return { text: 'alpha', language: null, segments: [${part}], words: [${part}], ${extra} };
      }`;
    const service = await start(engine('transcription', members));
    for (const path of ['/transcribe', '/transcribe/stream']) {
      const form = new FormData();
      form.set('file', new File([await readFile(spokenWords)], 'words.wav'));
      form.set('model', 'bad-model');
      form.set('timestamps', 'word');
      const answer = await service.api(path, { method: 'POST', body: form });
      const text = await answer.text();
      expect(text).toContain('alpha');
      expect(text).not.toContain('unknown');
    }
  });

  it('do not reach the caller of a chat or of its stream', async () => {
    const members = `async *complete() {
      yield { type: 'step-started', step: 0, ${extra} };
      yield { type: 'tool-started', step: 0, call: 0, name: 'x', arguments: {}, ${extra} };
      yield { type: 'tool-event', step: 0, call: 0, event: { type: 'progress', progress: 1, ${extra} }, ${extra} };
      yield { type: 'tool-finished', step: 0, call: 0, name: 'x', ok: true, output: '', durationMs: 1, ${extra} };
      yield { type: 'content-delta', step: 0, delta: 'Hi', ${extra} };
      const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2, reasoningTokens: 0, ${extra} };
      yield { type: 'completed', result: { content: 'Hi', finishReason: 'stop', reasoning: null, usage, ${extra} } };
    }`;
    const service = await start(engine('chat', members));
    const request = { model: 'bad-model', messages: [{ role: 'user', content: 'Hello' }] };
    for (const path of ['/chat', '/chat/stream']) {
      const text = await (await service.post(path, request)).text();
      expect(text).toContain('"Hi"');
      expect(text).not.toContain('unknown');
    }
  });
});

describe('the events of a chat', () => {
  const begin = `yield { type: 'step-started', step: 0 };`;
  const runs = {
    'is no object': `yield 'hello';`,
    'has a delta that is no text': `${begin} yield { type: 'content-delta', step: 0, delta: 1 };`,
    'has a result that is too long': `${begin} for (const delta of ['x', 'x'.repeat(2 ** 24)]) yield { type: 'content-delta', step: 0, delta };
      yield { type: 'completed', result: { content: 'x'.repeat(2 ** 24 + 1), finishReason: 'stop', reasoning: null, usage: null } };`,
    'has a result without content': `${begin} yield { type: 'completed', result: {} };`,
    'has no result': begin,
    'has another finish reason': `${begin} yield { type: 'completed', result: { content: '', finishReason: 'bored', reasoning: null, usage: null } };`,
    'counts half tokens': `${begin} yield { type: 'completed', result: { content: '', finishReason: 'stop', reasoning: null, usage: { promptTokens: 0.5, completionTokens: 1, totalTokens: 1, reasoningTokens: 0 } } };`,
    'calls a tool without arguments': `${begin} yield { type: 'tool-started', step: 0, call: 0, name: 'x' };`,
    throws: `${begin} throw new TypeError('a private matter');`,
  };
  it.each(Object.entries(runs))('of which one %s fail the run with engine-failed', async (_what, body) => {
    const service = await start(engine('chat', `async *complete() { ${body} }`));
    expect(await problemOf(await call(service, 'chat', 'bad-model'))).toMatchObject({ code: 'engine-failed' });
    await expectOthersWork(service, 'chat');
  });

  it.each([
    'complete: () => ({ [Symbol.asyncIterator]: () => ({ next: () => never() }) })',
    `async *complete() { ${begin} await never(); }`,
  ])('that do not come end the run with engine-timeout: %s', async (members) => {
    const service = await start(engine('chat', members));
    const answer = await call(service, 'chat', 'bad-model');
    expect(answer.status).toBe(504);
    expect(await problemOf(answer)).toMatchObject({ code: 'engine-timeout' });
  });
});

describe('speech', () => {
  const audioOf = (body: string) =>
    `synthesize: async () => ({ mediaType: 'audio/mpeg', audio: (async function* () { ${body} })() })`;
  it.each([
    `synthesize: async () => ({ audio: [] })`,
    `synthesize: async () => ({ mediaType: 'audio/mpeg' })`,
    `synthesize: async () => ({ mediaType: 'audio/mpeg', audio: 'RIFF' })`,
    `synthesize: async () => ({ mediaType: 'audio/mpeg', audio: { [Symbol.asyncIterator]: () => null } })`,
    `synthesize: async () => ({ mediaType: 'audio/mpeg', audio: { [Symbol.asyncIterator]: () => ({ next: () => 1 }) } })`,
    audioOf(`yield 'text';`),
    audioOf(`throw new TypeError('a private matter');`),
  ])('that is %s fails with engine-failed', async (members) => {
    const service = await start(engine('speech', members));
    expect(await problemOf(await call(service, 'speech', 'bad-model'))).toMatchObject({ code: 'engine-failed' });
    await expectOthersWork(service, 'speech');
  });
});

describe('a module whose import never settles', () => {
  const source = 'await new Promise(() => {}); export default {};';
  const timeouts = { engineTimeouts: { ...engineTimeouts, importMs: 500 } };

  it('leaves its instance without entries, and the others serve', async () => {
    await start(engine('chat')); // from now on, the other engine is loaded at once
    const service = await start(source, timeouts);
    await expectOthersWork(service, 'chat');
    const line = service.log.find(({ msg }) => msg.startsWith('the engine could not be created'));
    expect(line).toMatchObject({
      level: 50,
      engine: 'bad',
      err: { message: 'its module was not loaded within 0.5 s' },
    });
  });

  it('stops the start when it is the only one', async () => {
    await expect(start(source, { ...timeouts, config: 'engines: { bad: { use: ./bad.mjs } }' })).rejects.toThrow(
      'engines.bad.use: ./bad.mjs could not be loaded: its module was not loaded within 0.5 s',
    );
  });
});

describe('create()', () => {
  it.each([
    ['throws at once', `() => { throw new Error('the socket is taken'); }`, 'the socket is taken'],
    ['rejects', `async () => { throw new Error('the socket is taken'); }`, 'the socket is taken'],
    ['never settles', `() => never()`, 'no answer within 0.2 s'],
  ])('that %s leaves the engine without entries, and the others serve', async (_what, create, says) => {
    const service = await start(engine('chat', '', create));
    await expectOthersWork(service, 'chat');
    const line = service.log.find(({ msg }) => msg.startsWith('the engine could not be created'));
    expect(line).toMatchObject({ level: 50, engine: 'bad', err: { message: says } });
  });

  it('that throws an OptionsError stops the start', async () => {
    const source = engine(
      'chat',
      '',
      `() => { throw Object.assign(new Error('a excludes b'), { [Symbol.for('parlance.options-error')]: true }); }`,
    );
    await expect(start(source)).rejects.toThrow(/^engines\.bad: a excludes b$/);
  });

  it('that fails for the only engine stops the start', async () => {
    const source = engine('chat', '', `() => { throw new Error('the socket is taken'); }`);
    await expect(start(source, { config: 'engines: { bad: { use: ./bad.mjs } }' })).rejects.toThrow(
      'the socket is taken',
    );
  });
});

it('an engine that never ends does not keep the service from ending', async () => {
  const service = await start(engine('chat', `[Symbol.asyncDispose]: () => never()`));
  await service.service.stop(0);
  expect(service.log.map(({ msg }) => msg)).toContain('the engine failed to shut down');
});

it('a stream that fails says engine-failed in its last event', async () => {
  const begin = `yield { type: 'step-started', step: 0 }; yield { type: 'content-delta', step: 0, delta: 'H' };`;
  const service = await start(
    engine('chat', `async *complete() { ${begin} throw new TypeError('a private matter'); }`),
  );
  const answer = await service.post('/chat/stream', {
    model: 'bad-model',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  expect(await answer.text()).toMatch(/"type":"chat.failed".*"code":"engine-failed"/);
});

describe('a process', () => {
  it('lives and serves with an engine that publishes nothing valid', async () => {
    const service = await startChildService({
      config: 'engines: { bad: { use: ./bad.mjs }, sandbox: { use: sandbox } }',
      files: { 'bad.mjs': engine('chat', `models: [{ id: 'bad-model' }]`) },
    });
    await expect.poll(() => service.said.stderr).toContain('works with sandbox-speech');
    expect(service.said.stderr).toContain('the engine bad fails at models: ');
    expect(service.said.stderr).not.toContain('cannot start');
    const { body } = await createApi(service.url).get('/api/v1/models');
    expect(body).toMatchObject({ data: [{ id: 'sandbox-chat' }, {}] });
  });

  it('that is the doctor names what an engine fails at', async () => {
    const cwd = await temporaryDirectory();
    await writeFiles(cwd, {
      'parlance.config.yaml':
        'engines: { bad: { use: ./bad.mjs }, worse: { use: ./worse.mjs }, sandbox: { use: sandbox } }',
      'bad.mjs': engine('chat', `models: [{ id: 'bad-model' }], inspect: ${faults.rejects}`),
      'worse.mjs': engine('speech', '', `() => { throw new Error('the socket is taken'); }`),
    });
    const { code, stdout } = await runScript('src/bin/doctor.ts', [], { cwd, env: { DATA_DIR: `${cwd}/data` } });
    expect(stdout).toMatch(/MISSING inspect\(\) +a private matter/);
    expect(stdout).toContain('the engine bad fails at models: ');
    expect(stdout).toMatch(/the engine worse fails at create\(\): .*the socket is taken/);
    expect(stdout).toContain('Chat works with: sandbox-chat');
    expect(code).toBe(0);
  });
});
