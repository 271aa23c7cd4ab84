import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { spokenWords } from '../../src/conformance/recordings.ts';
import { startTestService } from '../support/service.ts';
import { wavSamples } from '../support/wav-samples.ts';

const engine = `export default {
  contract: 1,
  name: 'cat',
  capability: 'speech',
  options: { type: 'object', properties: { file: { type: 'string' } }, additionalProperties: false },
  create: ({ file }, context) => ({
    models: [{ id: 'cat', local: true }],
    async synthesize({ format }, { signal }) {
      const { output } = context.start('cat', [file], { signal, timeoutMs: 5000, cwd: '/', input: '' });
      return context.encode(await context.readWav(output), format, { signal });
    },
  }),
};`;

it('an engine speaks what a program writes as WAV', async () => {
  await using service = await startTestService({
    config: `engines: { cat: { use: ./cat.mjs, file: '${fileURLToPath(spokenWords)}' } }`,
    files: { 'cat.mjs': engine },
  });
  const headers = { 'content-type': 'application/json' };
  const answer = await service.api('/tts', { method: 'POST', headers, body: '{"text":"Yes.","format":"wav"}' });
  const speech = Buffer.from(await answer.arrayBuffer());
  expect(wavSamples(speech).equals(wavSamples(await readFile(spokenWords)))).toBe(true);
});
