/** Images in messages under /v1: data URLs to models that see them, and nothing else. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { says, sentTo, streamsOnly } from '../engines/llm-agent/support.ts';
import { startProvider } from '../support/provider.ts';
import { createApi } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
const url = `data:image/png;base64,${png}`;

type Ask = (service: TestService, model: string, image: unknown) => ReturnType<ReturnType<typeof createApi>['post']>;

const text = 'What is it?';
const chat: Ask = ({ url: base }, model, image) => {
  const content = [
    { type: 'text', text },
    { type: 'image_url', image_url: { url: image, detail: 'low' } },
  ];
  return createApi(base).post('/v1/chat/completions', { model, messages: [{ role: 'user', content }] });
};
const responses: Ask = ({ url: base }, model, image) => {
  const content = [
    { type: 'input_text', text },
    { type: 'input_image', image_url: image, detail: 'low' },
  ];
  return createApi(base).post('/v1/responses', { model, input: [{ role: 'user', content }] });
};

describe.each([
  ['chat', chat, 'messages[0].content[1]'],
  ['responses', responses, 'input[0].content[1]'],
])('%s', (_name, ask, field) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  it('an image reaches a model that lists images, and no log', async () => {
    const answer = await ask(service, 'sandbox-chat', url);
    expect(answer.text).toContain('You showed: image/png');
    expect(answer.status).toBe(200);
    expect(JSON.stringify(service.log)).not.toContain(png.slice(0, 40));
  });

  it.each<[string, unknown, string]>([
    ['an address', 'https://example.com/a.png', 'unsupported_value'],
    ['a file', 'file:///etc/passwd', 'unsupported_value'],
    ['another type', 'data:image/svg+xml;base64,AAAA', 'unsupported_value'],
    ['no base64', 'data:image/png,AAAA', 'unsupported_value'],
    ['other first bytes', `data:image/jpeg;base64,${png}`, 'invalid_request'],
    ['broken base64', `${url}*`, 'invalid_request'],
    ['nothing', 'data:image/png;base64,', 'invalid_request'],
    ['more than 10 MB', `${url}${'A'.repeat(14_000_000)}`, 'invalid_request'],
  ])('is refused by its place: %s', async (_what, image, code) => {
    const { status, error } = await ask(service, 'sandbox-chat', image);
    expect({ status, code: error.code, param: error.param }).toEqual({ status: 400, code, param: field });
  });

  it('is rejected with an explanation: an image of another type', async () => {
    const { error } = await ask(service, 'sandbox-chat', `data:image/jpeg;base64,${png}`);
    expect(error.message).toContain('must be an image/jpeg in base64');
  });
});

it.each(['chat', 'responses'])('llm-agent sends them where the settings list images; api: %s', async (api) => {
  const provider = await startProvider();
  const response = { status: 'completed', output: [], usage: null };
  const ended = `data: ${JSON.stringify({ type: 'response.completed', response })}\n\n`;
  provider.behave(api === 'chat' ? says('A pixel.') : streamsOnly(ended));
  const models = '[{ id: sees, supports: [images] }, blind]';
  const config = `engines:\n  cloud: { use: llm-agent, baseUrl: "${provider.baseUrl}", api: ${api}, models: ${models} }\n`;
  await using service = await startTestService({ config });
  const listed = await createApi(service.url).get('/v1/models?capability=images');
  expect(listed.body).toMatchObject({ data: [{ id: 'sees', capabilities: ['chat', 'images'] }] });
  const { error } = await chat(service, 'blind', url);
  expect(error).toMatchObject({ code: 'unsupported_value', param: 'messages[0].content[1]' });
  expect(error.message).toContain('"blind" does not support');
  await responses(service, 'sees', url);
  const sent = await sentTo(provider);
  expect(sent).toHaveLength(1);
  const ofChat = [
    { type: 'text', text },
    { type: 'image_url', image_url: { url, detail: 'low' } },
  ];
  const ofResponses = [
    { type: 'input_text', text },
    { type: 'input_image', image_url: url, detail: 'low' },
  ];
  expect(sent[0]?.messages ?? sent[0]?.input).toEqual([
    { role: 'user', content: api === 'chat' ? ofChat : ofResponses },
  ]);
});

it('input_audio is rejected with an alternative', async () => {
  await using service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
  const content = [{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }];
  const { error } = await createApi(service.url).post('/v1/chat/completions', {
    messages: [{ role: 'user', content }],
  });
  expect(error).toMatchObject({ code: 'unsupported_value', param: 'messages[0].content[0]' });
  expect(error.message).toContain('transcribe it first: /v1/audio/transcriptions');
});
