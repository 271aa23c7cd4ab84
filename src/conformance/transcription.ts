/** The rules for engines of transcription. An engine that keeps them can be put into the settings. */
import type { Recording, Transcript, TranscriptionCall } from '../../engines/contract/index.ts';
import { engineErrorOf, expectRefusal, expectThat, shown, type Check } from './kit.ts';
import {
  check,
  endingChecks,
  firstThatWorks,
  leaveAtSeveralMoments,
  listingChecks,
  localCheck,
  optionsCheck,
  type Opened,
  type Subject,
} from './subject.ts';

export interface TranscriptionSubject extends Subject {
  /** A recording in a directory of its own, which goes with it. */
  readonly record: (sound: Sound) => Promise<SubjectRecording>;
}

/** Words that the model understands; a second of silence; and what looks like a recording but is none. */
export type Sound = 'words' | 'silence' | 'nonsense';

export interface SubjectRecording extends Recording, AsyncDisposable {
  readonly durationMs: number;
}

/** How far off an engine's own measure of the length may be: codecs pad. */
const toleranceMs = 250;

/** Two letters that stand for no language. */
const noLanguage = 'qq';

export const transcriptionChecks: readonly Check<TranscriptionSubject>[] = [
  ...listingChecks('transcription'),

  check('a model that it does not serve is refused', async (opened) => {
    await using recording = await opened.record('words');
    const call = transcribe(opened, recording, { model: 'no-such-model' });
    await expectRefusal('unknown-model', call, 'the model "no-such-model"');
  }),

  check('words become a transcript', async (opened) => {
    await using recording = await opened.record('words');
    const { text, language, durationMs } = transcriptOf(await transcribe(opened, recording));
    expectThat(typeof text === 'string' && text !== '', `the transcript of words has the text ${shown(text)}`);
    expectThat(!/[\r\n]/.test(text), `the text is not one continuous string: ${shown(text)}`);
    const isCode = language === null || (typeof language === 'string' && /^[a-z]{2}$/.test(language));
    expectThat(isCode, `the language is ${shown(language)}, neither a code of two letters nor null`);
    if (durationMs === undefined) return;
    const isClose = Math.abs(durationMs - recording.durationMs) <= toleranceMs;
    expectThat(isClose, `the recording has ${recording.durationMs} ms; the transcript says ${durationMs}`);
  }),

  check('silence is no text in no language', async (opened) => {
    await using recording = await opened.record('silence');
    const { text, language } = transcriptOf(await transcribe(opened, recording));
    expectThat(text === '', `it heard ${shown(text)}`);
    expectThat(language === null, `it heard the language ${shown(language)}`);
  }),

  check('what is no recording is refused', async (opened) => {
    await using recording = await opened.record('nonsense');
    await engineErrorOf(transcribe(opened, recording), 'nonsense');
  }),

  check('a language that there is not is refused', async (opened) => {
    await using recording = await opened.record('words');
    const call = transcribe(opened, recording, { language: noLanguage });
    await expectRefusal('language-not-supported', call, `the language "${noLanguage}"`);
  }),

  check('a caller who leaves is let go at once, with the reason', async (opened) => {
    await leaveAtSeveralMoments(opened, async (signal) => {
      await using recording = await opened.record('words');
      await transcribe(opened, recording, {}, signal);
    });
  }),

  localCheck('transcription', endInEveryWay),

  ...endingChecks(endInEveryWay),

  optionsCheck,
];

/** A success, a failure, and a caller who leaves. */
async function endInEveryWay(
  opened: Opened<TranscriptionSubject>,
  call: Partial<TranscriptionCall> = {},
): Promise<void> {
  await using words = await opened.record('words');
  await using nonsense = await opened.record('nonsense');
  await using left = await opened.record('words');
  await transcribe(opened, words, call);
  await transcribe(opened, nonsense, call).catch(() => undefined);
  const gone = AbortSignal.timeout(20);
  await transcribe(opened, left, call, gone).catch(() => undefined);
}

/** Asks the first model that works, unless the call names another. */
async function transcribe(
  { registry }: Opened<TranscriptionSubject>,
  { path, bytes, container, mediaType }: Recording,
  call: Partial<TranscriptionCall> = {},
  signal = new AbortController().signal,
): Promise<Transcript> {
  const { engine, engineId } = await firstThatWorks(registry, 'transcription');
  const recording = { path, bytes, container, mediaType };
  return engine.transcribe({ recording, model: engineId, ...call }, { signal });
}

function transcriptOf(answer: unknown): Transcript {
  expectThat(typeof answer === 'object' && answer !== null, `the transcript is ${shown(answer)}`);
  return answer as Transcript;
}
