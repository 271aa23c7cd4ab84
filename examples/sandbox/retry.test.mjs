import assert from 'node:assert';
import { test } from 'node:test';
import { startSandbox } from '@parlance/server/sandbox';
import OpenAI from 'openai';

test('the app retries when it has sent too many requests', async () => {
  await using sandbox = await startSandbox();
  const openai = new OpenAI({ baseURL: sandbox.env.OPENAI_BASE_URL, apiKey: sandbox.env.OPENAI_API_KEY });
  sandbox.next({ code: 429 }); // with Retry-After: 1
  const file = await sandbox.speak('Good morning.');
  assert.equal((await openai.audio.transcriptions.create({ model: 'whisper-1', file })).text, 'Good morning.');
  assert.equal(sandbox.requests.length, 2);
});
