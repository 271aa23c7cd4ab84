/** The permissions of API keys in both APIs, for every operation that requires a token. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openaiContract } from '../../src/contract/document.ts';
import { multipart, multipartType, part, recording, wavHead } from '../api/support/forms.ts';
import { connectRaw, requestHead } from '../api/support/raw-socket.ts';
import { operations as all, resolve, root, type Operation } from '../contract/support/document.ts';
import { encode, requestOf, smallRequest } from '../contract/support/requests.ts';
import { createApi, type Answer, type Api, type Call } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { engines } from './support/engines.ts';
import { bearer, keysFile, sha256, tokenOf, type TestEntry } from './support/keys.ts';

const guarded = all.filter(({ statuses }) => statuses.includes(401));
const ids = guarded.map(({ id }) => id);

/** Names of keys are in lower case. */
const without = (operation: string) => `without-${operation.toLowerCase()}`.slice(0, 32);
const only = (operation: string) => `only-${operation.toLowerCase()}`.slice(0, 32);

/** Who may start preparations may stop them. */
const grants = (one: string, id: string) => one === id || (one === 'startPreparation' && id === 'stopPreparation');

const entries: readonly TestEntry[] = [
  ...ids.map((id) => ({ name: without(id), operations: ids.filter((other) => !grants(other, id)) })),
  ...ids.map((id) => ({ name: only(id), operations: [id] })),
  { name: 'limited', models: ['off', 'mi*'] },
  { name: 'mixed', models: ['off', 'hosted'] },
  { name: 'toolless', tools: [] },
  { name: 'tooled', tools: ['read_*'] },
  { name: 'modelless', models: ['nothing'] },
  { name: 'free' },
];

let service: TestService;
let api: Api;
beforeAll(async () => {
  const files = { ...engines.files, 'keys.yaml': keysFile(...entries) };
  service = await startTestService({ ...engines, files, env: { API_KEYS_FILE: 'keys.yaml' } });
  api = createApi(service.url);
});
afterAll(() => service[Symbol.asyncDispose]());

const as = (name: string) => bearer(tokenOf(name));

/** Sends the small valid request, or what is made of it. */
function ask(operation: Operation, name: string, parts = {}): Promise<Answer> {
  const { path, headers, ...call } = encode(operation, { ...smallRequest(operation), ...parts });
  return api.send(operation.method, path, { ...call, headers: { ...headers, ...as(name) } });
}

const modelNotAllowed = (pointer: string) => ({
  code: 'model-not-allowed',
  errors: [{ in: 'body', pointer, detail: 'must be a model that the API key may use' }],
});

describe.each(guarded)('$id', (operation) => {
  it('responds with 403 to a key that may not use it, whatever the body', async () => {
    const { status, problem } = await ask(operation, without(operation.id));
    const detail = `The API key may not use ${operation.id}; ask the operator for it.`;
    expect({ status, problem }).toMatchObject({ status: 403, problem: { code: 'operation-not-allowed', detail } });
    const broken = { headers: { 'content-type': 'text/plain', ...as(without(operation.id)) }, body: '{' };
    const path = encode(operation, smallRequest(operation)).path;
    expect((await api.send(operation.method, path, broken)).problem.code).toBe('operation-not-allowed');
  });

  it('works with a key that may use nothing else', async () => {
    const answer = await ask(operation, only(operation.id));
    // There is no such job, and no such preparation.
    if (operation.schemas.path) expect(answer.problem.code).toMatch(/^(transcription|preparation)-not-found$/);
    else expect(answer.status).toBeLessThan(300);
  });

  for (const field of ['model', 'tts_model'].filter((name) => name in bodyFields(operation))) {
    it(`responds with 403 to a ${field} that the key may not use`, async () => {
      const body = { ...smallRequest(operation).body, [field]: 'hosted' };
      const { status, problem } = await ask(operation, 'limited', { body });
      expect({ status, problem }).toMatchObject({ status: 403, problem: modelNotAllowed(`/${field}`) });
      expect(problem.detail).toBe('The API key may not use the model "hosted"; it may use: off, mine.');
    });
  }

  if ('model' in bodyFields(operation)) {
    it('does not show whether a model exists that the key may not use', async () => {
      const answers = await Promise.all(
        ['house', 'absent'].map((id) => ask(operation, 'limited', requestOf(id, operation))),
      );
      const [known, unknown] = answers.map(({ status, problem }) => [status, problem.detail.replace(/"\w+"/, '')]);
      expect(unknown).toEqual(known);
    });

    it('uses the first model of the key instead of the default', async () => {
      expect((await ask(operation, 'limited')).status).toBeLessThan(300);
    });

    it('responds with 403 to a key that may use no model', async () => {
      expect((await ask(operation, 'modelless')).problem.code).toBe('model-not-allowed');
    });
  }
});

/** Fields of the body, by name. */
function bodyFields({ schemas: { body } }: Operation): object {
  return (body && resolve(body).properties) ?? {};
}

const idsOf = ({ body }: Answer) => {
  const { data, default: usual } = body as { data: { id: string }[]; default: string };
  return { ids: data.map(({ id }) => id), usual };
};

describe('a listing', () => {
  it.each(['/models', '/transcribe/models', '/tts/models'])('GET %s has the models of the key alone', async (path) => {
    const list = async (name: string) => idsOf(await api.get(`${root}${path}`, as(name)));
    expect(await list('free')).toEqual({ ids: ['house', 'off', 'mine', 'hosted'], usual: 'house' });
    expect(await list('modelless')).toEqual({ ids: [], usual: null });
    // The first available one.
    expect(await list('limited')).toEqual({ ids: ['off', 'mine'], usual: 'mine' });
    // Nothing hosted takes the place of a local model.
    expect(await list('mixed')).toEqual({ ids: ['off', 'hosted'], usual: path === '/models' ? 'hosted' : 'off' });
  });

  it('the probe treats a model that the key may not use as unknown', async () => {
    const probe = async (query: string, name: string) =>
      (await api.get(`${root}/transcribe${query}`, as(name))).body as { code: string; reason: string; model: string };
    const reason = 'Unknown transcription model; known: off, mine.';
    for (const model of ['house', 'absent'])
      expect(await probe(`?model=${model}`, 'limited')).toEqual({
        available: false,
        code: 'unknown-model',
        reason,
        model,
      });
    expect(await probe('', 'limited')).toMatchObject({ available: true, model: 'mine' });
    const withheld = { available: false, code: 'no-model', reason: 'The API key may not use a transcription model.' };
    expect(await probe('', 'modelless')).toEqual({ ...withheld, model: '' });
  });
});

// --------------------------------------------------------------------------------------------------- below /v1

const question = { messages: [{ role: 'user', content: 'Hello' }] };

interface OpenAIRequest {
  /** Operations of the native contract; a key needs each of them. */
  readonly needs: readonly string[];
  /** For the model, else without one. */
  readonly call: (model?: string) => readonly [method: string, path: string, call?: Call];
  /** The status of a request that the key may send; default: 200. */
  readonly status?: number;
  /** What a foreign model is answered with; default: model-not-allowed. */
  readonly foreign?: 'unknown' | 'not asked for';
}

const json = (body: object): Call => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const form = (fields: Readonly<Record<string, string>>): Call => ({
  headers: multipartType,
  body: multipart(...Object.entries(fields).map(([name, value]) => ({ name, value })), {
    name: 'file',
    value: wavHead,
    filename: 'memo.wav',
  }),
});
const given = (model: string | undefined) => (model === undefined ? {} : { model });

const chat =
  (more: object): OpenAIRequest['call'] =>
  (model) => ['POST', '/v1/chat/completions', json({ ...question, ...given(model), ...more })];
const respond =
  (more: object): OpenAIRequest['call'] =>
  (model) => ['POST', '/v1/responses', json({ input: 'Hello', ...given(model), ...more })];
const transcription =
  (more: Readonly<Record<string, string>>, path = '/v1/audio/transcriptions'): OpenAIRequest['call'] =>
  (model) => ['POST', path, form({ ...given(model), ...more })];

/** By operation, and what makes it another one of the native contract. */
const openaiRequests: Readonly<Record<string, OpenAIRequest>> = {
  listModels: { needs: [], call: () => ['GET', '/v1/models'], foreign: 'not asked for' },
  retrieveModel: { needs: [], call: (model = 'mine') => ['GET', `/v1/models/${model}`], foreign: 'unknown' },
  listAudioModels: { needs: ['listSpeechModels'], call: () => ['GET', '/v1/audio/models'], foreign: 'not asked for' },
  listAudioVoices: {
    needs: ['listSpeechModels'],
    call: (model) => ['GET', `/v1/audio/voices${model === undefined ? '' : `?model=${model}`}`],
  },
  createTranscription: { needs: ['createTranscription'], call: transcription({}) },
  'createTranscription stream': { needs: ['streamTranscription'], call: transcription({ stream: 'true' }) },
  createTranslation: { needs: ['createTranscription'], call: transcription({}, '/v1/audio/translations') },
  connectRealtime: { needs: [], call: () => ['GET', '/v1/realtime'], foreign: 'not asked for' },
  createRealtimeClientSecret: {
    needs: [],
    call: () => ['POST', '/v1/realtime/client_secrets', json({})],
    foreign: 'not asked for',
  },
  createSpeech: {
    needs: ['createSpeech'],
    call: (model) => ['POST', '/v1/audio/speech', json({ input: 'Hello', voice: 'alloy', ...given(model) })],
  },
  createChatCompletion: { needs: ['createChat'], call: chat({}) },
  'createChatCompletion stream': { needs: ['streamChat'], call: chat({ stream: true }) },
  createResponse: { needs: ['createChat'], call: respond({}) },
  'createResponse stream': { needs: ['streamChat'], call: respond({ stream: true }) },
};

function knock([method, path, call = {}]: ReturnType<OpenAIRequest['call']>, name: string): Promise<Answer> {
  return api.send(method, path, { ...call, headers: { ...call.headers, ...as(name) } });
}

it('every operation under /v1 is tested', () => {
  const here = Object.keys(openaiRequests).map((name) => name.split(' ')[0]);
  expect(new Set(here)).toEqual(new Set(openaiContract.operations.keys()));
});

describe.each(Object.entries(openaiRequests))('/v1 %s', (_name, { needs, call, foreign, status: allowed = 200 }) => {
  for (const id of needs) {
    it(`responds with 403 to a key without ${id}, and works with ${id} alone`, async () => {
      const { status, error } = await knock(call(), without(id));
      expect({ status, error }).toEqual({
        status: 403,
        error: {
          message: expect.stringContaining('The API key may not use ') as string,
          ...{ type: 'permission_error', param: null, code: 'operation_not_allowed' },
        },
      });
      expect((await knock(call(), only(id))).status).toBe(allowed);
    });
  }

  if (needs.length === 0) {
    it('responds with 403 to a key without any of its operations', async () => {
      expect((await knock(call(), only('createSpeech'))).error.code).toBe('operation_not_allowed');
    });
  }

  if (foreign === undefined) {
    it('responds with 403 to a model that the key may not use', async () => {
      const { status, error } = await knock(call('house'), 'limited');
      const message = expect.stringMatching(
        /The API key may not use the model "house"; it may use: off, mine/,
      ) as string;
      const expected = { message, type: 'permission_error', param: 'model', code: 'model_not_allowed' };
      expect({ status, error }).toEqual({ status: 403, error: expected });
    });
  }

  if (foreign === 'unknown') {
    it('does not find a model that the key may not use', async () => {
      expect((await knock(call('house'), 'limited')).error.code).toBe('model_not_found');
    });
  }
});

it.each([`${root}/transcribe`, '/v1/audio/transcriptions'])(
  '%s refuses a model that the key may not use before the recording has arrived',
  async (path) => {
    using connection = await connectRaw(service.url);
    const headers = { ...multipartType, ...as('limited'), 'content-length': 1_000_000, expect: '100-continue' };
    await connection.send(requestHead('POST', path, headers));
    await expect.poll(() => connection.received).toContain('100 Continue');
    // Not with the head: what arrives later is read by the connection, not by the request.
    await connection.send(Buffer.concat([part({ name: 'model', value: 'house' }), part(recording)]));
    expect(await connection.answer('POST', path)).toMatchObject({ status: 403 });
  },
);

describe('the lists below /v1', () => {
  const listed = async (path: string, name: string) => {
    const { body } = await api.get(path, as(name));
    const { data, models, voices } = body as Readonly<Record<string, { id: string; capabilities?: string[] }[]>>;
    return (data ?? models ?? voices)!.map(({ id, capabilities = [] }) => [id, ...capabilities].join(' '));
  };

  it('have the models of the key alone; whisper-1 is its default', async () => {
    expect(await listed('/v1/models', 'limited')).toEqual([
      ...['off chat transcription speech', 'mine chat transcription speech', 'whisper-1 transcription'],
    ]);
    expect(await listed('/v1/audio/models', 'limited')).toEqual(['off', 'mine']);
    expect(await listed('/v1/audio/voices', 'limited')).toEqual(['voice-of-off', 'voice-of-mine']);
    expect(await listed('/v1/models', 'modelless')).toEqual([]);
    expect(await listed('/v1/audio/voices', 'modelless')).toEqual([]);
  });

  it('have the capabilities whose listing the key may use', async () => {
    const capabilities = new Set(
      (await listed('/v1/models', only('listSpeechModels'))).map((text) => text.split(' ')[1]),
    );
    expect(capabilities).toEqual(new Set(['speech']));
  });
});

describe('an alias', () => {
  const answerOf = async (model: string, name: string) => {
    const { status, headers } = await knock(chat({})(model), name);
    return [status, headers.get('x-parlance-model')];
  };

  it('is resolved first: the key needs the entry', async () => {
    expect(await answerOf('gpt-4o', 'limited')).toEqual([200, 'mine']);
    expect(await answerOf('gpt-5', 'limited')).toEqual([403, null]);
  });

  it('that means the default means the default of the key', async () => {
    const { status, headers } = await knock(transcription({})('whisper-1'), 'limited');
    expect([status, headers.get('x-parlance-model')]).toEqual([200, 'mine']);
  });
});

describe('the tools of a key', () => {
  const offered = async (name: string) => {
    const { body } = await api.post(`${root}/chat`, question, as(name));
    return (body as { content: string }).content;
  };

  it('are those of the service that pass its patterns', async () => {
    expect(await offered('free')).toBe('read_aloud');
    expect(await offered('tooled')).toBe('read_aloud');
    expect(await offered('toolless')).toBe('');
  });

  it('do not include read_aloud where no speech model of the key is available', async () => {
    expect(await offered('mixed')).toBe('');
  });
});

it('a clip needs no key, so no permission either', async () => {
  const body = { text: 'Hello' };
  const { body: clip } = await api.post(`${root}/tts/clips`, body, as(only('createSpeechClip')));
  expect((await api.get((clip as { url: string }).url)).status).toBe(200);
});

it('the log has the name of the key, and never a token or a hash', async () => {
  await api.get(`${root}/models`, as('free'));
  await api.get(`${root}/models`, bearer('pl_free_not-a-token-of-ours'));
  const requests = service.log.filter(({ msg, operation }) => msg === 'request' && operation === 'listChatModels');
  expect(requests.map(({ key }) => key)).toContain('free');
  expect(requests.at(-1)).not.toHaveProperty('key');
  const text = JSON.stringify(service.log);
  for (const { name } of entries) {
    expect(text).not.toContain(tokenOf(name));
    expect(text).not.toContain(sha256(tokenOf(name)));
  }
  expect(text).not.toContain('not-a-token-of-ours');
});
