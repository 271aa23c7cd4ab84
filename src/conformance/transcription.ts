/** The conformance checks for transcription engines. An engine that passes can be used in the settings. */
import { isDeepStrictEqual } from 'node:util';
import {
  timestampKinds,
  type Recording,
  type TimedText,
  type TimestampKind,
  type Transcript,
  type TranscriptionCall,
  type TranscriptionOptions,
} from '../../engines/contract/index.ts';
import {
  engineErrorOf,
  expectAccepted,
  expectLanguage,
  expectRejection,
  expectThat,
  expectValid,
  shown,
  type Check,
} from './kit.ts';
import { check, checksFor, featuresOf, firstAvailable, type Calls, type Opened, type Subject } from './subject.ts';
import { checkTimes, checkTranscript } from '../engine-host/guard/answers.ts';
import { parameters } from '../transcription/parameters.ts';

export interface TranscriptionSubject extends Subject {
  /** Writes a recording to its own directory, which is removed on disposal. */
  readonly record: (sound: Sound) => Promise<SubjectRecording>;
}

/**
 * `words`: words that the model understands. `slice`: a slice with these words, between repetitions of the same words.
 * `silence`: one second. `nonsense`: bytes that look like a recording but are not.
 */
export type Sound = 'words' | 'slice' | 'silence' | 'nonsense';

export interface SubjectRecording extends Recording, AsyncDisposable {
  readonly durationMs: number;
}

/** Tolerance in milliseconds for durations measured by an engine, because codecs add padding. */
const toleranceMs = 250;

const listOf = { segment: 'segments', word: 'words' } as const satisfies Record<TimestampKind, keyof Transcript>;

/** A two-letter code that is not assigned to any language. */
const unknownLanguage = 'qq';

const calls: Calls<TranscriptionSubject> = {
  async succeed(opened, changes, signal) {
    await using recording = await opened.record('words');
    return await transcribe(opened, recording, changes, signal);
  },
  async fail(opened, changes) {
    await using recording = await opened.record('nonsense');
    return await transcribe(opened, recording, changes);
  },
};

export const transcriptionChecks: readonly Check<TranscriptionSubject>[] = checksFor('transcription', calls, [
  check('speech is transcribed', async (opened) => {
    await using recording = await opened.record('words');
    const { text, language, durationMs } = expectValid(checkTranscript, await transcribe(opened, recording));
    expectThat(text !== '', 'the transcript has no text');
    expectThat(!/[\r\n]/.test(text), `the text is not one continuous string: ${shown(text)}`);
    expectLanguage(language, 'the transcript');
    expectDuration(durationMs, recording);
  }),

  check('a slice of a file is transcribed like a recording of its own', async (opened) => {
    const { engine } = firstAvailable(opened.registry, 'transcription');
    if (!engine.decodes) return 'the engine has no `decodes`';
    const timestamps = timestampsOf(opened);
    await using words = await opened.record('words');
    await using slice = await opened.record('slice');
    const { text } = await transcribe(opened, words, { timestamps });
    const heard = expectValid(checkTranscript, await transcribe(opened, slice, { timestamps }));
    expectThat(heard.text === text, `the text is ${shown(heard.text)}, not ${shown(text)}`);
    expectDuration(heard.durationMs, slice);
    for (const kind of timestamps) expectTimes(heard, kind, slice.durationMs);
    return undefined;
  }),

  check('silence returns empty text and no language', async (opened) => {
    await using recording = await opened.record('silence');
    const { text, language } = expectValid(checkTranscript, await transcribe(opened, recording));
    expectThat(text === '', `the text is ${shown(text)}`);
    expectThat(language === null, `the language is ${shown(language)}`);
  }),

  check('supported hints are accepted', async (opened) => {
    const supported = featuresOf(opened.registry, 'transcription');
    const samples = parameters.filter(([, { sample }]) => sample !== undefined);
    const hints = samples.filter(([, { features }]) => features.every((feature) => supported.includes(feature)));
    for (const [name, { sample }] of hints) {
      await using recording = await opened.record('words');
      await expectAccepted(transcribe(opened, recording, { [name]: sample }), `${name}, which the model supports,`);
    }
    return hints.length === 0 ? `the model supports none of ${samples.map(([name]) => name).join(', ')}` : undefined;
  }),

  check('supported timestamps spell the text, in order and within the recording', async (opened) => {
    const timestamps = timestampsOf(opened);
    if (timestamps.length === 0) return 'the model supports no timestamps';
    await using words = await opened.record('words');
    await using silence = await opened.record('silence');
    const spoken = expectValid(checkTranscript, await transcribe(opened, words, { timestamps }));
    for (const kind of timestamps) {
      expectTimes(spoken, kind, spoken.durationMs ?? words.durationMs + toleranceMs);
      const one = expectValid(checkTranscript, await transcribe(opened, words, { timestamps: [kind] }));
      expectTimes(one, kind, one.durationMs ?? words.durationMs + toleranceMs);
    }
    const silent = expectValid(checkTranscript, await transcribe(opened, silence, { timestamps }));
    for (const kind of timestamps) {
      const times: unknown = silent[listOf[kind]];
      expectThat(Array.isArray(times) && times.length === 0, `silence has the ${listOf[kind]} ${shown(times)}, not []`);
    }
    return undefined;
  }),

  check('segments reported early are those of the transcript, and progress does not go back', async (opened) => {
    const call = featuresOf(opened.registry, 'transcription').includes('segment')
      ? { timestamps: ['segment'] as const }
      : {};
    await using recording = await opened.record('words');
    const early: TimedText[] = [];
    const progress: number[] = [];
    const positions: (number | null)[] = [];
    const { segments, durationMs } = await transcribe(opened, recording, call, undefined, {
      onSegment: (segment) => early.push(segment),
      onProgress: (ms) => progress.push(ms),
      onQueued: (ahead) => positions.push(ahead),
    });
    const maxMs = durationMs ?? recording.durationMs + toleranceMs;
    expectValid((value) => checkTimes(value, maxMs), early);
    const isRising = progress.every((ms, index) => ms >= (progress[index - 1] ?? 0) && ms <= maxMs);
    expectThat(isRising, `a recording of ${maxMs} ms has the progress ${shown(progress)}`);
    const areValid = positions.every((ahead) => ahead === null || (Number.isInteger(ahead) && ahead >= 0));
    expectThat(areValid, `onQueued gets a number of calls or null, not ${shown(positions)}`);
    if (early.length === 0) return 'the engine reports no segments early';
    if (segments === undefined) return 'the model returns no segments to compare with';
    const isSame = isDeepStrictEqual(early.map(plainTime), segments.map(plainTime));
    expectThat(isSame, `reported early: ${shown(early)}, returned: ${shown(segments)}`);
    return undefined;
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
]);

/** Calls the first available model unless the call names another one. */
async function transcribe(
  { registry }: Opened<TranscriptionSubject>,
  { path, bytes, container, mediaType, slice }: Recording,
  call: Partial<TranscriptionCall> = {},
  signal = new AbortController().signal,
  callbacks: Omit<TranscriptionOptions, 'signal'> = {},
): Promise<Transcript> {
  const { engine, engineId } = firstAvailable(registry, 'transcription');
  const recording = { path, bytes, container, mediaType, ...(slice && { slice }) };
  return engine.transcribe({ recording, model: engineId, ...call }, { signal, ...callbacks });
}

function timestampsOf({ registry }: Opened<TranscriptionSubject>): readonly TimestampKind[] {
  const supported = featuresOf(registry, 'transcription');
  return timestampKinds.filter((kind) => supported.includes(kind));
}

function expectDuration(durationMs: number | undefined, recording: SubjectRecording): void {
  const isClose = durationMs === undefined || Math.abs(durationMs - recording.durationMs) <= toleranceMs;
  expectThat(isClose, `the recording lasts ${recording.durationMs} ms, but durationMs is ${durationMs}`);
}

function expectTimes(transcript: Transcript, kind: TimestampKind, maxMs: number): void {
  const list = listOf[kind];
  const times = expectValid((value) => checkTimes(value, maxMs), transcript[list]);
  const spelled = times.map(({ text }) => text).join(' ');
  const isSame = lettersOf(spelled) === lettersOf(transcript.text);
  expectThat(isSame, `the ${list} spell ${shown(spelled)}, but the text is ${shown(transcript.text)}`);
}

/**
 * Keeps only letters and digits for comparison: not all languages use spaces, and some models return words without
 * punctuation.
 */
const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();

const plainTime = ({ startMs, endMs, text }: TimedText): TimedText => ({ startMs, endMs, text });
