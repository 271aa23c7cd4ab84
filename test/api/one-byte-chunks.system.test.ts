/** A body in chunks of one byte, in either API: each chunk as a Buffer of its own would take 200 times its size. */
import { expect, it, vi } from 'vitest';
import { startChildService } from '../support/child-service.ts';
import { connectRaw, requestHead } from './support/raw-socket.ts';

vi.setConfig({ testTimeout: 120_000 }); // hundreds of megabytes, however busy the machine is

it.each([
  ['/api/v1/chat', { status: 422, body: { code: 'malformed-body' } }],
  ['/v1/chat/completions', { status: 400 }],
])('%s takes no extra memory for them', async (path, malformed) => {
  const service = await startChildService({ config: 'engines: {}\n', nodeOptions: ['--max-old-space-size=512'] });
  using connection = await connectRaw(service.url);
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  await connection.send(requestHead('POST', path, headers));
  const chunks = '1\r\nx\r\n'.repeat(100_000);
  const before = service.memory().now;
  await connection.send('1\r\n"\r\n');
  for (let i = 0; i < 10; i++) await connection.send(chunks);
  await connection.send('0\r\n\r\n');
  expect(await connection.answer('POST', path)).toMatchObject(malformed);
  // 1 MB of body. With a Buffer for each chunk it grew by 500 MB, and now by 42 MB.
  expect(service.memory().peak - before).toBeLessThan(200_000_000);
});
