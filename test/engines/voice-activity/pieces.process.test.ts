/** Only what the detector takes for speech is transcribed: words, times and encodes, with the real library and whisper.cpp. */
import { readdirSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { multipart, multipartType } from '../../api/support/forms.ts';
import { upload, type Timed } from '../../support/local-service.ts';
import { noise } from '../../support/noise.ts';
import { ticksOf, until } from '../../support/processes.ts';
import { describeWith } from '../../support/programs.ts';
import { recognizerModel } from '../../support/recognizer-model.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { tonePcm, type Language, type Word } from '../../support/tone-model.ts';
import { expectGuarantees, readStream } from '../../transcription/support/stream.ts';
import { rate, recordingOf, startDetecting } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

interface Spoken {
  /** In seconds: the first word follows half a second later. */
  readonly at: number;
  readonly words: readonly Word[];
  readonly language?: Language;
}

/** So much is kept before an onset. */
const marginSeconds = 0.3;

/**
 * Faint noise with words in it. Each begins with a rustle, which is no word of the tone model: what is kept before that is
 * the slot in which the model expects the language.
 */
function recording(seconds: number, ...spoken: readonly Spoken[]): Buffer {
  const bytes = noise(2 * seconds * rate);
  const faint = (i: number) => bytes.readInt16LE(2 * i) >> 9;
  const samples = new Int16Array(seconds * rate);
  for (let i = 0; i < samples.length; i++) samples[i] = faint(i);
  for (const { at, ...speech } of spoken) {
    const from = Math.round(at * rate);
    const tones = tonePcm({ ...speech, rate, tailSeconds: 0 });
    for (const [i, tone] of tones.entries()) samples[from + i]! += tone;
    const pilot = speech.language === undefined ? 0.48 : marginSeconds; // in its place
    for (let i = marginSeconds * rate; i < pilot * rate; i++) samples[from + i] = 100 * faint(from + i);
  }
  return recordingOf(samples);
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
const warned = 'voice activity detection has failed; the whole recording is transcribed';

/** 75 s in which two pieces have words; whisper.cpp alone would encode three windows, and one more for the language. */
const memo = recording(75, { at: 8, words: ['alpha', 'bravo'] }, { at: 50, words: ['kilo'] });
const text = 'alpha bravo kilo';

describeWith(['whisper-cli', 'whisper-host'], 'the speech of a recording', (programs) => {
  const program = programs['whisper-cli'];

  it('is transcribed with the times of the recording, for fewer encodes', async () => {
    const { transcribe, encodes } = await startDetecting({ program });
    const transcript = await transcribe(memo, { timestamps: 'word', language: 'en' });
    expect(transcript).toMatchObject({ status: 200, text, language: 'en', duration_ms: 75_000 });
    const expected = [['alpha', 8_500], ['bravo', 9_000], ['kilo', 50_500]] as const; // prettier-ignore
    expect(transcript.words?.map((word) => word.text)).toEqual(expected.map(([word]) => word));
    for (const [index, [, startMs]] of expected.entries()) expectNear(transcript.words?.[index], startMs);
    expect(await encodes()).toEqual([1, 1]);
    const whole = await startDetecting({ program, options: { voiceActivity: 'off' } });
    await whole.transcribe(memo, { language: 'en' });
    expect(await whole.encodes()).toEqual([3]);
    expect(whole.detectors()).toEqual([]);
  });

  it('is reported piece by piece', async () => {
    const { service } = await startDetecting({ program, options: { program, keepLoaded: true } });
    const body = multipart({ name: 'timestamps', value: 'segment' }, { name: 'file', value: memo, filename: 'memo.wav' }); // prettier-ignore
    const { events } = await readStream(service.url, { headers: multipartType, body });
    expectGuarantees(events);
    const segments = events.flatMap((event) => (event.type === 'segment.created' ? [event.segment] : []));
    expect(segments.map((segment) => segment.text)).toEqual(['alpha bravo', 'kilo']);
    [8_000, 50_000].forEach((startMs, index) => expectNear(segments[index], startMs));
    expect(events.at(-1)).toMatchObject({ type: 'transcription.completed', result: { text, segments } });
  });

  it('is read by a loaded model in the file of the recording', async () => {
    const { service, detectors } = await startDetecting({ program, options: { program, keepLoaded: true } });
    const { engine, engineId } = service.service.registry.of('transcription').all[0]!;
    const directory = await temporaryDirectory();
    const path = join(directory, 'memo');
    await writeFile(path, memo);
    const recording = { path, bytes: memo.length, container: 'wav', mediaType: 'audio/wav' } as const;
    const files: string[] = [];
    const onSegment = () => files.push(...readdirSync(join(service.dir, 'data/tmp'), { recursive: true, encoding: 'utf8' })); // prettier-ignore
    const { signal } = new AbortController();
    expect(await engine.transcribe({ recording, model: engineId }, { signal, onSegment })).toMatchObject({ text });
    expect(files.filter((file) => file.endsWith('.wav'))).toEqual([]);
    expect(await readdir(directory)).toHaveLength(2); // the recording, and the decoded one
    expect(detectors()).toHaveLength(1);
  });

  it('has the language of its first piece with words, which is detected once', async () => {
    const { transcribe, encodes } = await startDetecting({ program });
    const spoken = recording(75, { at: 0, words: ['über'], language: 'de' }, { at: 50, words: ['kilo'] });
    expect(await transcribe(spoken)).toMatchObject({ status: 200, text: 'über kilo', language: 'de' });
    expect(await encodes()).toEqual([2, 1]);
  });

  it.each([
    ['again, for the encode that the pieces save', 75, [2, 2]],
    ['only once, where they save none', 60, [2, 1]],
  ])('after a piece without words has its language detected %s', async (_what, seconds, expected) => {
    const { transcribe, encodes } = await startDetecting({ program });
    const rustle = recording(seconds, { at: 1, words: [] }, { at: 50, words: ['kilo'] });
    expect(await transcribe(rustle)).toMatchObject({ status: 200, text: 'kilo', language: 'en' });
    expect(await encodes()).toEqual(expected);
    const whole = await startDetecting({ program, options: { voiceActivity: 'off' } });
    await whole.transcribe(rustle);
    expect(sum(expected)).toBeLessThanOrEqual(sum(await whole.encodes()));
  });

  it.each([
    ['noise', recording(10)],
    ['silence', recordingOf(new Int16Array(10 * rate))],
    ['a sample', recordingOf(new Int16Array(1))],
  ])('is nothing in %s, and starts no recognizer', async (_what, quiet) => {
    const { transcribe, encodes } = await startDetecting({ program });
    const empty = { status: 200, text: '', language: null, segments: [], words: [] };
    expect(await transcribe(quiet, { timestamps: 'word' })).toMatchObject(empty);
    expect(await encodes()).toEqual([]);
  });

  it('is found at the edges of a recording, and in one without a pause', async () => {
    const { transcribe } = await startDetecting({ program });
    const spoken = recording(2, { at: 0, words: ['alpha', 'bravo', 'kilo'] });
    expect(await transcribe(spoken)).toMatchObject({ text, duration_ms: 2_000 });
  });

  it('is found in several recordings at once by one program', async () => {
    const { transcribe, detectors } = await startDetecting({ program, options: { slots: 4 } });
    const transcript = await Promise.all(Array.from({ length: 4 }, () => transcribe(memo)));
    expect(transcript.map((one) => one.text)).toEqual([text, text, text, text]);
    expect(detectors()).toHaveLength(1);
  });

  it('is looked for no more when its caller has left', async () => {
    const { transcribe, service, detectors, encodes } = await startDetecting({ program });
    expect(await transcribe(memo)).toMatchObject({ text });
    const [detector = ''] = detectors();
    const before = { ticks: ticksOf(detector), encodes: await encodes() };
    const leaving = new AbortController();
    const left = upload(service, recording(600), { signal: leaving.signal });
    left.catch(() => {});
    await until('it is busy', () => ticksOf(detector) >= before.ticks + 10);
    const ticks = ticksOf(detector);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await until('nothing is left', async () => (await service.leftovers()).length === 0);
    expect(await encodes()).toEqual(before.encodes);
    expect(await transcribe(memo)).toMatchObject({ text });
    // It has stopped by itself; where a busy machine lets it say so too late, it is ended, and there is another.
    const [next = '', ...others] = detectors();
    expect(others).toEqual([]);
    if (next === detector) expect(ticksOf(next) - ticks).toBeLessThan(4 * before.ticks);
  });

  function expectNear(timed: Timed | undefined, startMs: number): void {
    expect(Math.abs((timed?.start_ms ?? Infinity) - startMs)).toBeLessThanOrEqual(600);
  }
});

describeWith(['whisper-cli'], 'without a detector that works', ({ 'whisper-cli': program }) => {
  const short = recording(3, { at: 0, words: ['alpha', 'bravo'] });
  const asUsual = { status: 200, text: 'alpha bravo' };

  it('which is not installed, the whole recording is transcribed', async () => {
    const { transcribe, encodes, service } = await startDetecting({ program, weights: null });
    expect(await transcribe(short, { language: 'en' })).toMatchObject(asUsual);
    expect(await encodes()).toEqual([1]);
    expect(service.log.filter(({ msg }) => msg === warned)).toEqual([]);
  });

  it.each([
    ['is cut', Buffer.from('not a model'), 0],
    ['ends its program', recognizerModel()['model.onnx'], 3],
  ])('whose file %s, too', async (_what, weights, crashes) => {
    const { transcribe, service, detectors } = await startDetecting({ program, weights });
    for (let n = 0; n <= crashes; n++) expect(await transcribe(short)).toMatchObject(asUsual);
    expect(service.log.filter(({ msg }) => msg === 'a loaded model has crashed')).toHaveLength(crashes);
    expect(service.log.some(({ msg }) => msg === warned)).toBe(crashes > 0); // it is loaded while they are uploaded, too
    expect(detectors()).toEqual([]);
  });

  it('which is killed while it is busy, too; the next recording has one again', async () => {
    const { transcribe, service, detectors } = await startDetecting({ program });
    expect(await transcribe(short)).toMatchObject(asUsual);
    const [detector] = detectors();
    process.kill(Number(detector), 'SIGSTOP'); // it is asked, and does not answer
    const transcribing = transcribe(short);
    await until('the recording is decoded', async () =>
      (await service.leftovers()).some((path) => path.endsWith('.wav')),
    );
    process.kill(Number(detector), 'SIGKILL');
    expect(await transcribing).toMatchObject(asUsual);
    expect(await transcribe(short)).toMatchObject(asUsual);
    expect(detectors()).toHaveLength(1);
  });

  it('for which there is no memory, too', async () => {
    const { transcribe, detectors } = await startDetecting({ program, env: { MEMORY_BUDGET: '1048576' } });
    expect(await transcribe(short)).toMatchObject(asUsual);
    expect(detectors()).toEqual([]);
  });

  it('or with TRANSCRIBE_VAD=off, and for a model with a `vad` of its own, it is not asked', async () => {
    const file = join(import.meta.dirname, 'absent.bin');
    const models = [{ id: 'own', file, vad: file }];
    for (const options of [{ models }, { voiceActivity: 'off' }]) {
      const { service } = await startDetecting({ program, options });
      expect((await service.service.registry.assets.list()).map(({ id }) => id)).not.toContain('voice');
    }
  });
});
