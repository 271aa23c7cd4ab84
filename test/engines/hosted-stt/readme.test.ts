import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { startTestService } from '../../support/service.ts';

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
const [, config = ''] = /## Hosted transcription\n[^]*?```yaml\n([^]*?)```/.exec(readme) ?? [];

test('the settings in the README are valid, and list which models are local', async () => {
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
