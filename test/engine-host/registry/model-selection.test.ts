import { expect, it } from 'vitest';
import { answers, startProvider } from '../../support/provider.ts';
import { startTestService } from '../../support/service.ts';

it('a chat with a provider that lists no models says which one it is, and what to run', async () => {
  const provider = await startProvider();
  provider.behave(answers(200, { data: [] }));
  const config = `engines: { mind: { use: llm-agent, baseUrl: "${provider.baseUrl}" } }`;
  await using service = await startTestService({ config });
  const answer = await service.post('/chat', { messages: [{ role: 'user', content: 'Hello' }] });
  expect(await answer.json()).toMatchObject({
    code: 'model-unavailable',
    detail: 'No chat model is available now: mind lists none; npm run doctor shows what is missing.',
  });
});
