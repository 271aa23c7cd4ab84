/** Jobs that ask who spoke: the whole recording is searched once, whatever happens to the service. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hookSearch, referenceOf, soundsIn, voices, withFinder } from '../support/speaker-finder.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { create, end, eventsOf, formOf, read, readEvents, transcript, type SentEvent } from './support/jobs.ts';
import { holdPart, start } from './support/restart.ts';
import { speechOf, textOf } from './support/speech.ts';

/** Reads a stream until this text. */
async function eventsUntil(answer: Response, end: string): Promise<SentEvent[]> {
  let text = '';
  for await (const chunk of answer.body!) if ((text += Buffer.from(chunk).toString()).includes(end)) break;
  return readEvents(new Response(text));
}

test('a job that is resumed after a restart keeps its speakers', async () => {
  const dataDir = await temporaryDirectory();
  let searches = 0;
  using _counted = hookSearch(() => (searches += 1));
  let id: string;
  {
    using held = holdPart(2);
    await using service = await start(dataDir, withFinder);
    ({ id } = await create(service, speechOf(20), { model: 'words', diarize: 'true' }));
    await held.reached;
  }
  await using service = await start(dataDir, withFinder);
  const { result, segments } = await end(service, id);
  expect(result?.turns?.map(({ speaker }) => speaker)).toEqual(['A', 'B']);
  expect(result?.turns?.map(({ text }) => text).join(' ')).toBe(result?.text);
  expect(segments.map(({ speaker }) => speaker)).toEqual(Array.from({ length: 20 }, (_, n) => (n < 10 ? 'A' : 'B')));
  expect(searches).toBe(1);
  const events = await eventsOf(service, id);
  const created = events.filter(({ type }) => type === 'segment.created');
  expect(JSON.stringify(created)).not.toContain('speaker');
});

test('progress moves while the speakers are searched, and after a restart it neither returns nor changes its numbers', async () => {
  const dataDir = await temporaryDirectory();
  const reached = Promise.withResolvers<undefined>();
  let seen: SentEvent[];
  let id: string;
  {
    using _held = hookSearch(({ onProgress, signal }) => {
      onProgress?.(0.5);
      reached.resolve(undefined);
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    await using service = await start(dataDir, withFinder);
    ({ id } = await create(service, speechOf(20), { model: 'words', diarize: 'true' }));
    await reached.promise;
    expect(await read(service, id)).toMatchObject({ processed_ms: 2_500, duration_ms: 10_000, segments: [] });
    seen = await eventsUntil(await service.api(`/transcriptions/${id}/events`), '"processed_ms":2500');
  }
  expect(seen).toHaveLength(26);
  await using service = await start(dataDir, withFinder);
  const again = Promise.withResolvers<number>();
  using _repeated = hookSearch(({ onProgress }) => {
    onProgress?.(0.2);
    const repeated = read(service, id).then(({ processed_ms }) => processed_ms);
    again.resolve(repeated);
    return repeated;
  });
  const whole = await eventsOf(service, id);
  expect(await again.promise).toBe(2_500);
  expect(whole.slice(0, 26)).toEqual(seen);
  expect(whole.map(({ seq }) => seq)).toEqual([...whole.keys()]);
  const progress = whole.flatMap(({ processed_ms }) => (typeof processed_ms === 'number' ? [processed_ms] : []));
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  expect(progress.at(-1)).toBe(10_000);
});

test('known speakers survive a restart, and nothing of them is on the disk when the job is over', async () => {
  const dataDir = await temporaryDirectory();
  const reached = Promise.withResolvers<undefined>();
  let id: string;
  {
    using _held = hookSearch(({ signal }) => {
      reached.resolve(undefined);
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    await using service = await start(dataDir, withFinder);
    const form = formOf(speechOf(20), { model: 'words' });
    for (const [name, voice] of [
      ['Ada', 'second'],
      ['Bob', 'stranger'],
    ] as const) {
      form.append('known_speaker_names', name);
      form.append('known_speaker_references', new File([referenceOf(voice)], 'voice.wav'));
    }
    const answer = await service.api('/transcriptions', { method: 'POST', body: form });
    ({ id } = (await answer.json()) as { id: string });
    await reached.promise;
    expect(await soundsIn(dataDir)).toEqual([voices.second, voices.stranger]);
    expect(await readdir(join(dataDir, 'jobs/recordings', id))).toHaveLength(3);
  }
  await using service = await start(dataDir, withFinder);
  const { result } = await end(service, id);
  expect(result?.speakers?.map(({ speaker }) => speaker)).toEqual(['A', 'Ada']);
  await expect.poll(() => readdir(join(dataDir, 'jobs/recordings', id))).toEqual([]);
  expect(await soundsIn(dataDir)).toEqual([]);
});

test.each([
  ['once is repeated', 1, 'completed'],
  ['again and again fails the job', 9, 'failed'],
])('a search that crashes %s', async (_what, crashes, status) => {
  let searches = 0;
  using _crashing = hookSearch(() => {
    searches += 1;
    if (searches <= crashes) throw new Error('the program ended (SIGKILL)');
  });
  await using service = await start(await temporaryDirectory(), { ...withFinder, jobRetryMs: [1, 1, 1] });
  const { id } = await create(service, speechOf(4), { model: 'words', diarize: 'true' });
  const { problem, ...job } = await end(service, id);
  expect(job.status).toBe(status);
  expect(problem?.code).toBe(status === 'failed' ? 'engine-failed' : undefined);
  expect(searches).toBe(2);
});

test('a name is text in every format', async () => {
  await using service = await start(await temporaryDirectory(), withFinder);
  const name = `<b>"Eve"</b> & {{x}} 1 --> 2 `;
  const form = formOf(speechOf(6), { model: 'words', known_speaker_names: name });
  form.append('known_speaker_references', new File([referenceOf('first')], 'voice.wav'));
  const { id } = (await (await service.api('/transcriptions', { method: 'POST', body: form })).json()) as {
    id: string;
  };
  expect((await end(service, id)).result?.speakers).toMatchObject([{ speaker: name }, { speaker: 'A' }]);
  const textOf = async (format: string) => (await transcript(service, id, format)).text();
  expect(await textOf('text')).toBe('<b>"Eve"</b> & {{x}} 1 -> 2: w0 w1 w2\nA: w3 w4 w5\n');
  expect(await textOf('srt')).toContain('\n<b>"Eve"</b> & {{x}} 1 -> 2: w0\n\n2\n');
  expect(await textOf('vtt')).toContain('\n<v &lt;b&gt;"Eve"&lt;/b&gt; &amp; {{x}} 1 -&gt; 2>w0\n\n');
  expect(JSON.stringify(service.log)).not.toContain('Eve');
});

test('a job has the speaker of each word if the model has no segments', async () => {
  await using service = await start(await temporaryDirectory(), withFinder);
  const { id } = await create(service, speechOf(6), { model: 'only words', diarize: 'true' });
  const { result } = await end(service, id);
  expect(result?.turns).toMatchObject([
    { speaker: 'A', text: textOf(3) },
    { speaker: 'B', text: textOf(3, 3) },
  ]);
});

test('a job of a model without times of words is rejected when it is sent', async () => {
  await using service = await start(await temporaryDirectory(), withFinder);
  await expect(create(service, speechOf(2), { model: 'plain', diarize: 'true' })).rejects.toThrow(/422 .*parameter-not-supported/); // prettier-ignore
});
