/** The conformance checks for transcription engines. An engine that passes can be used in the settings. */
import type { Recording, Transcript, TranscriptionCall } from '../../engines/contract/index.ts';
import { engineErrorOf, expectLanguage, expectRejection, expectThat, shown, type Check } from './kit.ts';
import { abortAtSeveralMoments, check, checksFor, firstAvailable, type Opened, type Subject } from './subject.ts';

export interface TranscriptionSubject extends Subject {
  /** Writes a recording to its own directory, removed on dispose. */
  readonly record: (sound: Sound) => Promise<SubjectRecording>;
}

/** Words that the model understands; one second of silence; bytes that look like a recording but are not. */
export type Sound = 'words' | 'silence' | 'nonsense';

export interface SubjectRecording extends Recording, AsyncDisposable {
  readonly durationMs: number;
}

/** Tolerance for the duration that an engine measures itself: codecs pad. */
const toleranceMs = 250;

/** A two-letter code that is not assigned to any language. */
const unknownLanguage = 'qq';

export const transcriptionChecks: readonly Check<TranscriptionSubject>[] = checksFor('transcription', endInEveryWay, [
  check('an unknown model is rejected', async (opened) => {
    await using recording = await opened.record('words');
    const call = transcribe(opened, recording, { model: 'no-such-model' });
    await expectRejection('unknown-model', call, 'the model "no-such-model"');
  }),

  check('speech is transcribed', async (opened) => {
    await using recording = await opened.record('words');
    const { text, language, durationMs } = transcriptOf(await transcribe(opened, recording));
    expectThat(typeof text === 'string' && text !== '', `the transcript has the text ${shown(text)}`);
    expectThat(!/[\r\n]/.test(text), `the text is not one continuous string: ${shown(text)}`);
    expectLanguage(language, 'the transcript');
    if (durationMs === undefined) return;
    const isClose = Math.abs(durationMs - recording.durationMs) <= toleranceMs;
    expectThat(isClose, `the recording lasts ${recording.durationMs} ms, but durationMs is ${durationMs}`);
  }),

  check('silence returns empty text and no language', async (opened) => {
    await using recording = await opened.record('silence');
    const { text, language } = transcriptOf(await transcribe(opened, recording));
    expectThat(text === '', `the text is ${shown(text)}`);
    expectThat(language === null, `the language is ${shown(language)}`);
  }),

  check('invalid audio is rejected', async (opened) => {
    await using recording = await opened.record('nonsense');
    await engineErrorOf(transcribe(opened, recording), 'nonsense');
  }),

  check('an unsupported language is rejected', async (opened) => {
    await using recording = await opened.record('words');
    const call = transcribe(opened, recording, { language: unknownLanguage });
    await expectRejection('language-not-supported', call, `the language "${unknownLanguage}"`);
  }),

  check('an aborted call rejects promptly with the abort reason', async (opened) => {
    await abortAtSeveralMoments(opened, async (signal) => {
      await using recording = await opened.record('words');
      await transcribe(opened, recording, {}, signal);
    });
  }),
]);

/** One call that succeeds, one that fails, and one that is aborted. */
async function endInEveryWay(
  opened: Opened<TranscriptionSubject>,
  call: Partial<TranscriptionCall> = {},
): Promise<void> {
  await using words = await opened.record('words');
  await using nonsense = await opened.record('nonsense');
  await using second = await opened.record('words');
  await transcribe(opened, words, call);
  await transcribe(opened, nonsense, call).catch(() => undefined);
  const aborted = AbortSignal.timeout(20);
  await transcribe(opened, second, call, aborted).catch(() => undefined);
}

/** Calls the first available model, unless the call names another. */
async function transcribe(
  { registry }: Opened<TranscriptionSubject>,
  { path, bytes, container, mediaType }: Recording,
  call: Partial<TranscriptionCall> = {},
  signal = new AbortController().signal,
): Promise<Transcript> {
  const { engine, engineId } = await firstAvailable(registry, 'transcription');
  const recording = { path, bytes, container, mediaType };
  return engine.transcribe({ recording, model: engineId, ...call }, { signal });
}

function transcriptOf(answer: unknown): Transcript {
  expectThat(typeof answer === 'object' && answer !== null, `the transcript is ${shown(answer)}`);
  return answer as Transcript;
}
