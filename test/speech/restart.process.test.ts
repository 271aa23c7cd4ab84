/** A service is killed while a clip is being made: the next one does not list the clip, and removes its file. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requestFilesIn, startChildService } from '../support/child-service.ts';
import { createApi } from '../support/http.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { addressOf, chatBody, open, scriptedEngines, sound, startReading } from './support.ts';

test.skipIf(process.platform !== 'linux')('a restart removes all clips and files', async () => {
  const dataDir = await temporaryDirectory();
  const killed = await startChildService({ ...scriptedEngines(), dataDir });
  const { headers } = await createApi(killed.url).post(
    '/api/v1/chat',
    chatBody({ calls: [[{ text: '150' }, { text: '100 hang' }]] }),
  );
  const [whole = '', growing = ''] = [...(headers.get('link') ?? '').matchAll(/<\/api\/v1([^>]*)>/g)].map(
    ([, path]) => path,
  );
  const reading = await startReading(addressOf(killed, growing));
  await expect.poll(() => reading.received).toBe(sound(0, 100));
  expect((await requestFilesIn(dataDir)).filter((path) => path.endsWith('/audio'))).toHaveLength(2);
  killed.kill('SIGKILL');
  await killed.exit;
  expect(await reading.ended).toBe('broken');
  expect(await requestFilesIn(dataDir)).not.toEqual([]);

  const next = await startChildService({ ...scriptedEngines(), dataDir });
  expect(await requestFilesIn(dataDir)).toEqual([]);
  expect(await readdir(join(dataDir, 'tmp'))).toHaveLength(1);
  for (const path of [whole, growing]) {
    expect((await createApi(next.url).get(`/api/v1${path}`)).problem).toMatchObject({
      status: 404,
      code: 'clip-not-found',
    });
  }
});

test('graceful shutdown lets clients finish reading a clip', async () => {
  const service = await startChildService(scriptedEngines());
  const { headers } = await createApi(service.url).post(
    '/api/v1/chat',
    chatBody({ calls: [[{ text: '100 gate:go 50' }]] }),
  );
  const [, path = ''] = /<\/api\/v1([^>]*)>/.exec(headers.get('link') ?? '') ?? [];
  const reading = await startReading(addressOf(service, path));
  await expect.poll(() => reading.received).toBe(sound(0, 100));
  service.kill('SIGTERM');
  const refused = () =>
    fetch(`${service.url}/healthz`).then(
      () => false,
      () => true,
    );
  await expect.poll(refused, { timeout: 10_000 }).toBe(true);
  await open(service, 'go');
  expect(await reading.ended).toBe('whole');
  expect(reading.received).toBe(sound(0, 150));
  expect(await service.exit).toEqual({ code: 0, signal: null });
});
