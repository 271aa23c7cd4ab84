/** `channels=separate` of the native API: each channel of a stereo recording is one speaker. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { samplesPerMs } from '../../../lib/wav.ts';
import { create, end, eventsOf, formOf, transcript } from '../../jobs/support/jobs.ts';
import { hookEngine, wordEngine } from '../../jobs/support/speech.ts';
import { readEventStream } from '../../support/event-stream.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { wav } from '../../support/tone-model.ts';

const slotMs = 500;

/** Word n begins at n/2 s, on the channel that `speakers` names; `-` is a pause, and `=` is on both. */
function stereo(speakers: string, channels = 2): Buffer {
  const samples = new Int16Array(speakers.length * slotMs * samplesPerMs * channels);
  for (const [n, speaker] of Array.from(speakers).entries()) {
    for (let i = 100 * samplesPerMs; i < 200 * samplesPerMs; i += 1) {
      const at = (n * slotMs * samplesPerMs + i) * channels;
      if (speaker === 'A' || speaker === '=') samples[at] = 1_000 + 10 * n;
      if (speaker === 'B' || speaker === '=') samples[at + 1] = 1_000 + 10 * n;
    }
  }
  return wav(samples, { rate: 16_000, channels });
}

const textOf = (...words: readonly number[]) => words.map((n) => `w${n}`).join(' ');
const turn = (speaker: string, ...words: readonly number[]) => ({
  speaker,
  text: textOf(...words),
  start_ms: words[0]! * slotMs + 100,
  end_ms: words.at(-1)! * slotMs + 200,
});

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ...wordEngine, env: { TRANSCRIBE_MAX_SECONDS: '4' } });
});
afterAll(() => service[Symbol.asyncDispose]());
afterEach(() => expect.poll(() => service.leftovers()).toEqual([]));

async function transcribe(recording: Uint8Array, fields: Readonly<Record<string, string>> = {}) {
  const body = formOf(recording, { model: 'words', channels: 'separate', ...fields });
  const answer = await service.api('/transcribe', { method: 'POST', body });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

describe('POST /transcribe', () => {
  const talk = stereo('AABB-A');
  const turns = [turn('A', 0, 1), turn('B', 2, 3), turn('A', 5)];

  test('gives each channel to one speaker, in order of time', async () => {
    const { status, body } = await transcribe(talk);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ text: textOf(0, 1, 2, 3, 5), language: 'de', duration_ms: 3_000, model: 'words', turns },
      speakers: [
        { speaker: 'A', speech_ms: 700 },
        { speaker: 'B', speech_ms: 600 },
      ],
    });
  });

  test('adds the speakers to segments and words', async () => {
    const { body } = await transcribe(talk, { timestamps: 'word' });
    const spoken = Array.from('AABBA', (speaker, index) => ({ speaker, text: textOf([0, 1, 2, 3, 5][index]!) }));
    expect(body).toMatchObject({ turns, words: spoken, segments: spoken });
  });

  test('keeps both when they speak at once', async () => {
    const mostlyApart = stereo('A=BAABBAABBA'.slice(0, 7));
    const { body } = await transcribe(mostlyApart);
    expect(body.text).toBe(textOf(0, 1, 1, 2, 3, 4, 5, 6));
  });

  test('does not transcribe a silent channel', async () => {
    const calls: unknown[] = [];
    using _hook = hookEngine(({ first }) => calls.push(first));
    const { body } = await transcribe(stereo('-BB-'));
    expect(body).toMatchObject({ text: textOf(1, 2), turns: [turn('B', 1, 2)] });
    expect(calls).toEqual([1]);
    expect((await transcribe(stereo('----'))).body).toMatchObject({ text: '', turns: [], speakers: [] });
  });

  test.each([
    ['one channel', stereo('AA', 1), 'The recording has one channel; separate channels need exactly two.'],
    ['three channels', stereo('AB', 3), 'The recording has 3 channels; separate channels need exactly two.'],
    ['the same sound', stereo('=='), 'The two channels carry the same sound: they are not two speakers.'],
  ])('rejects a recording with %s', async (_what, recording, detail) => {
    const { status, body } = await transcribe(recording);
    expect(body).toMatchObject({ code: 'parameter-not-supported', detail });
    expect(status).toBe(422);
  });

  test('rejects a model without times before it reads the recording', async () => {
    const { status, body } = await transcribe(Buffer.from('no recording'), { model: 'plain' });
    expect(body).toMatchObject({ code: 'parameter-not-supported', errors: [{ pointer: '/channels' }] });
    expect(status).toBe(422);
  });

  test('mixes the channels without the field', async () => {
    const { body } = await transcribe(talk, { channels: 'mixed' });
    expect(Object.keys(body)).not.toContain('turns');
  });

  test('streams no segment before it knows all of them', async () => {
    const body = formOf(talk, { model: 'words', channels: 'separate' });
    const answer = await service.api('/transcribe/stream', { method: 'POST', body });
    const events = readEventStream(await answer.text(), (what) => new Error(what));
    expect(events.map(({ type }) => type)).not.toContain('segment.created');
    expect(events.at(-1)).toMatchObject({ type: 'transcription.completed', result: { turns } });
  });
});

describe('a job', () => {
  const speakers = 'AABBB-ABAABBABBBAAAA';
  const spoken = Array.from(speakers).flatMap((speaker, n) => (speaker === '-' ? [] : [{ speaker, n }]));

  test('has every word once, with its speaker, whatever its parts are', async () => {
    const { id } = await create(service, stereo(speakers), {
      model: 'words',
      channels: 'separate',
      timestamps: 'word',
    });
    const { result, segments } = await end(service, id);
    expect(result?.words?.map(({ speaker, text }) => `${speaker} ${text}`)).toEqual(spoken.map(({ speaker, n }) => `${speaker} w${n}`)); // prettier-ignore
    expect(result?.turns?.map(({ speaker }) => speaker).join('')).toBe('ABABABABA');
    expect(segments).toEqual(result?.segments);
    expect((await eventsOf(service, id)).at(-1)).toMatchObject({ result });
  });

  test('has its speakers in every format', async () => {
    const { id } = await create(service, stereo('AB'), { model: 'words', channels: 'separate' });
    await end(service, id);
    const read = async (format: string) => (await transcript(service, id, format)).text();
    expect(await read('text')).toBe('A: w0\nB: w1\n');
    expect(await read('srt')).toContain('\nA: w0\n');
    expect(await read('vtt')).toContain('\n<v B>w1\n');
    expect(JSON.parse(await read('json'))).toMatchObject({ turns: [turn('A', 0), turn('B', 1)] });
  });

  test('fails by name if the recording has one channel', async () => {
    const { id } = await create(service, stereo('AA', 1), { model: 'words', channels: 'separate' });
    expect(await end(service, id)).toMatchObject({ status: 'failed', problem: { code: 'parameter-not-supported' } });
  });
});
