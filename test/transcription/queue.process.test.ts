/** Local transcriptions wait in a bounded line, and everything else stays responsive. */
import { expect, onTestFinished, test } from 'vitest';
import { failureCode, transcriptionWays, upload } from '../support/local-service.ts';
import { anyAlive, runningPrograms, startMisbehavingService } from '../support/misbehaving.ts';
import { toneWav } from '../support/tone-model.ts';

const recording = toneWav({ words: ['alpha'], rate: 16_000 });

/** A service with one place and one in line, both taken. */
async function startFullService() {
  const service = await startMisbehavingService({ behaviors: ['hang'], engine: 'slots: 1, waiting: 1' });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const callers = [new AbortController(), new AbortController()];
  const call = (caller?: AbortController) =>
    void upload(service, recording, { signal: caller!.signal }).catch(() => undefined);
  call(callers[0]);
  const programs = await runningPrograms(service, 'whisper-cli');
  call(callers[1]);
  const probe = async () => (await (await service.api('/transcribe')).json()) as { available: boolean; code: string };
  await expect.poll(async () => (await probe()).code, { timeout: 10_000 }).toBe('busy');
  return { service, callers, programs, probe };
}

test('a full queue rejects with 503 overloaded and Retry-After in every API, and advances when the running one leaves', async () => {
  const { service, callers, programs, probe } = await startFullService();
  expect(await probe()).toMatchObject({ available: true, code: 'busy' });
  for (const way of Object.values(transcriptionWays)) {
    const response = await upload(service, recording, way);
    expect(response.status).toBe(503);
    expect(await failureCode(response)).toBe('overloaded');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  }
  callers[0]?.abort();
  await expect.poll(async () => (await probe()).code).toBe('ready');
  await expect.poll(() => anyAlive(programs)).toBe(false);
  expect(await runningPrograms(service, 'whisper-cli')).toHaveLength(1);
});
