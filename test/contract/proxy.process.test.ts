/**
 * Every operation through Prism as a validating proxy, which somebody else has written: neither what our client sends nor
 * what the service answers breaks the contract. Prism holds a stream back until it has ended and does not look into its
 * events (ours does), and it turns bytes that are no UTF-8 into others: the recording is ASCII.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { heldToContract, type Answer } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { breakListings } from './support/defect.ts';
import { operations, root, type Operation } from './support/document.ts';
import { scripted } from './support/engines.ts';
import { startPrism, type Prism } from './support/prism.ts';
import { encode, requestOf, smallRequest, type Parts } from './support/requests.ts';

let service: TestService;
let prism: Prism;

beforeAll(async () => {
  // Without the service's own check of its answers, so that Prism has something to find.
  service = await startTestService({ ...scripted, env: { NODE_ENV: 'production' } });
  prism = await startPrism(service.url + root);
}, 90_000);
afterAll(async () => {
  await prism[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

function send(operation: Operation, parts: Parts = smallRequest(operation)): Promise<Response> {
  const { path, headers = {}, body = null } = encode(operation, parts);
  return fetch(prism.url + path.slice(root.length), {
    method: operation.method,
    headers,
    body: body as Buffer<ArrayBuffer> | null,
  });
}

/** An answer that Prism has let pass, and our own check, too. */
async function ask(operation: Operation, parts?: Parts): Promise<Answer> {
  const response = await send(operation, parts);
  const { status, headers } = response;
  expect(headers.get('sl-violations')).toBeNull();
  const text = await response.text();
  expect(text).not.toContain('stoplight.io');
  return heldToContract({ method: operation.method, path: root + operation.template }, { status, headers, text });
}

const byId = (wanted: string) => operations.find(({ id }) => id === wanted)!;
const talkative = () => ask(byId('createChat'), requestOf('talkative', byId('createChat')));

const needsClip = /^(get|delete)SpeechClip$/;
const needsPreparation = /^(start|stop)Preparation$/;
const needsJob = /^(get|delete|stream)TranscriptionJob/;
const statuses: Readonly<Record<string, number>> = {
  createSpeechClip: 201,
  deleteSpeechClip: 204,
  createTranscriptionJob: 202,
  deleteTranscriptionJob: 204,
  getTranscriptionJobTranscript: 409,
};

describe.each(operations)('$id', (operation) => {
  test('succeeds', async () => {
    const { status } = await succeed();
    const expected = statuses[operation.id] ?? 200;
    expect(status).toBe(expected);
  });

  test('fails', async () => {
    if (operation.schemas.body) {
      expect(await ask(operation, requestOf('absent', operation))).toMatchObject({ status: 422 });
    } else if (operation.schemas.path) {
      expect(await ask(operation)).toMatchObject({ status: 404 });
    } else {
      using _defect = breakListings(service);
      expect(await ask(operation)).toMatchObject({ status: 500 });
    }
  });

  function succeed(): Promise<Answer> {
    if (needsClip.test(operation.id)) return getClip();
    if (needsJob.test(operation.id)) return ofJob();
    return ask(operation, needsPreparation.test(operation.id) ? { path: { id: 'installed' } } : undefined);
  }

  async function getClip(): Promise<Answer> {
    const { headers } = await talkative();
    const [, id] = /clips\/([\w.-]+)>/.exec(headers.get('link') ?? '') ?? [];
    return ask(operation, { path: { id } });
  }

  async function ofJob(): Promise<Answer> {
    const { id } = (await ask(byId('createTranscriptionJob'))).body as { readonly id: string };
    const job = async () => (await ask(byId('getTranscriptionJob'), { path: { id } })).body;
    await expect.poll(job).toMatchObject({ status: 'failed' }); // ASCII is no sound
    return ask(operation, { path: { id } });
  }
});

test('the stream contains every event type', async () => {
  const { status, text } = await ask(byId('streamChat'), requestOf('talkative', byId('streamChat')));
  expect(status).toBe(200);
  for (const type of ['audio.created', 'tool.finished', 'chat.completed']) expect(text).toContain(`event: ${type}\n`);
});

describe('Prism finds', () => {
  const violation = 'https://stoplight.io/prism/errors#VIOLATIONS';

  test('an invalid request', async () => {
    const response = await send(byId('createChat'), { body: { messages: [] } });
    expect(await response.text()).toContain('https://stoplight.io/prism/errors#UNPROCESSABLE_ENTITY');
  });

  test('an invalid response', async () => {
    const response = await send(byId('createTranscription'), requestOf('lawless', byId('createTranscription')));
    expect(await response.text()).toContain(violation);
  });
});
