/** What the start warns of when the providers of chat models have answered. */
import { onTestFinished, expect, test } from 'vitest';
import { describeModelDoubts } from '../../src/bin/model-doubts.ts';
import { loadSettings } from '../../src/settings/load.ts';
import { answersAtOnce, startProvider, type Behavior } from '../support/provider.ts';
import { startTestService } from '../support/service.ts';

const lists = (...ids: string[]): Behavior => answersAtOnce(200, { data: ids.map((id) => ({ id })) });

/** Answers only below /v1. */
const belowV1: Behavior = (call) =>
  call.path === '/v1/models' ? lists('mind')(call) : call.reply(404, `No ${call.method} ${call.path}.`);

/** `config` gets the URL of a provider with and without /v1, as URL and ROOT. */
async function doubtsOf(behavior: Behavior, config: string, env: Readonly<Record<string, string>> = {}) {
  const provider = await startProvider();
  provider.behave(behavior);
  const root = provider.baseUrl.replace(/\/v1$/, '');
  const yaml = config.replaceAll('URL', provider.baseUrl).replaceAll('ROOT', root);
  const service = await startTestService({ config: yaml, env });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const settings = loadSettings(env, service.dir);
  const doubts = await describeModelDoubts(service.service.registry, settings);
  const plain = doubts.map((line) => line.replaceAll(root, 'ROOT').replaceAll(`${service.dir}/`, ''));
  return { doubts: plain, calls: provider.calls.map(({ method, path }) => `${method} ${path}`), service };
}

const chat = (models: string) => `engines: { mind: { use: llm-agent, baseUrl: 'URL', models: ${models} } }`;

test('a configured model that the provider does not list', async () => {
  const { doubts, calls } = await doubtsOf(lists('llama3.2:latest', 'qwen3'), chat('[lama3.2, { id: mine, remoteId: x-9 }]')); // prettier-ignore
  expect(doubts).toEqual([
    'engine mind: model lama3.2: the provider does not list lama3.2; fix: did you mean llama3.2?',
    'engine mind: model mine: the provider does not list x-9; fix: name a model that it lists: llama3.2:latest, qwen3',
  ]);
  expect(calls).toEqual(['GET /v1/models']);
});

test('none that is listed in another form', async () => {
  const listed = lists('llama3.2:latest', 'models/gemini', 'openai/gpt', 'Qwen3');
  const { doubts } = await doubtsOf(listed, chat('[llama3.2, gemini, openai/gpt:online, qwen3]'));
  expect(doubts).toEqual([]);
});

test.each([
  ['has none', answersAtOnce(404, 'no')],
  ['sends something else', answersAtOnce(200, { status: 'ok' })],
])('nothing, where the provider %s instead of a list', async (_what, behavior) => {
  expect((await doubtsOf(behavior, chat('[mind]'))).doubts).toEqual([]);
});

test.each([
  ['ROOT', 'add /v1 to the end of'],
  ['URL/chat/completions', 'remove /chat/completions from the end of'],
])('the base URL %s, whose models are in the settings', async (baseUrl, change) => {
  const { doubts, service } = await doubtsOf(
    belowV1,
    `engines:
      mind: { use: llm-agent, baseUrl: '${baseUrl}', models: [mind] }
      ears: { use: hosted-stt, baseUrl: '${baseUrl}', models: [ears] }
      fine: { use: hosted-stt, baseUrl: 'ROOT', path: /v1/audio/transcriptions, models: [others] }`,
  );
  expect(doubts).toEqual([expect.stringContaining(`engine mind: provider mind: `)]);
  expect(doubts[0]).toContain(`fix: ${change} the baseUrl of the engine mind.`);
  const [, ears, fine] = await service.service.registry.inspect();
  expect(fine?.findings[0]).toMatchObject({ ok: true });
  expect(ears?.findings[0]).toMatchObject({ ok: false });
  expect(ears?.findings[0]?.detail).toContain(`fix: ${change} the baseUrl of the engine ears.`);
});

test('a refused key, unless the summary has named it', async () => {
  const refuses = answersAtOnce(401, { error: { message: 'no' } });
  const { doubts, service } = await doubtsOf(refuses, chat('[mind]'));
  expect(doubts).toEqual([expect.stringMatching(/^engine mind: provider mind: .* rejected the API key/)]);
  const { registry } = service.service;
  await registry.recheck();
  expect(await describeModelDoubts(registry, loadSettings({}, service.dir))).toEqual([]);
});

test('names in the settings that no engine serves', async () => {
  const { doubts } = await doubtsOf(
    lists('llama3.2'),
    `engines: { mind: { use: llm-agent, baseUrl: 'URL' }, mouth: { use: tts, baseUrl: 'URL', models: [voice] } }
chatModel: mind/llama3.3
compatAliases: { gpt-4o: mind/llama3.2, gpt-4: mind/gone, tts-1: voice }`,
    { TTS_MODEL: 'voice' },
  );
  expect(doubts).toEqual([
    'CHAT_MODEL (in the file: chatModel): no engine serves the model "mind/llama3.3" now; fix: did you mean mind/llama3.2?',
    'parlance.config.yaml: compatAliases.gpt-4: no engine serves the model "mind/gone" now; fix: name one of mind/llama3.2, voice',
  ]);
});
