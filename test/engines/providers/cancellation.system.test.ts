/**
 * On disconnect and shutdown, no call of a transcription or a synthesis stays in flight at the provider. Each stage is
 * tested through /api/v1, and one of each engine through the other APIs.
 */
import { describe, expect, test } from 'vitest';
import { answers, type Behavior } from '../../support/provider.ts';
import { failureCode, transcriptionWays, upload } from '../../support/local-service.ts';
import type { TestService } from '../../support/service.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { fineAnswer, recording } from '../hosted-stt/support.ts';
import { begins, mp3, pcm, speaks } from '../tts/support.ts';
import { startHosted, stops, type Hosted, type HostedOptions } from './support.ts';

const limitMs = 250;
const large = Buffer.concat([recording, Buffer.alloc(20_000_000)]);
const long = 'First comes one sentence that is long. Then a second one that is as long. And a third.';

type Send = (service: TestService, signal?: AbortSignal) => Promise<Response>;

const uploads =
  (way: keyof typeof transcriptionWays, bytes = recording): Send =>
  (service, signal) =>
    upload(service, bytes, { ...transcriptionWays[way], ...(signal && { signal }) });

const posts =
  (path: string, body: object): Send =>
  ({ url }, signal = new AbortController().signal) => {
    const headers = { 'content-type': 'application/json' };
    return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body), signal });
  };

const says = (text: string, format?: string) => posts('/api/v1/tts', { text, format });

/** A stage at which the client disconnects, by what the provider has received. */
interface Stage {
  readonly name: string;
  readonly use: 'hosted-stt' | 'tts';
  readonly behavior: Behavior;
  readonly send: Send;
  /** Whether the response has begun at this stage. */
  readonly begun?: boolean;
  /** Calls of the provider; 1 unless the text has pieces. */
  readonly calls?: number;
}

const works: Behavior = ({ body }) => body;
const fails = stops(500, 'hm');
const samples = begins(pcm(1), 'audio/pcm');

const stages: readonly Stage[] = [
  { name: 'the recording is uploaded', use: 'hosted-stt', behavior: () => undefined, send: uploads('native', large) },
  { name: 'the provider works', use: 'hosted-stt', behavior: works, send: uploads('native') },
  { name: 'the provider works for /v1', use: 'hosted-stt', behavior: works, send: uploads('OpenAI') },
  { name: 'the response arrives', use: 'hosted-stt', behavior: stops(200, '{"text":'), send: uploads('native') },
  { name: 'the body of an error arrives', use: 'hosted-stt', behavior: fails, send: uploads('native') },
  { name: 'the provider works', use: 'tts', behavior: works, send: says('Hi.') },
  { name: 'the audio arrives', use: 'tts', behavior: begins(mp3), send: says('Hi.'), begun: true },
  {
    ...{ name: 'the audio arrives for /v1', use: 'tts', behavior: begins(mp3), begun: true },
    send: posts('/v1/audio/speech', { input: 'Hi.' }),
  },
  { name: 'the audio arrives and is encoded', use: 'tts', behavior: samples, send: says('Hi.', 'ogg') },
  { name: 'the audio arrives and is buffered until its end', use: 'tts', behavior: samples, send: says('Hi.', 'wav') },
  { name: 'the audio arrives and is joined', use: 'tts', behavior: samples, send: says(long, 'ogg'), calls: 2 },
  { name: 'the body of an error arrives', use: 'tts', behavior: fails, send: says('Hi.') },
];

const models = {
  'hosted-stt': '[remote]',
  tts: '[{ id: remote, maxCharacters: 50, formats: [pcm, mp3, opus] }]',
};

/** At this stage, calls `end`; resolves with the milliseconds from there until every call has ended. */
async function reach({ use, behavior, begun = false, calls = 1 }: Stage, end: (hosted: Hosted) => void) {
  const response = Promise.withResolvers<Response>();
  const goneAfterMs = Promise.withResolvers<number>();
  let reached = 0;
  const hosted = await startHosted(
    use,
    async (call) => {
      await behavior(call);
      if ((reached += 1) !== calls) return;
      if (begun) await response.promise;
      const sinceEnd = startStopwatch();
      void Promise.all(hosted.provider.calls.map(({ gone }) => gone)).then(() => goneAfterMs.resolve(sinceEnd()));
      end(hosted);
    },
    { models: models[use] },
  );
  return { ...hosted, arrives: response.resolve, goneAfterMs: goneAfterMs.promise };
}

const requestEnded = (service: TestService) => service.log.find(({ msg }) => msg === 'request');

describe.each(stages)('while $name ($use)', (stage) => {
  const { use, send, begun = false, calls = 1 } = stage;

  test('a disconnect aborts the upstream call', async () => {
    const caller = new AbortController();
    const { service, provider, arrives, goneAfterMs } = await reach(stage, () => caller.abort());
    const response = send(service, caller.signal);
    response.then(arrives, () => undefined);
    await expect(response.then((answer) => answer.arrayBuffer())).rejects.toThrow();
    expect(await goneAfterMs).toBeLessThan(limitMs);
    if (stage.name.includes('uploaded')) expect(provider.calls[0]!.received).toBeLessThan(large.length);
    await expect.poll(() => service.leftovers()).toEqual([]);
    await expect.poll(() => requestEnded(service)).toMatchObject({ status: 499 });
    expect(service.log.filter(({ level }) => level >= 50)).toEqual([]);
    expect(provider.calls).toHaveLength(calls);
    // An abort does not affect the health of the provider.
    provider.behave(use === 'tts' ? speaks(mp3) : answers(200, fineAnswer));
    const again = use === 'tts' ? says('Hi.') : uploads('native');
    expect((await again(service)).status).toBe(200);
  });

  test('shutdown aborts the upstream call', async () => {
    let stopped: Promise<void> | undefined;
    const { service, arrives, goneAfterMs } = await reach(stage, (hosted) => {
      stopped = hosted.service.service.stop(0);
    });
    const response = send(service);
    response.then(arrives, () => undefined);
    if (begun) await expect(response.then((answer) => answer.arrayBuffer())).rejects.toThrow();
    else expect(await failureCode(await response)).toBe('shutting-down');
    expect(await goneAfterMs).toBeLessThan(limitMs);
    await stopped;
  });
});

const startStt = (behavior: Behavior, options?: HostedOptions) => startHosted('hosted-stt', behavior, options);

test('a disconnect before a retry prevents it', async () => {
  const caller = new AbortController();
  const { service, provider } = await startStt(async (call) => {
    await answers(503, '', { 'retry-after': '1' })(call);
    setTimeout(() => caller.abort(), 100); // well within the second that the provider asks for
  });
  await expect(upload(service, recording, { signal: caller.signal })).rejects.toThrow();
  await expect.poll(() => requestEnded(service)).toMatchObject({ status: 499 });
  await expect.poll(() => service.leftovers()).toEqual([]);
  await service.service.stop(0); // nothing can follow now
  expect(provider.calls).toHaveLength(1);
});

test('TRANSCRIBE_TIMEOUT aborts the upstream call, with 504', async () => {
  const { service, provider } = await startStt(() => undefined, { env: { TRANSCRIBE_TIMEOUT: '1' } });
  const response = await upload(service, recording);
  expect(await response.json()).toMatchObject({ status: 504, code: 'engine-timeout' });
  await provider.calls[0]!.gone;
});
