/**
 * Every status that the contract of /api/v1 declares, really answered by the operation that declares it; every event,
 * really sent; every code of an engine's failure with its status. A status that is declared but has no way here fails.
 * Of /v1: what is answered before a handler, which is one table for both APIs, and what needs no engine.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engineErrorCodes } from '../../engines/contract/index.ts';
import { problems } from '../../src/contract/problem-table.ts';
import { connectRaw, requestHead } from '../api/support/raw-socket.ts';
import { wavHead } from '../api/support/forms.ts';
import { speechOf } from '../jobs/support/speech.ts';
import { bearer, keysFile, tokenOf } from '../keys/support/keys.ts';
import { readEventStream } from '../support/event-stream.ts';
import { createApi, type Answer, type Call } from '../support/http.ts';
import { nextRequest } from '../support/next-request.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';
import { breakJobs, breakListings, breakRemoval } from './support/defect.ts';
import { compatOperations, eventTypes, operations, root, type Operation } from './support/document.ts';
import { scripted } from './support/engines.ts';
import { encode, requestOf, smallRequest, type Parts } from './support/requests.ts';
import { reachScripted, type Reachable } from './support/service.ts';

const start = (options: TestServiceOptions = {}) => startTestService({ ...scripted, ...options });

const app = {
  name: 'app',
  limits: { requestsPerMinute: 1 },
  operations: operations.filter(({ statuses }) => statuses.includes(401)).map(({ id }) => id), // some need to be named
};

let service: Reachable;
/** Needs a key; that of `app` has one request in a minute. */
let guarded: TestService;
/** Waits for a body for a moment. */
let impatient: TestService;
beforeAll(async () => {
  service = await reachScripted();
  const files = { ...scripted.files, 'keys.json': keysFile(app) };
  guarded = await start({ files, env: { API_KEYS_FILE: 'keys.json', TRUST_PROXY: '1' } });
  impatient = await start({ bodyTimeoutMs: 50, uploadTimeoutMs: 50 });
});
afterAll(() => Promise.all([service, guarded, impatient].map((one) => one[Symbol.asyncDispose]())));

/** Sends the small valid request, or what is made of it. */
async function ask(
  { url }: Pick<Reachable, 'url'>,
  operation: Operation,
  { parts = {}, ...changes }: { parts?: Parts; method?: string; headers?: Call['headers'] } = {},
): Promise<Answer> {
  const { path, headers, ...call } = encode(operation, { ...smallRequest(operation), ...parts });
  const method = changes.method ?? operation.method;
  return createApi(url).send(method, path, { ...call, headers: { ...headers, ...changes.headers } });
}

/** Sends a head that announces a body, and nothing of the body. */
async function announce(
  { url }: Pick<Reachable, 'url'>,
  operation: Operation,
  length: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { path } = encode(operation, smallRequest(operation));
  const { method, mediaType } = operation;
  const body = mediaType && { 'content-type': `${mediaType}; boundary=x`, 'content-length': length };
  using connection = await connectRaw(url);
  await connection.send(requestHead(method, path, { ...headers, ...body }));
  return await connection.answer(method, path);
}

const ofModel = (operation: Operation, model: string) => ({ parts: requestOf(model, operation) });

const isOfJobs = ({ id }: Operation) => id.includes('TranscriptionJob');
const isOfPreparation = ({ id, schemas }: Operation) => id.includes('Preparation') && schemas.path !== undefined;
const ofPreparation = (id: string) => ({ parts: { path: { id } } });
/** Whether the answer comes from the engine that is asked for the work itself. */
const hasEngine = (operation: Operation) => operation.schemas.body !== undefined && !isOfJobs(operation);

type Way = (operation: Operation) => Promise<Answer>;

/** How a step before the handler answers, in both APIs. */
const early: Readonly<Record<number, Way>> = {
  401: (operation) => ask(guarded, operation),
  403: (operation) => ask(service, operation, { headers: { host: 'evil.example' } }),
  405: (operation) => ask(service, operation, { method: 'PUT' }),
  408: (operation) => announce(impatient, operation, 10),
  413: (operation) => announce(service, operation, 50_000_000),
  415: (operation) => ask(service, operation, { headers: { 'content-type': 'text/plain' } }),
  429: (operation) => guessKeys(operation),
};

/** How the other statuses of /api/v1 come about. */
const ways: Readonly<Record<number, Way>> = {
  200: async (operation) => {
    if (isOfJobs(operation)) return askForJob(operation);
    if (isOfPreparation(operation)) return ask(service, operation, ofPreparation('installed'));
    return operation.id === 'getSpeechClip' ? askForClip(service, operation) : ask(service, operation);
  },
  201: (operation) => ask(service, operation),
  202: (operation) => ask(service, operation, isOfPreparation(operation) ? ofPreparation('endless') : {}),
  204: (operation) => (isOfJobs(operation) ? askForJob(operation) : askForClip(service, operation)),
  206: (operation) => askForClip(service, operation, { range: 'bytes=0-1' }),
  404: (operation) => ask(service, operation),
  409: (operation) => (isOfPreparation(operation) ? startTwo(operation) : askTooEarly(operation)),
  416: (operation) => askForClip(service, operation, { range: 'bytes=100000-' }),
  422: (operation) => {
    const wrong = { body: {}, query: { model: 'x'.repeat(257) }, path: { id: 'x'.repeat(129) } };
    const declared = Object.keys(operation.schemas).map((part) => [part, wrong[part as keyof typeof wrong]]);
    return ask(service, operation, { parts: Object.fromEntries(declared.filter(([, value]) => value)) as Parts });
  },
  500: (operation) => {
    if (hasEngine(operation)) return ask(service, operation, ofModel(operation, 'crash'));
    if (operation.id === 'deleteSpeechClip') return removeWhatStays(operation);
    if (isOfJobs(operation) && operation.schemas.path) return askForBrokenJob(operation);
    return operation.id === 'getSpeechClip' ? askForLostClip(operation) : askTheBroken(operation);
  },
  503: (operation) => {
    if (operation.id === 'deleteSpeechClip') return removeAtTheEnd(operation);
    if (isOfJobs(operation)) return askWithout({ TRANSCRIBE_JOBS: 'off' }, operation);
    return operation.id === 'getSpeechClip' ? askForClipAtTheEnd(operation) : askAtTheEnd(operation);
  },
};

const unknown: { parts: Parts } = { parts: { path: { id: 'unknown' }, query: { model: 'unknown' } } };

/** The same of the lists under /v1. */
const listWays: Readonly<Record<number, Way>> = {
  200: (operation) => ask(service, operation),
  400: (operation) => ask(service, operation, { parts: { query: { model: 'talkative', capability: 'none' } } }),
  404: (operation) => ask(service, operation, unknown),
  500: (operation) => askTheBroken(operation),
  503: (operation) => askAtTheEnd(operation),
};

/** Of the WebSocket, whose session answers with the others, and of client secrets, which begin as it does. */
const sessionWays: Readonly<Record<string, Readonly<Record<number, Way>>>> = {
  connectRealtime: {
    400: (operation) => ask(service, operation, { parts: { query: { intent: 'none' } } }),
    426: (operation) => ask(service, operation),
    503: (operation) => askWithout({ REALTIME: 'off' }, operation),
  },
  createRealtimeClientSecret: {
    404: (operation) => ask(service, operation, { parts: { body: { session: transcribedBy('unknown') } } }),
    500: (operation) => askTheBroken(operation, { parts: { body: {} } }),
    503: (operation) => askWithout({ REALTIME: 'off' }, operation),
  },
};

const transcribedBy = (model: string) => ({ type: 'transcription', audio: { input: { transcription: { model } } } });

const compatWays = ({ id, method }: Operation) => sessionWays[id] ?? (method === 'GET' ? listWays : {});

describe.each([...operations, ...compatOperations])('$root: $id', (operation) => {
  const isNative = operation.root === root;
  const known: Readonly<Record<number, Way>> = { ...early, ...(isNative ? ways : compatWays(operation)) };
  const ofCodes = isNative && hasEngine(operation) ? [502, 503, 504] : []; // below, by the codes of the failures
  const shown = operation.statuses.filter((status) => (isNative ? !ofCodes.includes(status) : status in known));

  test.each(shown)('answers %i', async (status) => {
    const answer = await known[status]!(operation);
    expect(answer.status, answer.text).toBe(status);
  });

  if (operation.statuses.includes(401)) {
    test('answers 429 to a key that has sent its requests of the minute, before the body is read', async () => {
      const asApp = bearer(tokenOf('app'));
      await createApi(guarded.url).get(`${root}/models`, asApp);
      const { status, headers } = await announce(guarded, operation, 100, asApp);
      expect([status, headers.get('ratelimit')]).toEqual([429, expect.stringMatching(/^"requests";r=0;t=\d+$/)]);
    });
  }

  if (isNative && hasEngine(operation)) {
    test.each(engineErrorCodes)('responds to the engine error %s', async (code) => {
      let answer = await ask(service, operation, ofModel(operation, code));
      // In a fleet, a call may wait until the worker has released the one before. Its stream has then begun.
      while (answer.text.includes('event: transcription.queued')) {
        answer = await ask(service, operation, ofModel(operation, code));
      }
      const { status, headers, problem } = answer;
      expect({ status, code: problem.code }).toEqual({ status: problems[code].status, code });
      const { retryAfter } = problems[code];
      const seconds = code === 'provider-rate-limited' ? 7 : retryAfter;
      expect(headers.get('retry-after')).toBe(seconds === undefined ? null : String(seconds));
    });
  }
});

test.each([
  ['streamChat', ['talkative', 'late-failure']],
  ['streamTranscription', ['fine', 'late-failure']],
])('every event of %s is sent', async (id, models) => {
  const operation = operations.find((operation) => operation.id === id)!;
  const streams = await Promise.all(models.map((model) => ask(service, operation, ofModel(operation, model))));
  const seen = streams.flatMap(({ text }) => readEventStream(text, (what) => new Error(what)).map(({ type }) => type));
  expect(new Set(seen)).toEqual(new Set(eventTypes[id]));
});

// -------------------------------------------------------------------------------------------------- ways in detail

const lecture = operations.find(({ id }) => id === 'createTranscriptionJob')!;

/** With the id of a job that is over. */
async function askForJob(operation: Operation): Promise<Answer> {
  const { id } = await makeJob(service, speechOf(2));
  const api = createApi(service.url);
  while ((await api.send('GET', `${root}/transcriptions/${id}`, waitForEnd)).text.includes('"running"'));
  return await ask(service, operation, { parts: { path: { id } } });
}

const waitForEnd = { headers: { prefer: 'wait=30' } };

async function makeJob(from: Reachable, file: Uint8Array, model = 'fine'): Promise<{ id: string }> {
  const answer = await ask(from, lecture, { parts: { body: { model, file } } });
  return answer.body as { id: string };
}

/** The transcript of a job whose recording cannot be decoded. */
async function askTooEarly(operation: Operation): Promise<Answer> {
  const { id } = await makeJob(service, wavHead);
  return await ask(service, operation, { parts: { path: { id } } });
}

/** One at a time. */
async function startTwo(operation: Operation): Promise<Answer> {
  await using own = await start();
  await ask(own, operation, ofPreparation('endless'));
  return await ask(own, operation, ofPreparation('another'));
}

async function askForBrokenJob(operation: Operation): Promise<Answer> {
  await using broken = await start();
  const { id } = await makeJob(broken, speechOf(2));
  using _defect = breakJobs();
  return await ask(broken, operation, { parts: { path: { id } } });
}

async function askWithout(env: Readonly<Record<string, string>>, operation: Operation): Promise<Answer> {
  await using without = await start({ env });
  return await ask(without, operation);
}

let clients = 0;

/** From an address of its own: the others do not answer for it. */
async function guessKeys(operation: Operation): Promise<Answer> {
  const headers = { authorization: 'Bearer wrong', 'x-forwarded-for': `192.0.2.${(clients += 1)}` };
  const guess = () => ask(guarded, operation, { headers });
  for (let guesses = 0; guesses < 10; guesses += 1) await guess();
  return await guess();
}

/** Lets a chat read aloud and fetches the clip. */
async function askForClip(from: Reachable, operation: Operation, headers: Call['headers'] = {}): Promise<Answer> {
  return createApi(from.url).send(operation.method, await makeClip(from), { headers });
}

async function makeClip({ url }: Reachable, tts_model = 'fine'): Promise<string> {
  const body = { messages: [{ role: 'user', content: 'Read it to me.' }], model: 'talkative', tts_model };
  const { headers, text } = await createApi(url).post(`${root}/chat`, body);
  const [, place] = /<(.+)>; rel="enclosure"/.exec(headers.get('link') ?? '') ?? [];
  if (place === undefined) throw new Error(`the chat has announced no clip: ${text}`);
  return place;
}

/** The file of the clip was removed. */
async function askForLostClip(operation: Operation): Promise<Answer> {
  await using robbed = await start();
  const path = await makeClip(robbed);
  for (const file of await robbed.leftovers())
    await rm(join(robbed.dir, 'data/tmp', file), { recursive: true, force: true });
  return await createApi(robbed.url).send(operation.method, path);
}

/** A part of a clip that is still being made when the service ends. */
async function askForClipAtTheEnd(operation: Operation): Promise<Answer> {
  await using ending = await start();
  const path = await makeClip(ending, 'endless');
  const begun = nextRequest(ending);
  const answer = createApi(ending.url).send(operation.method, path, { headers: { range: 'bytes=0-1' } });
  await begun;
  await ending.service.stop(0);
  return await answer;
}

async function removeWhatStays(operation: Operation): Promise<Answer> {
  await using broken = await start();
  using _defect = breakRemoval(); // not any more when the service removes its own directory
  return await askForClip(broken, operation);
}

/** A removal that fails when the service ends. */
async function removeAtTheEnd(operation: Operation): Promise<Answer> {
  await using ending = await start();
  const path = await makeClip(ending, 'endless');
  const ended = Promise.withResolvers<undefined>();
  using _defect = breakRemoval(ended.promise);
  return await answerAtTheEnd(ending, ended.resolve, () => createApi(ending.url).send(operation.method, path));
}

async function askTheBroken(operation: Operation, changes = {}): Promise<Answer> {
  await using broken = await start();
  using _defect = breakListings(broken);
  return await ask(broken, operation, changes);
}

/** A listing that fails as the service ends. */
async function askAtTheEnd(operation: Operation): Promise<Answer> {
  await using ending = await start();
  using _defect = breakListings(ending, () => void ending.service.stop(0));
  return await ask(ending, operation);
}

/** What is answered when the service ends first, then the work of the request. */
async function answerAtTheEnd(
  ending: TestService,
  endWork: (value: undefined) => void,
  send: () => Promise<Answer>,
): Promise<Answer> {
  const begun = nextRequest(ending);
  const answer = send();
  await begun;
  const stopped = ending.service.stop(0);
  await new Promise((resolve) => setTimeout(resolve, 0)); // by then stop(0) has ended the requests
  endWork(undefined);
  await stopped;
  return await answer;
}
