/** SIGKILL while a job is running: no word is lost and none comes twice. The soak of all moments: `npm run soak:jobs`. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startChildService } from '../support/child-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { referenceOf, withFinder } from '../support/speaker-finder.ts';
import { end, formOf, read } from './support/jobs.ts';
import { speechOf, textOf } from './support/speech.ts';

const env = { TRANSCRIBE_MAX_SECONDS: '4', JOBS_TEST_MS: '60', LOG_LEVEL: 'warn' };

test('a service that is killed again and again ends what it has accepted', async () => {
  const dataDir = await temporaryDirectory();
  let id: string | undefined;
  const form = formOf(speechOf(48), { model: 'slow', known_speaker_names: 'Ada' });
  form.append('known_speaker_references', new File([referenceOf('second')], 'voice.wav'));
  /** At once after the 202, while its speakers are searched, and within the parts that follow. */
  for (const processedMs of [0, 3_000, 15_000]) {
    const service = await startChildService({ ...withFinder, env, dataDir });
    if (id === undefined) {
      const answer = await fetch(`${service.url}/api/v1/transcriptions`, { method: 'POST', body: form });
      ({ id } = (await answer.json()) as { id: string });
    }
    while ((await read(service, id)).processed_ms < processedMs);
    service.kill('SIGKILL');
    await service.exit;
  }
  const service = await startChildService({ ...withFinder, env, dataDir });
  const job = await end(service, id ?? '');
  expect(job.result?.text).toBe(textOf(48));
  expect(job.result?.speakers?.map(({ speaker }) => speaker)).toEqual(['A', 'Ada']);
  expect(job.segments.map(({ start_ms }) => start_ms)).toEqual(Array.from({ length: 48 }, (_, n) => 500 * n + 100));
  await expect.poll(() => readdir(join(dataDir, 'jobs/recordings'), { recursive: true })).toEqual([job.id]);
  expect(await service.leftovers()).toEqual([]);
}, 180_000);
