/** Files that are not what they claim: nothing else is read or fetched, nothing is left, the service continues. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hostileFiles } from '../support/hostile.ts';
import { decoders, startLocalService, upload } from '../support/local-service.ts';
import { describeWith } from '../support/programs.ts';
import { recordingKind } from '../support/recordings.ts';
import type { TestService } from '../support/service.ts';
import { toneWav, words } from '../support/tone-model.ts';

const maxSeconds = 30;
/** A decoder that were not bounded would take minutes for a bomb. */
const deadlineMs = 20_000;
/** What the file that the scripts are after says. */
const secret = ['kilo', 'hotel', 'kilo', 'hotel'] as const;

interface Answer {
  readonly text?: string;
  readonly code?: string;
  readonly detail?: string;
}

describeWith(['ffmpeg', 'whisper-cli'], 'a hostile file', () => {
  let directory: string;
  let listener: Server;
  let connections = 0;
  const made = new Map<string, Buffer>();

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'parlance-hostile-'));
    listener = createServer((_req, res) => res.end()).listen(0, '127.0.0.1');
    listener.on('connection', () => (connections += 1));
    await new Promise((resolve) => listener.once('listening', resolve));
    const { port } = listener.address() as AddressInfo;
    const targetFile = await recordingKind('mp4/aac fragmented (Safari)').make([...secret], { directory });
    const targetUrl = `http://127.0.0.1:${port}/secret.mp4`;
    for (const { name, make } of hostileFiles) {
      made.set(name, await readFile(await make({ directory, targetFile, targetUrl })));
    }
  }, 120_000);
  afterAll(async () => {
    listener.close();
    await rm(directory, { recursive: true, force: true });
  });

  describe.each(Object.keys(decoders) as (keyof typeof decoders)[])('for the %s', (decoder) => {
    let service: TestService;
    beforeAll(async () => {
      service = await startLocalService({
        env: { ...decoders[decoder], TRANSCRIBE_MAX_SECONDS: String(maxSeconds) },
      });
    });
    afterAll(() => service[Symbol.asyncDispose]());

    async function send(name: string): Promise<{ status: number; answer: Answer }> {
      const response = await upload(service, made.get(name)!, { signal: AbortSignal.timeout(deadlineMs) });
      return { status: response.status, answer: (await response.json()) as Answer };
    }

    const holding = (what: string) => hostileFiles.filter(({ holds }) => holds === what);

    test.each(holding('nothing'))('is rejected: $name', async ({ name, container }) => {
      const { status, answer } = await send(name);
      const expected = container === null ? /^recording-(not-accepted|empty)$/ : /^recording-undecodable$/;
      expect({ status, code: answer.code }).toEqual({ status: 422, code: expect.stringMatching(expected) as string });
      expect(JSON.stringify(answer)).not.toMatch(/kilo|hotel/);
    });

    test.each(holding('beginning'))('is decoded up to the damage: $name', async ({ name }) => {
      const { status, answer } = await send(name);
      expect(status).toBe(200);
      expect(answer.text).not.toBe('');
      expect(words.join(' ').startsWith(answer.text!)).toBe(true);
    });

    test.each(holding('hours'))('is too long, with the limit in the problem: $name', async ({ name }) => {
      const { status, answer } = await send(name);
      expect({ status, code: answer.code }).toEqual({ status: 422, code: 'recording-too-long' });
      expect(answer.detail).toContain(String(maxSeconds));
    });

    test.each(holding('anything'))('ends quickly: $name', async ({ name }) => {
      const { status } = await send(name);
      expect([200, 422]).toContain(status);
    });

    test('makes no connection, leaves no file, and the service still responds', async () => {
      expect(connections).toBe(0);
      await expect.poll(() => service.leftovers()).toEqual([]);
      const healthy = toneWav({ words: ['golf'], rate: 16_000 });
      expect(await (await upload(service, healthy)).json()).toMatchObject({ text: 'golf' });
    });
  });
});
