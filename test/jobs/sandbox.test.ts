/** The sandbox makes up an hour of speech, at the pace that a header sets. */
import { expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';
import { create, end, eventsOf } from './support/jobs.ts';

const sandbox = { env: { PARLANCE_SANDBOX: 'true' } };

test('an hour takes as long as Prefer says', async () => {
  await using service = await startTestService(sandbox);
  const { id } = await create(service, Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), {}, { prefer: 'pace=0' });
  const job = await end(service, id);
  expect(job).toMatchObject({ status: 'completed', duration_ms: 3_600_000, processed_ms: 3_600_000 });
  expect(job.segments).toHaveLength(12);
  expect(job.result?.text).toMatch(/^This is part 1 of 12\. .* This is part 12 of 12\.$/);
  expect(await eventsOf(service, id)).toHaveLength(1 + 12 * 2 + 1);
});

test('without it, the recording counts', async () => {
  await using service = await startTestService(sandbox);
  const broken = Buffer.from('RIFF\0\0\0\0WAVE', 'latin1');
  expect(await end(service, (await create(service, broken)).id)).toMatchObject({ status: 'failed' });
});
