/** The conformance checks for transcription engines. An engine that passes can be used in the settings. */
import { isDeepStrictEqual } from 'node:util';
import {
  timestampKinds,
  type Feature,
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
  shown,
  type Check,
} from './kit.ts';
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

/** A prompt may look like an option of a program. */
const sampleHints = { prompt: '-- Parlance,\nyes, no', temperature: 0.2 } as const;

const listOf = { segment: 'segments', word: 'words' } as const satisfies Record<TimestampKind, keyof Transcript>;

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

  check('supported hints are accepted', async (opened) => {
    const supported = await supportedBy(opened);
    const hints = Object.entries(sampleHints).filter(([name]) => supported.includes(name as Feature));
    for (const [name, value] of hints) {
      await using recording = await opened.record('words');
      await expectAccepted(transcribe(opened, recording, { [name]: value }), `a ${name}, which the model supports,`);
    }
    return hints.length === 0 ? 'the model supports neither a prompt nor a temperature' : undefined;
  }),

  check('supported timestamps spell the text, in order and within the recording', async (opened) => {
    const timestamps = await supportedTimestamps(opened);
    if (timestamps.length === 0) return 'the model supports no timestamps';
    await using words = await opened.record('words');
    await using silence = await opened.record('silence');
    const spoken = transcriptOf(await transcribe(opened, words, { timestamps }));
    for (const kind of timestamps) {
      checkTimes(spoken, kind, spoken.durationMs ?? words.durationMs + toleranceMs);
      const one = transcriptOf(await transcribe(opened, words, { timestamps: [kind] }));
      checkTimes(one, kind, one.durationMs ?? words.durationMs + toleranceMs);
    }
    const silent = transcriptOf(await transcribe(opened, silence, { timestamps }));
    for (const kind of timestamps) {
      const times: unknown = silent[listOf[kind]];
      expectThat(Array.isArray(times) && times.length === 0, `silence has the ${listOf[kind]} ${shown(times)}, not []`);
    }
    return undefined;
  }),

  check('segments reported early are those of the transcript, and progress does not go back', async (opened) => {
    const call = (await supportedBy(opened)).includes('segment') ? { timestamps: ['segment'] as const } : {};
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
    checkOrder(early, 'segments reported early', maxMs);
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
  callbacks: Omit<TranscriptionOptions, 'signal'> = {},
): Promise<Transcript> {
  const { engine, engineId } = await firstAvailable(registry, 'transcription');
  const recording = { path, bytes, container, mediaType };
  return engine.transcribe({ recording, model: engineId, ...call }, { signal, ...callbacks });
}

async function supportedBy({ registry }: Opened<TranscriptionSubject>): Promise<readonly Feature[]> {
  const { entry } = await firstAvailable(registry, 'transcription');
  return entry.supports ?? [];
}

async function supportedTimestamps(opened: Opened<TranscriptionSubject>): Promise<TimestampKind[]> {
  const supported = await supportedBy(opened);
  return timestampKinds.filter((kind) => supported.includes(kind));
}

function checkTimes(transcript: Transcript, kind: TimestampKind, maxMs: number): void {
  const list = listOf[kind];
  const times: unknown = transcript[list];
  expectThat(Array.isArray(times), `${kind} timestamps were requested, but ${list} is ${shown(times)}`);
  checkOrder(times, list, maxMs);
  const spelled = (times as readonly TimedText[]).map(({ text }) => text).join(' ');
  const isSame = lettersOf(spelled) === lettersOf(transcript.text);
  expectThat(isSame, `the ${list} spell ${shown(spelled)}, but the text is ${shown(transcript.text)}`);
}

function checkOrder(times: readonly unknown[], what: string, maxMs: number): void {
  let lastMs = 0;
  for (const part of times) {
    const { startMs, endMs, text } = Object(part) as TimedText;
    expectThat(typeof text === 'string', `${what} have a text: ${shown(part)}`);
    expectThat(Number.isInteger(startMs) && Number.isInteger(endMs), `not whole milliseconds: ${shown(part)}`);
    expectThat(startMs >= lastMs, `${what} are not in order: ${shown(part)} follows a start at ${lastMs} ms`);
    expectThat(startMs <= endMs && endMs <= maxMs, `not within the ${maxMs} ms of the recording: ${shown(part)}`);
    lastMs = startMs;
  }
}

/** Letters and digits: not all languages have spaces, and some models return words without punctuation. */
const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();

const plainTime = ({ startMs, endMs, text }: TimedText): TimedText => ({ startMs, endMs, text });

function transcriptOf(answer: unknown): Transcript {
  expectThat(typeof answer === 'object' && answer !== null, `the transcript is ${shown(answer)}`);
  return answer as Transcript;
}
