/** What the log never contains, whatever apps send under /v1 and whatever fails. */
import { expect, it, onTestFinished } from 'vitest';
import { multipart, multipartType, recording, type FormField } from '../api/support/forms.ts';
import { scripted } from '../contract/support/engines.ts';
import { createApi } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const headers = {
  authorization: 'Bearer token-secret',
  'x-openwebui-user-name': 'user-secret',
  'x-stainless-lang': 'stainless-secret',
  'openai-organization': 'organization-secret',
};
const json = { ...headers, 'content-type': 'application/json' };

const field = (name: string, value: string): FormField => ({ name, value });
const file: FormField = { ...recording, filename: 'name-secret.wav' };

const forms: readonly (readonly FormField[])[] = [
  [file, field('prompt', 'prompt-secret'), field('hotwords', 'hot-secret'), field('user', 'user-secret')],
  [file, field('prompt', 'prompt-secret'), field('stream', 'true')],
  [file, field('prompt', 'prompt-secret'), field('stream', 'true'), field('model', 'late-failure')],
  [file, field('prompt', 'prompt-secret'), field('model', 'provider-error')],
  [file, field('language', 'language-choice')],
  [file, field('response_format', 'format-secret')],
  [file, field('temperature', 'warm-secret')],
  [file, field('model', 'model-choice')],
  [{ name: 'file', value: 'file-secret', filename: 'name-secret.txt' }],
  [field('name-choice', 'x'.repeat(9_000))],
];

const user = { role: 'user', content: 'content-secret' };
const name = 'tool-secret';
const call = { id: 'id-secret', type: 'function', function: { name, arguments: '{"a":"argument-secret"}' } };
const chats: readonly object[] = [
  { messages: [user], user: 'user-secret', metadata: { a: 'metadata-secret' } },
  { messages: [user], stream: true },
  { messages: [user], model: 'late-failure', stream: true },
  { messages: [user], model: 'late-failure' },
  { messages: [user], model: 'provider-error' },
  { messages: [user], model: 'model-choice' },
  { messages: [user], tools: [{ type: 'function', function: { name, parameters: { type: 'parameter-secret' } } }] },
  { messages: [user, { role: 'assistant', tool_calls: [call] }] },
  { messages: [{ ...user, role: 'role-secret' }] },
  { messages: 'type-secret' },
  { messages: [user], stop: ['stop-secret'] },
];

const speeches: readonly object[] = [
  { input: 'input-secret', instructions: 'instructions-secret' },
  { input: 'input-secret', model: 'provider-error' },
  { input: 'input-secret', voice: 'voice-choice' },
  { input: 'input-secret', response_format: 'format-secret' },
];

const raw = ['{"malformed-secret', 'plain-secret', `{"messages":[${' '.repeat(100)}"long-secret" x]}`, '"text-secret"'];

it('has no token, name, text or field of a request', async () => {
  const service = await startTestService({ ...scripted, env: { API_KEYS: 'token-secret' } });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const api = createApi(service.url);
  let requests = 0;
  const ask = async (...args: Parameters<typeof api.send>) => {
    await api.send(...args);
    requests += 1;
  };
  for (const parts of forms) {
    const body = multipart(...parts);
    await ask('POST', '/v1/audio/transcriptions', { headers: { ...headers, ...multipartType }, body });
  }
  const bodies = [
    ...chats.map((body) => ['/v1/chat/completions', JSON.stringify(body)] as const),
    ...speeches.map((body) => ['/v1/audio/speech', JSON.stringify(body)] as const),
    ...raw.flatMap((body) => [['/v1/chat/completions', body] as const, ['/v1/audio/speech', body] as const]),
  ];
  for (const [path, body] of bodies) await ask('POST', path, { headers: json, body });
  await ask('GET', '/v1/audio/voices?model=query-choice', { headers });
  await ask('GET', '/v1/models/model-choice', { headers });
  await ask('GET', '/v1/models?api_key=query-secret', { headers: { authorization: 'Bearer guess-secret' } });
  await ask('GET', '/v1/models', { headers: { ...headers, origin: 'https://origin-choice.example' } });
  const lines = () => service.log.filter(({ msg }) => msg === 'request');
  await expect.poll(lines).toHaveLength(requests);
  const statuses = new Set(lines().map(({ status }) => status));
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 401, 404, 502]));
  expect(JSON.stringify(service.log)).not.toMatch(/[a-z]+-secret/);
  // A refusal quotes the id that is wrong; it is logged at the level debug only.
  const shown = service.log.filter(({ level }) => level >= 30);
  expect(JSON.stringify(shown)).not.toMatch(/[a-z]+-choice/);
});
