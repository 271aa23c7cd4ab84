/** When its caller leaves, its deadline passes or the service ends, nothing works on a recording any more. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { decoders, failureCode, transcriptionWays, upload } from '../support/local-service.ts';
import { anyAlive, runningPrograms, programsOf, standIns, startMisbehavingService } from '../support/misbehaving.ts';
import { until } from '../support/processes.ts';
import type { TestService } from '../support/service.ts';
import { toneWav } from '../support/tone-model.ts';

const recording = toneWav({ words: ['alpha'], rate: 8_000 }); // at 16 kHz, it would need no decoder
const limitMs = 250;

/** What a stage needs, and the program that is running in it. */
const stages = {
  decoding: { env: { FFMPEG: standIns['endless ffmpeg'] }, program: 'endless ffmpeg' },
  transcribing: { env: {}, program: 'whisper-cli' },
} as const;

async function start(env: Readonly<Record<string, string>>): Promise<TestService> {
  const service = await startMisbehavingService({ behaviors: ['hang'], engine: 'slots: 1, waiting: 2', env });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

const goneInTime = (gone: () => boolean | Promise<boolean>) => until('nothing of it is left', gone, limitMs);

type Way = keyof typeof transcriptionWays;

/** Each stage once, and the last through every API. */
const ways: readonly (readonly [stage: keyof typeof stages, way: Way])[] = [
  ['decoding', 'native'],
  ...Object.keys(transcriptionWays).map((way) => ['transcribing', way] as const),
];
const shutdowns: typeof ways = [
  ['decoding', 'OpenAI'],
  ['transcribing', 'native'],
];

describe('while a program works', () => {
  test.each(ways)('a disconnect ends it: %s, %s', async (stage, way) => {
    const { env, program } = stages[stage];
    const options = transcriptionWays[way];
    const service = await start(env);
    const caller = new AbortController();
    const left = expect(upload(service, recording, { ...options, signal: caller.signal })).rejects.toThrow();
    const programs = await runningPrograms(service, program);
    caller.abort();
    await goneInTime(() => !anyAlive(programs));
    await left;
    await expect.poll(() => service.leftovers()).toEqual([]);
    await expect.poll(() => service.log.find(({ msg }) => msg === 'request')).toMatchObject({ status: 499 });
    expect(service.log.filter(({ level }) => level >= 50)).toEqual([]);
  });

  test.each(shutdowns)('shutdown ends it with 503: %s, %s', async (stage, way) => {
    const { env, program } = stages[stage];
    const options = transcriptionWays[way];
    const service = await start(env);
    const answer = upload(service, recording, options);
    const programs = await runningPrograms(service, program);
    const stopped = service.service.stop(0);
    await goneInTime(() => !anyAlive(programs));
    const response = await answer;
    expect(response.status).toBe(503);
    expect(await failureCode(response)).toBe('shutting-down');
    await stopped;
  });
});

// Both wait for it at the same time.
test('the timeout (TRANSCRIBE_TIMEOUT) ends the programs of either stage with 504', async () => {
  await Promise.all(
    shutdowns.map(async ([stage, way]) => {
      const { env, program } = stages[stage];
      const options = transcriptionWays[way]!;
      // Time enough on a busy machine to come as far as the program, which then has as long as it likes.
      const service = await start({ ...env, TRANSCRIBE_TIMEOUT: '4' });
      const answer = upload(service, recording, options);
      const programs = await runningPrograms(service, program);
      const response = await answer;
      const what = `${program}, ${options.path}`;
      await goneInTime(() => !anyAlive(programs));
      expect(response.status, what).toBe(504);
      expect(await failureCode(response), what).toBe('engine-timeout');
      await expect.poll(() => service.leftovers(), { message: what }).toEqual([]);
    }),
  );
});

test.each<Way>(['native', 'streaming OpenAI'])('a disconnect in the queue frees the slot: %s', async (way) => {
  const options = transcriptionWays[way];
  const service = await start({});
  const [first, second] = [new AbortController(), new AbortController()];
  /** A stream begins when its caller is told the place in the queue. */
  const leave = ({ signal }: AbortController) =>
    expect(upload(service, recording, { ...options, signal }).then((answer) => answer.text())).rejects.toThrow();
  const answers = [leave(first)];
  const programs = await runningPrograms(service, 'whisper-cli');
  answers.push(leave(second));
  const stored = async () => (await service.leftovers()).filter((file) => file.endsWith('/upload')).length;
  await expect.poll(stored, { timeout: 10_000, interval: 10 }).toBe(2);
  second.abort();
  await expect.poll(() => service.log.filter(({ msg }) => msg === 'request').length).toBe(1);
  expect(anyAlive(programs)).toBe(true);
  first.abort();
  await goneInTime(() => !anyAlive(programs));
  await Promise.all(answers);
  await expect.poll(() => service.leftovers()).toEqual([]);
});

test('a disconnect during WASM decoding leaves no file and no thread', async () => {
  const service = await start({ ...decoders['WASM decoders'], TRANSCRIBE_MAX_SECONDS: '86400' });
  const caller = new AbortController();
  const hours = toneWav({ words: [], rate: 192_000, tailSeconds: 60 });
  const left = expect(upload(service, hours.subarray(0, 25_000_000), { signal: caller.signal })).rejects.toThrow();
  const decoding = async () => (await service.leftovers()).some((file) => file.endsWith('decoded.wav'));
  await expect.poll(decoding, { timeout: 20_000, interval: 5 }).toBe(true);
  caller.abort();
  await left;
  await goneInTime(async () => (await service.leftovers()).length === 0);
  await goneInTime(() => programsOf(service).length === 0);
});
