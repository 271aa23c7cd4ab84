/** POST /tts: a client that disconnects cancels the synthesis within 250 ms. */
import { describe, expect, test } from 'vitest';
import type { TestService } from '../support/service.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { addressOf, sound, startReading, startSpeechService } from './support.ts';

const patience = { timeout: 10_000, interval: 5 };
const limitMs = 250;

function startSpeaking(service: TestService, text: string) {
  const headers = { 'content-type': 'application/json' };
  return startReading(addressOf(service, '/tts'), { method: 'POST', headers, body: JSON.stringify({ text }) });
}

const atWork = ({ log }: TestService) =>
  expect.poll(() => log.some(({ msg }) => msg === 'synthesize'), patience).toBe(true);
const hasEnded = ({ log }: TestService) => log.some(({ msg }) => msg === 'ended');

describe('a client that disconnects', () => {
  test.each(['hang', 'deaf'])('before the first byte stops the engine (%s)', async (text) => {
    const service = await startSpeechService();
    const caller = new AbortController();
    const left = expect(service.post('/tts', { text }, { signal: caller.signal })).rejects.toThrow();
    await atWork(service);
    const sinceLeft = startStopwatch();
    caller.abort();
    await left;
    await expect.poll(() => hasEnded(service), patience).toBe(true);
    expect(sinceLeft()).toBeLessThan(limitMs);
    await expect.poll(() => service.log.find(({ msg }) => msg === 'request')).toMatchObject({ status: 499 });
  });

  test.each(['100 hang', '100 deaf', '100 30000000 hang'])('in the middle stops the engine (%s)', async (text) => {
    const service = await startSpeechService();
    const reading = await startSpeaking(service, text);
    await expect.poll(() => reading.received.slice(0, 100), patience).toBe(sound(0, 100));
    reading.response.pause();
    const sinceLeft = startStopwatch();
    reading.leave();
    await expect.poll(() => hasEnded(service), patience).toBe(true);
    expect(sinceLeft()).toBeLessThan(limitMs);
    await expect.poll(() => service.log.find(({ msg }) => msg === 'request')).toMatchObject({ status: 499 });
    expect(service.log.filter(({ level }) => level >= 40)).toEqual([]);
  });
});
