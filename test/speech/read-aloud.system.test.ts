/** A client that disconnects cancels the synthesis of read_aloud within 250 ms. */
import { describe, expect, test } from 'vitest';
import { until } from '../support/processes.ts';
import type { TestService } from '../support/service.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { chatBody, startSpeechService, synthesized, type ChatScript } from './support.ts';

const patience = { timeout: 10_000, interval: 5 };
const limitMs = 250;

const once = (args: object): ChatScript => ({ calls: [[args]] });

describe('a clip belongs', () => {
  const ended = ({ log }: TestService) => log.filter(({ msg }) => msg === 'ended');

  test.each(['100 hang', '100 deaf', 'hang', 'deaf'])(
    'to the run until then: a caller that leaves ends it (%s)',
    async (text) => {
      const service = await startSpeechService();
      const caller = new AbortController();
      const body = chatBody({ ...once({ text }), then: 'hang' });
      const left = expect(service.post('/chat', body, { signal: caller.signal })).rejects.toThrow();
      await expect.poll(() => synthesized(service), patience).toHaveLength(1);
      const hasBegun = text.startsWith('100');
      await expect.poll(async () => (await service.leftovers()).length > 0, patience).toBe(hasBegun);
      const sinceLeft = startStopwatch();
      caller.abort();
      await left;
      await expect.poll(() => ended(service), patience).toHaveLength(1);
      expect(sinceLeft()).toBeLessThan(limitMs);
      await until('no file is left', async () => (await service.leftovers()).length === 0, limitMs);
      expect(service.log.filter(({ level }) => level >= 40)).toEqual([]);
    },
  );
});
