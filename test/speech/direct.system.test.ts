/** Speech through both APIs: a client that disconnects cancels the synthesis within 250 ms. */
import { describe, expect, test } from 'vitest';
import type { TestService } from '../support/service.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { sound, startReading, startSpeechService } from './support.ts';

const patience = { timeout: 10_000, interval: 5 };
const limitMs = 250;

interface Api {
  readonly path: string;
  /** The field of the text. */
  readonly field: string;
}

const apis: Readonly<Record<string, Api>> = {
  native: { path: '/api/v1/tts', field: 'text' },
  OpenAI: { path: '/v1/audio/speech', field: 'input' },
};

const requestOf = ({ field }: Api, text: string) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ [field]: text }),
});

const isSynthesizing = ({ log }: TestService) =>
  expect.poll(() => log.some(({ msg }) => msg === 'synthesize'), patience).toBe(true);
const hasEnded = ({ log }: TestService) => log.some(({ msg }) => msg === 'ended');

describe.each(Object.entries(apis))('a client of the %s API that disconnects', (_name, api) => {
  test.each(['hang', 'deaf'])('before the first byte stops the engine (%s)', async (text) => {
    const service = await startSpeechService();
    const caller = new AbortController();
    const { signal } = caller;
    const left = expect(fetch(service.url + api.path, { ...requestOf(api, text), signal })).rejects.toThrow();
    await isSynthesizing(service);
    const sinceLeft = startStopwatch();
    caller.abort();
    await left;
    await expect.poll(() => hasEnded(service), patience).toBe(true);
    expect(sinceLeft()).toBeLessThan(limitMs);
    await expect.poll(() => service.log.find(({ msg }) => msg === 'request')).toMatchObject({ status: 499 });
  });

  test.each(['100 hang', '100 deaf', '100 30000000 hang'])('in the middle stops the engine (%s)', async (text) => {
    const service = await startSpeechService();
    const reading = await startReading(service.url + api.path, requestOf(api, text));
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
