/** Requests may name languages that have no code in ISO 639-1; no result does. */
import { expect, test } from 'vitest';
import { create, end, formOf } from '../jobs/support/jobs.ts';
import { speechOf, wordEngine } from '../jobs/support/speech.ts';
import { startTestService } from '../support/service.ts';

/** An engine that returns the language of the request. */
const start = () => startTestService({ ...wordEngine, env: { TRANSCRIBE_MODEL: 'words' } });

test.each(['yue', 'haw'])('%s is accepted by every operation, and returned by none', async (language) => {
  await using service = await start();
  const body = () => formOf(speechOf(2), { language });
  const native = await service.api('/transcribe', { method: 'POST', body: body() });
  expect(await native.json()).toMatchObject({ text: 'w0 w1', language: null });
  const compatible = await fetch(`${service.url}/v1/audio/transcriptions`, { method: 'POST', body: body() });
  expect(await compatible.json()).toMatchObject({ text: 'w0 w1', languages: [] });
  const job = await end(service, (await create(service, speechOf(2), { language })).id);
  expect(job.result).toMatchObject({ text: 'w0 w1', language: null });
});

test.each(['ceb', 'deu', 'y'])('%s is no language of the native API', async (language) => {
  await using service = await start();
  const answer = await service.api('/transcribe', { method: 'POST', body: formOf(speechOf(2), { language }) });
  expect(answer.status).toBe(422);
});
