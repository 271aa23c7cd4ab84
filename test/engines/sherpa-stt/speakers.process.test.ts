/** Speakers that the real library finds with handmade models, for which the correct answer is known. */
import { join } from 'node:path';
import type { TranscriptionDiarized, TranscriptionStreamEvent } from 'openai/resources/audio/transcriptions';
import { describe, expect, test } from 'vitest';
import { create, end, formOf } from '../../jobs/support/jobs.ts';
import { conversation, writeSpeakerModels, type Said, type SpeakerModelOptions } from '../../support/speaker-models.ts';
import { sdkOf } from '../../openai/support/audio.ts';
import { expectDiarized, expectStreamEvent } from '../../openai/support/diarized.ts';
import { wav } from '../../support/tone-model.ts';
import { processesWith } from '../../support/processes.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { recordingOf, startRecognizers } from './support.ts';

interface Spoken {
  readonly text: string;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly speaker: string;
}

interface Answer {
  readonly status: number;
  readonly code?: string;
  readonly text: string;
  readonly turns: readonly Spoken[];
  readonly words: readonly Spoken[];
  readonly speakers: readonly { readonly speaker: string; readonly speech_ms: number }[];
}

async function start(models: SpeakerModelOptions = {}, env: Readonly<Record<string, string>> = {}) {
  const folder = await writeSpeakerModels(join(await temporaryDirectory(), 'speakers'), models);
  const { transcribe, service } = await startRecognizers({
    models: { words: { code: 'words' } },
    options: { speakers: { folder, threshold: 0.5 } },
    env,
  });
  const ask = async (said: readonly Said[], fields: Readonly<Record<string, string>> = {}) =>
    (await transcribe(recordingOf(conversation(said).samples), { diarize: 'true', ...fields })) as unknown as Answer;
  return { transcribe, ask, service, folder };
}

const talk: readonly Said[] = [
  { speaker: 0, words: ['alpha', 'bravo', 'kilo'] },
  { speaker: 1, words: ['golf', 'hotel'] },
  { speaker: 0, words: ['kilo', 'delta', 'alpha'] },
  { speaker: 1, words: ['hotel', 'hotel', 'alpha'] },
  { speaker: 2, words: ['bravo', 'alpha', 'kilo'] },
  { speaker: 0, words: ['alpha', 'delta', 'golf'] },
];
const letters = ['A', 'B', 'C'];
const truth = talk.flatMap(({ speaker, words }) => words.map((word) => `${letters[speaker]} ${word}`));
const { turns: trueTurns } = conversation(talk);

describe('a conversation of three', () => {
  test('has every word with its speaker, and turns within 40 ms, as a request and as a job in parts', async () => {
    const { ask, transcribe } = await start();
    const { service: cutting } = await start({}, { TRANSCRIBE_MAX_SECONDS: '5' });
    const plain = await transcribe(recordingOf(conversation(talk).samples));
    const answer = await ask(talk, { timestamps: 'word' });
    expect(answer.text).toBe(plain.text);
    expect(answer.words.map(({ speaker, text }) => `${speaker} ${text}`)).toEqual(truth);
    expect(answer.turns.map(({ speaker, text }) => `${speaker}: ${text}`)).toEqual(
      talk.map(({ speaker, words }) => `${letters[speaker]}: ${words.join(' ')}`),
    );
    for (const [index, { startMs, endMs }] of trueTurns.entries()) {
      expect(Math.abs(answer.turns[index]!.start_ms - startMs)).toBeLessThanOrEqual(40);
      expect(Math.abs(answer.turns[index]!.end_ms - endMs)).toBeLessThanOrEqual(40);
    }
    expect(answer.speakers.map(({ speaker }) => speaker)).toEqual(letters);
    const { id } = await create(cutting, recordingOf(conversation(talk).samples), { diarize: 'true' });
    const { result, processed_ms, duration_ms } = await end(cutting, id);
    expect(result?.turns).toEqual(answer.turns);
    expect(processed_ms).toBe(duration_ms);
  });

  test('has one label with max_speakers=1, and a number that is right changes nothing', async () => {
    const { ask } = await start();
    const one = await ask(talk, { max_speakers: '1' });
    expect(one.speakers.map(({ speaker }) => speaker)).toEqual(['A']);
    const { turns } = await ask(talk);
    expect((await ask(talk, { min_speakers: '3', max_speakers: '3' })).turns).toEqual(turns);
    expect((await ask(talk, { min_speakers: '2', max_speakers: '6' })).turns).toEqual(turns);
  });
});

test('a requested number separates voices that are too alike', async () => {
  const { ask } = await start({ likeness: 0.7 });
  const two = [...talk, ...talk].filter(({ speaker }) => speaker < 2);
  expect((await ask(two)).speakers).toHaveLength(1);
  expect((await ask(two, { min_speakers: '2', max_speakers: '2' })).speakers).toHaveLength(2);
});

test('/v1 has diarized_json for local models, under the name of OpenAI', async () => {
  const { service } = await start();
  const file = new File([new Uint8Array(recordingOf(conversation(talk).samples))], 'talk.wav');
  const call = { file, model: 'gpt-4o-transcribe-diarize', response_format: 'diarized_json' } as const;
  const { audio } = sdkOf(service);
  const expected = talk.map(({ speaker, words }) => ({ speaker: letters[speaker], text: words.join(' ') }));
  const whole: object = await audio.transcriptions.create(call);
  expectDiarized(whole as TranscriptionDiarized);
  expect((whole as TranscriptionDiarized).segments).toMatchObject(expected);
  const events: TranscriptionStreamEvent[] = [];
  for await (const event of await audio.transcriptions.create({ ...call, stream: true })) events.push(event);
  events.forEach(expectStreamEvent);
  expect(events.filter(({ type }) => type === 'transcript.text.segment')).toMatchObject(expected);
  expect(events.at(-1)?.type).toBe('transcript.text.done');
});

describe('known speakers', () => {
  const dataUrl = (samples: Int16Array) => `data:audio/wav;base64,${recordingOf(samples).toString('base64')}`;
  const said = (speaker: number) => conversation([{ speaker, words: ['golf', 'kilo', 'golf'] }]).samples;
  const voice = (speaker: number) => dataUrl(said(speaker));

  async function ask({ url }: { readonly url: string }, known: Readonly<Record<string, string>>) {
    const form = new FormData();
    for (const [name, reference] of Object.entries(known)) {
      form.append('known_speaker_names[]', name);
      form.append('known_speaker_references[]', reference);
    }
    form.set('response_format', 'diarized_json');
    form.set('file', new File([new Uint8Array(recordingOf(conversation(talk).samples))], 'talk.wav'));
    const answer = await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body: form });
    return { status: answer.status, body: (await answer.json()) as TranscriptionDiarized };
  }

  /** The same at /api/v1: references are files. */
  async function speakersOf({ url }: { readonly url: string }, known: ReadonlyMap<string, number>): Promise<string[]> {
    const form = formOf(recordingOf(conversation(talk).samples), { diarize: 'true' });
    for (const [name, speaker] of known) {
      form.append('known_speaker_names', name);
      form.append('known_speaker_references', new File([new Uint8Array(recordingOf(said(speaker)))], 'voice.wav'));
    }
    const answer = await fetch(`${url}/api/v1/transcribe`, { method: 'POST', body: form });
    return ((await answer.json()) as Answer).turns.map(({ speaker }) => speaker);
  }

  test('are named, and strangers are not, in 20 of 20 cases at either API, and nothing of them is left', async () => {
    const { service } = await start();
    const people = ['Ada', 'Bob', '<b>Eve</b>', 'Stranger'];
    for (let subset = 0; subset < 20; subset += 1) {
      const isKnown = (speaker: number) => ((subset * 7) & (1 << speaker)) > 0 || subset === speaker;
      const known = people.flatMap((name, speaker) => (isKnown(speaker) ? [[name, speaker] as const] : []));
      const letters = ['A', 'B', 'C'];
      const labels = new Map<number, string>();
      for (const { speaker } of talk) {
        const label = isKnown(speaker)
          ? people[speaker]!
          : letters[[...labels.keys()].filter((one) => !isKnown(one)).length]!;
        if (!labels.has(speaker)) labels.set(speaker, label);
      }
      const expected = talk.map(({ speaker }) => labels.get(speaker));
      if (subset % 2 === 0) {
        expect(await speakersOf(service, new Map(known))).toEqual(expected);
        continue;
      }
      const { body } = await ask(service, Object.fromEntries(known.map(([name, speaker]) => [name, voice(speaker)])));
      expectDiarized(body);
      expect(body.segments.map(({ speaker }) => speaker)).toEqual(expected);
    }
    await expect.poll(() => service.leftovers()).toEqual([]);
  });

  test.each([
    ['no sound', `data:audio/wav;base64,${Buffer.from('no sound').toString('base64')}`],
    ['cut in its header', `data:audio/wav;base64,${recordingOf(new Int16Array(0)).subarray(0, 30).toString('base64')}`],
    ['silent', dataUrl(new Int16Array(32_000))],
    ['too short', dataUrl(conversation([{ speaker: 0, words: ['golf'], pause: 0 }], 0).samples)],
    ['of NaN', `data:audio/wav;base64,${floatWav(NaN).toString('base64')}`],
    [
      'too long',
      `data:audio/wav;base64,${wav(new Int16Array(31 * 8_000).fill(500), { rate: 8_000, channels: 1 }).toString('base64')}`,
    ],
  ])('a reference that is %s is rejected', async (_what, reference) => {
    const { service } = await start();
    const { status, body } = await ask(service, { Ada: reference });
    expect(body).toMatchObject({ error: { param: 'known_speaker_references' } });
    expect(status).toBe(400);
  });
});

/** 2 s of 32-bit floats. */
function floatWav(value: number): Buffer {
  const samples = Buffer.from(new Float32Array(32_000).fill(value).buffer);
  const header = wav(new Int16Array(samples.length / 2), { rate: 16_000, channels: 1 }).subarray(0, 44);
  header.writeUInt16LE(3, 20);
  header.writeUInt32LE(64_000, 28);
  header.writeUInt16LE(4, 32);
  header.writeUInt16LE(32, 34);
  return Buffer.concat([header, samples]);
}

test('samples that are no sound are no speaker', async () => {
  const { transcribe } = await start();
  for (const value of [NaN, Infinity, -Infinity, 1e30]) {
    const { status, turns } = (await transcribe(floatWav(value), { diarize: 'true' })) as unknown as Answer;
    expect({ status, turns }).toEqual({ status: 200, turns: [] });
  }
});

test('silence has no turns', async () => {
  const { ask } = await start();
  expect(await ask([])).toMatchObject({ status: 200, text: '', turns: [], speakers: [] });
});

test.each([
  ['segmentation', { segmentation: { window_size: 0 } }],
  ['segmentation', { segmentation: { num_classes: undefined } }],
  ['embedding', { embedding: { framework: undefined } }],
  ['embedding', { embedding: { output_dim: 0 } }],
])('a %s that would end the program is not used: %j', async (_what, models) => {
  const { transcribe, service } = await start(models);
  const answer = await service.api('/transcribe/models');
  expect(((await answer.json()) as { data: { supports: string[] }[] }).data[0]?.supports).not.toContain('diarize');
  expect(await transcribe(recordingOf(new Int16Array(16_000)), { diarize: 'true' })).toMatchObject({ status: 422, code: 'parameter-not-supported' }); // prettier-ignore
});

test('a job that is too long for the memory is rejected when it is sent, with the hours that fit', async () => {
  const { service } = await start({}, { MEMORY_BUDGET: '300000000' });
  const call = { method: 'POST', body: formOf(recordingOf(new Int16Array(20 * 60 * 16_000)), { diarize: 'true' }) };
  const answer = await service.api('/transcriptions', call);
  expect(await answer.json()).toMatchObject({ code: 'recording-too-long', detail: expect.stringContaining('up to 0.1 hours') as unknown }); // prettier-ignore
});

test('a request for speakers fails if their program ends, and the next one does not', async () => {
  const { ask, folder } = await start();
  const broken = new AbortController();
  const watching = (async () => {
    while (!broken.signal.aborted) {
      for (const pid of processesWith(folder)) process.kill(Number(pid), 'SIGKILL');
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const answer = await ask(talk);
  broken.abort();
  await watching;
  expect(answer).toMatchObject({ status: 500, code: 'engine-failed' });
  expect(await ask(talk)).toMatchObject({ status: 200 });
});

test('the program ends with a request that is canceled while it searches', async () => {
  const { service, folder } = await start();
  const long = Array.from({ length: 55 }, () => talk).flat();
  const canceled = new AbortController();
  const body = formOf(recordingOf(conversation(long).samples), { diarize: 'true' });
  const answer = await service.api('/transcribe/stream', { method: 'POST', body, signal: canceled.signal });
  for await (const chunk of answer.body!) if (Buffer.from(chunk).includes('transcription.progress')) break;
  expect(processesWith(folder)).not.toEqual([]);
  canceled.abort();
  await expect.poll(() => processesWith(folder), { timeout: 10_000 }).toEqual([]);
});
