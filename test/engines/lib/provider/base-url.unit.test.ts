/** Base URLs that people paste, and how to fix them. */
import { expect, test } from 'vitest';
import { baseUrlFix } from '../../../../engines/lib/provider/base-url.ts';

test.each([
  ['http://127.0.0.1:11434', '/models', 'add /v1 to the end of'],
  ['https://api.example.com/openai', '/chat/completions', 'add /v1 to the end of'],
  ['http://127.0.0.1:11434/v1/chat/completions', '/models', 'remove /chat/completions from the end of'],
  ['https://api.openai.com/v1/audio/transcriptions', '/audio/transcriptions', 'remove /audio/transcriptions from the end of'], // prettier-ignore
  ['https://api.openai.com/v1/models', '/models', 'remove /models from the end of'],
  ['https://api.openai.com/v1', '/models', undefined],
  ['https://api.example.com/v1beta/openai', '/models', undefined],
  ['http://127.0.0.1:8880', '/v1/audio/speech', undefined],
])('%s with %s: %s', (baseUrl, path, change) => {
  expect(baseUrlFix(baseUrl, path)?.change).toBe(change);
});
