import assert from 'node:assert';
import { test } from 'node:test';
import { startSandbox } from '@parlance/server/sandbox';
import OpenAI from 'openai';

test('the model calls a tool of the app', async () => {
  await using sandbox = await startSandbox({ answers: [{ contains: 'weather', call: 'look_up {"city": "Paris"}' }] });
  const openai = new OpenAI({ baseURL: sandbox.env.OPENAI_BASE_URL, apiKey: sandbox.env.OPENAI_API_KEY });
  const messages = [{ role: 'user', content: 'How is the weather in Paris?' }];
  const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];
  const { choices } = await openai.chat.completions.create({ model: 'sandbox-chat', messages, tools });
  assert.equal(choices[0].message.tool_calls[0].function.arguments, '{"city": "Paris"}');
});
