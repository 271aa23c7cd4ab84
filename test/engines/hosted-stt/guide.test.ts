import { expect, onTestFinished, test } from 'vitest';
import { blockWith } from '../../docs/support/pages.ts';
import { startTestService } from '../../support/service.ts';

const config = blockWith('docs/guides/hosted-providers.md', 'yaml', 'transcribeModel: local');

test('the settings in the guide work, and the listing shows which entries leave the machine', async () => {
  const service = await startTestService({ config, env: { OPENAI_API_KEY: 'k' } });
  onTestFinished(() => service[Symbol.asyncDispose]());
  expect(await (await service.api('/transcribe/models')).json()).toMatchObject({
    data: [
      { id: 'local', engine: 'whisper', local: true },
      { id: 'whisper-large-v3-turbo', engine: 'groq', local: false, code: 'key-missing' },
      { id: 'accurate', engine: 'openai', local: false, code: 'ready' },
    ],
    default: 'local',
  });
});
