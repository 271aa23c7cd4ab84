import { expect, it } from 'vitest';
import { startTestService } from '../support/service.ts';

it('a chat without any model is told what to start, to set and to run', async () => {
  const config = 'engines: { mind: { use: llm-agent, baseUrl: "http://127.0.0.1:9/v1" } }';
  await using service = await startTestService({ config });
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] });
  const answer = await service.api('/chat', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(await answer.json()).toMatchObject({
    code: 'model-unavailable',
    detail:
      'No chat model is available now: mind lists none; start Ollama or set OPENAI_API_KEY; npm run doctor shows what is missing.',
  });
});
