/** Long recordings as jobs: in parts, with every word once, and nothing left when they are over. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { wavHeader } from '../../lib/wav.ts';
import { JobDatabase } from '../../src/jobs/database.ts';
import { JobStore } from '../../src/jobs/store.ts';
import { multipart, multipartType } from '../api/support/forms.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';
import { bearer, keysFile, tokenOf } from '../keys/support/keys.ts';
import { readSeries } from '../metrics/support.ts';
import { create, end, eventsOf, formOf, read, remove, transcript } from './support/jobs.ts';
import { hookEngine, speechOf, textOf, wordEngine } from './support/speech.ts';

const start = ({ env, ...options }: TestServiceOptions = {}) =>
  startTestService({ ...wordEngine, jobRetryMs: [1, 1, 1], ...options, env: { TRANSCRIBE_MAX_SECONDS: '4', ...env } });

const recordings = ({ dir }: TestService) => readdir(join(dir, 'data/jobs/recordings')).catch(() => []);

afterEach(() => void vi.restoreAllMocks());

describe('a job', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('has every word once, in order, at its time', async () => {
    const { id, ...accepted } = await create(service, speechOf(60), { model: 'words', timestamps: 'word' });
    expect(accepted).toMatchObject({ model: 'words', segments: [], result: null, problem: null, expires_at: null });
    const job = await end(service, id);
    expect(job).toMatchObject({
      status: 'completed',
      duration_ms: 30_000,
      processed_ms: 30_000,
      ahead: 0,
      problem: null,
    });
    expect(job.result).toMatchObject({ text: textOf(60), language: 'de', duration_ms: 30_000, model: 'words' });
    const starts = Array.from({ length: 60 }, (_, n) => n * 500 + 100);
    expect(job.result?.words?.map(({ start_ms }) => start_ms)).toEqual(starts);
    expect(job.result?.segments).toEqual(job.segments);
    expect(job.segments.map(({ text }) => text).join(' ')).toBe(textOf(60));
    expect(Date.parse(job.expires_at ?? '')).toBeGreaterThan(Date.parse(job.created_at));
  });

  test('of a model without segments has one for each part', async () => {
    const { id } = await create(service, speechOf(20), { model: 'plain' });
    const job = await end(service, id);
    expect(job.result?.text).toBe(textOf(20));
    expect(job.result?.segments).toBeUndefined();
    expect(job.segments.length).toBeGreaterThan(2);
    expect(job.segments.at(-1)?.end_ms).toBe(10_000);
  });

  test('passes on the language of the first part with speech', async () => {
    const languages: unknown[] = [];
    using _hook = hookEngine(({ language }) => languages.push(language));
    const silence = Buffer.alloc(5 * 32_000);
    await end(service, (await create(service, Buffer.concat([speechOf(20), silence]).subarray(0, 20 * 16_000))).id);
    expect(languages[0]).toBeUndefined();
    expect(new Set(languages.slice(1))).toEqual(new Set(['de']));
  });

  test.each([
    ['reads its parts in the decoded recording', 'words', true, 20, ['decoded.wav']],
    ['gets a file of each part alone, and no copy of it', 'words', false, 20, ['decoded.wav', 'part.wav']],
    ['gets a file of each part alone, which it reads by itself', 'plain', false, 20, ['decoded.wav', 'part.wav']],
    ['gets the decoded recording if that is one part', 'plain', false, 6, ['decoded.wav']],
  ])('of an engine that %s', async (_what, model, decodes, words, expected) => {
    const engines = { words: { use: './words.mjs', decodes } };
    await using own = await start({ config: JSON.stringify({ engines }) });
    const samples = Buffer.concat([speechOf(words).subarray(44), Buffer.alloc(10)]); // not a whole millisecond
    const received: { bytes: number; files: readonly string[] }[] = [];
    using _hook = hookEngine(async ({ bytes }) => received.push({ bytes, files: await own.leftovers() }));
    const { id } = await create(own, Buffer.concat([wavHeader(samples.length), samples]), { model });
    expect(await end(own, id)).toMatchObject({ duration_ms: words * 500 + 1, result: { text: textOf(words) } });
    for (const { files } of received) {
      const names = files.filter((path) => path.endsWith('.wav')).map((path) => basename(path));
      expect(names.toSorted()).toEqual(expected);
    }
    expect(received.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(samples.length);
  });

  test('keeps no recording after its end, and nothing after its deletion', async () => {
    const { id } = await create(service, speechOf(70));
    await end(service, id);
    const jobs = join(service.dir, 'data/jobs');
    await expect.poll(() => readdir(join(jobs, 'recordings', id))).toEqual([]);
    const contents = () => readFile(join(jobs, 'jobs.sqlite'), 'utf8'); // from here on its lock is lost
    expect(await contents()).toContain('w69');
    expect((await remove(service, id)).status).toBe(204);
    expect(await contents()).not.toContain('w69');
    expect(await recordings(service)).not.toContain(id);
    expect((await remove(service, id)).status).toBe(404);
    expect(await service.leftovers()).toEqual([]);
  });

  test('that is deleted ends its work', async () => {
    const begun = Promise.withResolvers<AbortSignal>();
    using _hook = hookEngine(({ signal }) => {
      begun.resolve(signal);
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    });
    const { id } = await create(service, speechOf(10));
    const signal = await begun.promise;
    const events = eventsOf(service, id);
    expect((await remove(service, id)).status).toBe(204);
    expect(signal.aborted).toBe(true);
    expect(await service.leftovers()).toEqual([]);
    expect((await events).at(-1)).toMatchObject({
      type: 'transcription.failed',
      problem: { code: 'transcription-not-found' },
    });
  });

  test('has the transcript in four formats', async () => {
    const { id } = await create(service, speechOf(10));
    await end(service, id);
    const [text, srt, vtt, json] = await Promise.all(
      [undefined, 'srt', 'vtt', 'json'].map((format) => transcript(service, id, format)),
    );
    expect(await text?.text()).toBe(textOf(10));
    expect(text?.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(srt?.headers.get('content-type')).toContain('application/x-subrip');
    expect(await srt?.text()).toContain('2\n00:00:00,600 --> 00:00:00,700\nw1\n');
    expect(vtt?.headers.get('content-type')).toBe('text/vtt; charset=utf-8');
    expect(await vtt?.text()).toMatch(/^WEBVTT\n\n00:00:00\.100 --> /);
    expect(await json?.json()).toMatchObject({
      text: textOf(10),
      language: 'de',
      segments: expect.any(Array) as unknown,
    });
  });

  test('has no transcript before its first segment', async () => {
    const held = Promise.withResolvers<undefined>();
    using _hook = hookEngine(() => held.promise);
    const { id } = await create(service, speechOf(4));
    const answer = await transcript(service, id);
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ code: 'transcript-not-ready', retry_after: 5 });
    held.resolve(undefined);
    expect((await end(service, id)).status).toBe('completed');
  });

  test('shows what it has so far', async () => {
    const held = Promise.withResolvers<undefined>();
    const reached = Promise.withResolvers<undefined>();
    let parts = 0;
    using _hook = hookEngine(() => {
      parts += 1;
      if (parts === 1) return undefined;
      reached.resolve(undefined);
      return held.promise;
    });
    const { id } = await create(service, speechOf(20));
    await reached.promise;
    const job = await read(service, id);
    expect(job).toMatchObject({ status: 'running', duration_ms: 10_000, result: null });
    expect(job.segments[0]).toEqual({ start_ms: 100, end_ms: 200, text: 'w0' });
    expect(job.processed_ms).toBeGreaterThan(200);
    expect(job.processed_ms).toBeLessThan(10_000);
    expect(await transcript(service, id).then((answer) => answer.text())).toMatch(/^w0 w1 /);
    held.resolve(undefined);
    expect((await end(service, id)).result?.text).toBe(textOf(20));
  });
});

describe('the events of a job', () => {
  test('can be resumed after any of them', async () => {
    await using service = await start();
    const { id } = await create(service, speechOf(16));
    const all = await eventsOf(service, id);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_event, place) => place));
    expect(all[0]).toMatchObject({ type: 'transcription.started', id, model: 'words' });
    expect(all.at(-1)).toMatchObject({ type: 'transcription.completed', result: { text: textOf(16) } });
    expect(all.filter(({ type }) => type === 'segment.created')).toHaveLength(16);
    for (const last of [0, 5, all.length - 2, all.length - 1, 1_000]) {
      expect(await eventsOf(service, id, last)).toEqual(all.slice(last + 1));
    }
  });
});

describe('a part that fails', () => {
  const failing = (code: string) =>
    Object.assign(new Error('It fails on purpose.'), { [Symbol.for('parlance.engine-error')]: true, code });

  test.each(['provider-rate-limited', 'overloaded', 'engine-timeout', 'provider-unreachable'])(
    'for a reason that passes (%s) is tried again',
    async (code) => {
      await using service = await start();
      let calls = 0;
      using _hook = hookEngine(() => {
        calls += 1;
        if (calls === 2) throw failing(code);
      });
      const { id } = await create(service, speechOf(16));
      expect((await end(service, id)).result?.text).toBe(textOf(16));
    },
  );

  test('for another reason ends the job, which keeps what it has and says where', async () => {
    await using service = await start();
    using _hook = hookEngine(({ first }) => {
      if ((first ?? 0) > 0) throw failing('provider-auth-failed');
    });
    const { id } = await create(service, speechOf(16));
    const job = await end(service, id);
    expect(job).toMatchObject({ status: 'failed', result: null, problem: { code: 'provider-auth-failed' } });
    expect(job.problem?.detail).toMatch(/^From minute 0 on: /);
    expect(job.segments.length).toBeGreaterThan(0);
    expect(await transcript(service, id).then((answer) => answer.text())).toMatch(/^w0 /);
    expect((await eventsOf(service, id)).at(-1)).toMatchObject({ type: 'transcription.failed', problem: job.problem });
  });

  test('because its key has lost the model ends the job', async () => {
    const keys = (models: string[]) => keysFile({ name: 'app', models });
    const files = { ...wordEngine.files, 'keys.yaml': keys(['words', 'plain']) };
    await using service = await start({ files, env: { API_KEYS_FILE: 'keys.yaml' } });
    using _hook = hookEngine(async () => {
      await writeFile(join(service.dir, 'keys.yaml'), keys(['plain']));
      await service.service.reload();
    });
    const headers = bearer(tokenOf('app'));
    const { id } = await create(service, speechOf(16), { model: 'words' }, headers);
    const { segments, ...job } = await end(service, id, headers);
    expect(job).toMatchObject({ status: 'failed', problem: { code: 'model-not-allowed' } });
    expect(segments.map(({ text }) => text)).toContain('w0'); // the part in flight has finished
  });

  test('too often ends the job', async () => {
    await using service = await start();
    let calls = 0;
    using _hook = hookEngine(() => {
      calls += 1;
      throw failing('provider-unreachable');
    });
    const { id } = await create(service, speechOf(4));
    expect(await end(service, id)).toMatchObject({ status: 'failed', problem: { code: 'provider-unreachable' } });
    expect(calls).toBe(4);
  });

  test('because it cannot be decoded ends the job', async () => {
    await using service = await start();
    const { id } = await create(service, Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'));
    expect(await end(service, id)).toMatchObject({ status: 'failed', problem: { code: 'recording-undecodable' } });
  });

  test('because it is too long ends the job', async () => {
    await using service = await start({ env: { TRANSCRIBE_JOB_MAX_SECONDS: '2' } });
    const { id } = await create(service, speechOf(10));
    expect(await end(service, id)).toMatchObject({ status: 'failed', problem: { code: 'recording-too-long' } });
  });
});

describe('limits', () => {
  test('a caller has eight jobs that are not over', async () => {
    await using service = await start();
    const held = Promise.withResolvers<undefined>();
    using _hook = hookEngine(() => held.promise);
    const jobs = await Promise.all(Array.from({ length: 8 }, () => create(service, speechOf(2))));
    await expect(create(service, speechOf(2))).rejects.toThrow(/^429 .*concurrency-limited/);
    await expect
      .poll(async () => (await Promise.all(jobs.map(({ id }) => read(service, id)))).map(({ ahead }) => ahead).sort())
      .toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await remove(service, jobs[0]?.id ?? '');
    const { id } = await create(service, speechOf(2));
    held.resolve(undefined);
    await end(service, id);
  });

  test('a recording that is too large is refused, and by /transcribe with the way to go', async () => {
    await using service = await start({ env: { TRANSCRIBE_JOB_MAX_MB: '1' } });
    await expect(create(service, speechOf(40), { model: 'words' })).resolves.toMatchObject({});
    await expect(create(service, Buffer.concat([speechOf(80)]))).rejects.toThrow(/^422 .*1 MB \(1048576 bytes\)/);
    const large = formOf(Buffer.alloc(27_000_000));
    const answer = await service.api('/transcribe', { method: 'POST', body: large });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain('POST /api/v1/transcriptions');
  });

  test('what does not fit the share of the disk is refused before the upload', async () => {
    await using service = await start({ env: { DISK_BUDGET: '4000000' } });
    await expect(create(service, speechOf(100))).rejects.toThrow(/^503 .*storage-full/);
    await expect.poll(() => service.service.disk.used).toBe(0);
    expect(await recordings(service)).toEqual([]);
    await end(service, (await create(service, speechOf(10))).id);
  });

  test('a burst right after the start gets no more than eight', async () => {
    const held = Promise.withResolvers<undefined>();
    using _hook = hookEngine(() => held.promise);
    await using service = await start();
    const burst = Array.from({ length: 24 }, () =>
      service.api('/transcriptions', { method: 'POST', body: formOf(speechOf(1)) }).then(({ status }) => status),
    );
    const statuses = Object.groupBy(await Promise.all(burst), String);
    held.resolve(undefined);
    expect({ accepted: statuses['202']?.length, refused: statuses['429']?.length }).toEqual({
      accepted: 8,
      refused: 16,
    });
  });

  test('a job is gone when its time is over', async () => {
    await using service = await start({ env: { TRANSCRIBE_JOB_KEEP: '3' } }); // with time to read it
    const { id } = await create(service, speechOf(4));
    await end(service, id);
    await expect.poll(() => recordings(service)).toEqual([]);
    await expect(read(service, id)).rejects.toThrow(/^404 /);
    await expect.poll(() => service.service.disk.used).toBe(0);
  });

  test('a key sees its own jobs only', async () => {
    await using service = await start({ env: { API_KEYS: 'one,two' } });
    const one = { authorization: 'Bearer one' };
    const { id } = await create(service, speechOf(4), {}, one);
    expect((await end(service, id, one)).status).toBe('completed');
    await expect(read(service, id, { authorization: 'Bearer two' })).rejects.toThrow(/^404 .*transcription-not-found/);
    expect((await remove(service, id, { authorization: 'Bearer two' })).status).toBe(404);
    expect((await remove(service, id, one)).status).toBe(204);
  });

  test('the parts count in the budget of the key, and wait when it is spent', async () => {
    const app = tokenOf('app');
    const keys = keysFile({ name: 'app', limits: { audioMinutesPerDay: 0.1 } });
    const files = { ...wordEngine.files, 'keys.yaml': keys };
    await using service = await start({ files, env: { API_KEYS_FILE: 'keys.yaml', METRICS_PORT: '0' } });
    const headers = { authorization: `Bearer ${app}` };
    const { id } = await create(service, speechOf(40), { model: 'words' }, headers);
    const waits = () => service.log.filter(({ msg, code }) => msg === 'a step of a job failed; retrying' && code === 'quota-exceeded'); // prettier-ignore
    await expect.poll(waits).toHaveLength(1);
    expect(await read(service, id, headers)).toMatchObject({ status: 'running', problem: null });
    const series = await readSeries(service);
    expect(series.get('parlance_jobs{state="running"}')).toBe(1);
    expect(series.get('parlance_job_retries_total')).toBe(1);
    expect(series.get('parlance_job_audio_seconds_total')).toBeGreaterThan(6);
    expect(series.get('parlance_jobs_bytes')).toBeGreaterThan(speechOf(40).length);
    expect((await remove(service, id, headers)).status).toBe(204);
    await expect(create(service, speechOf(4), {}, headers)).rejects.toThrow(/^429 .*quota-exceeded/);
  });

  test('TRANSCRIBE_JOBS=off turns them off', async () => {
    await using service = await start({ env: { TRANSCRIBE_JOBS: 'off' } });
    await expect(create(service, speechOf(4))).rejects.toThrow(/^503 .*TRANSCRIBE_JOBS/);
    const answer = await service.api('/transcribe', { method: 'POST', body: formOf(Buffer.alloc(27_000_000)) });
    expect(await answer.text()).not.toContain('/transcriptions');
  });
});

describe('a disk that is full', () => {
  const full = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });

  test('makes a job wait, and ends none', async () => {
    const { addPart } = JobDatabase.prototype;
    let [failures, stored] = [0, 0];
    vi.spyOn(JobDatabase.prototype, 'addPart').mockImplementation(function (this: JobDatabase, ...args) {
      failures += 1;
      if (failures <= 6) throw full;
      addPart.apply(this, args);
      stored += Buffer.byteLength(args[1]);
    });
    await using service = await start();
    const { id } = await create(service, speechOf(16));
    expect((await end(service, id)).result?.text).toBe(textOf(16));
    expect(failures).toBeGreaterThan(6);
    await expect.poll(() => service.service.disk.used).toBe(4096 + stored); // nothing for the writes that failed
  });

  test('refuses a job that cannot be recorded, and keeps nothing of it', async () => {
    vi.spyOn(JobDatabase.prototype, 'insert').mockImplementationOnce(() => {
      throw full;
    });
    await using service = await start();
    await expect(create(service, speechOf(4))).rejects.toThrow(/^503 .*storage-full/);
    await expect.poll(() => recordings(service)).toEqual([]);
    await expect.poll(() => service.service.disk.used).toBe(0);
    expect((await end(service, (await create(service, speechOf(4))).id)).status).toBe('completed');
  });

  test('keeps a job that cannot be removed, and says so', async () => {
    await using service = await start();
    const { id } = await create(service, speechOf(4));
    await end(service, id);
    vi.spyOn(JobDatabase.prototype, 'remove').mockImplementationOnce(() => {
      throw full;
    });
    expect((await remove(service, id)).status).toBe(503);
    expect((await read(service, id)).result?.text).toBe(textOf(4));
    expect((await remove(service, id)).status).toBe(204);
  });
});

describe('a caller who has disconnected', () => {
  test.each(['before', 'after'])('%s the row is written, and before the 202, leaves no job', async (moment) => {
    await using service = await start();
    const held = Promise.withResolvers<undefined>();
    const reached = Promise.withResolvers<undefined>();
    const { accept } = JobStore.prototype;
    vi.spyOn(JobStore.prototype, 'accept').mockImplementationOnce(async function (this: JobStore, ...args) {
      const job = moment === 'after' ? await accept.apply(this, args) : undefined;
      reached.resolve(undefined);
      await held.promise;
      return job ?? accept.apply(this, args);
    });
    const leaving = new AbortController();
    const { signal } = leaving;
    const gone = service.api('/transcriptions', { method: 'POST', body: formOf(speechOf(4)), signal });
    await reached.promise;
    leaving.abort();
    await expect(gone).rejects.toThrow();
    await expect.poll(() => service.log.some(({ msg, status }) => msg === 'request' && status === 499)).toBe(true);
    held.resolve(undefined);
    await expect.poll(() => recordings(service)).toEqual([]);
    await expect.poll(() => service.service.disk.used).toBe(0);
  });

  test('during the upload leaves no job', async () => {
    await using service = await start();
    const { port } = new URL(service.url);
    const socket = connect(Number(port), '127.0.0.1');
    const half = multipart({ name: 'file', value: speechOf(20), filename: 'a.wav' }).subarray(0, 100_000);
    const head = `POST /api/v1/transcriptions HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 700000\r\n`;
    socket.write(`${head}Content-Type: ${multipartType['content-type']}\r\n\r\n`);
    socket.write(half);
    await expect.poll(() => recordings(service)).toHaveLength(1);
    socket.destroy();
    await expect.poll(() => recordings(service)).toEqual([]);
    await expect.poll(() => service.service.disk.used).toBe(0);
  });
});
