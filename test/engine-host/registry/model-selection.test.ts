import { expect, it } from 'vitest';
import { startTestService } from '../../support/service.ts';

it.each([
  ['ollama', 'ollama lists none; start Ollama or set OPENAI_API_KEY'],
  ['mind', 'mind lists none'],
])(
  'a chat without any model of %s says what to run, and what to start if nothing is configured',
  async (name, says) => {
    const config = `engines: { ${name}: { use: llm-agent, baseUrl: "http://127.0.0.1:9/v1" } }`;
    await using service = await startTestService({ config });
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] });
    const answer = await service.api('/chat', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(await answer.json()).toMatchObject({
      code: 'model-unavailable',
      detail: `No chat model is available now: ${says}; npm run doctor shows what is missing.`,
    });
  },
);
