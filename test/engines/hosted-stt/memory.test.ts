/** Backpressure: an upload of 25 MB is streamed from disk, not held in memory. */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { upload } from '../../support/local-service.ts';
import { answers } from '../../support/provider.ts';
import { fineAnswer, recording, startHosted } from './support.ts';

const largest = 26_214_400;
/** Upper bound of what the socket buffers of both ends hold. */
const inSockets = 12_000_000;

/** How far this process has read the file of its upload (proc(5)); undefined if there is no upload. */
function readSoFar(directory: string): number | undefined {
  for (const descriptor of readdirSync('/proc/self/fd')) {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      if (!path.startsWith(directory) || !path.endsWith('/upload')) continue;
      return Number(/pos:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1]);
    } catch {
      continue; // closed meanwhile
    }
  }
  return undefined;
}

describe.skipIf(process.platform !== 'linux')('25 MB', () => {
  const large = Buffer.concat([recording, Buffer.alloc(largest - recording.length)]);

  test('are read no faster than the provider accepts them', async () => {
    const { service, provider } = await startHosted(answers(200, fineAnswer), {
      engine: 'local: false',
      readsPerSecond: 2,
    });
    const caller = new AbortController();
    const left = expect(upload(service, large, { signal: caller.signal })).rejects.toThrow();
    await expect.poll(() => provider.calls.length, { timeout: 20_000 }).toBe(1);
    // Reading stops when the socket buffers are full.
    let before = -1;
    const waits = () => {
      const now = readSoFar(service.dir) ?? -1;
      const isSame = now > 0 && now === before;
      before = now;
      return isSame;
    };
    await expect.poll(waits, { timeout: 20_000, interval: 300 }).toBe(true);
    expect(before).toBeLessThan(inSockets);
    caller.abort();
    await left;
  });

  test('arrive complete, with Content-Length', async () => {
    const { service, provider } = await startHosted();
    expect((await upload(service, large)).status).toBe(200);
    const [call] = provider.calls;
    expect(call?.received).toBeGreaterThan(largest);
    expect(Number(call?.headers['content-length'])).toBe(call?.received);
  });
});
