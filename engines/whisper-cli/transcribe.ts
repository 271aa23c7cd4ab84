/** The way of a recording: decoded, then transcribed by a loaded model, or by a program of its own where none is free or it fails. */
import {
  EngineError,
  type Decoded,
  type EngineContext,
  type Recording,
  type Resident,
  type TimestampKind,
  type Transcript,
  type TranscriptionOptions,
} from '../contract/index.ts';
import { promptWithKeywords } from '../../lib/text.ts';
import { lengthOf } from '../../lib/wav.ts';
import type { VoiceActivity } from '../lib/voice-activity/index.ts';
import { runHost, singleHost } from './whisper-host.ts';
import { runWhisperCli } from './run-whisper-cli.ts';
import { clamp, createTimeline, type Heard, type RawSegment, toTranscript } from './transcript.ts';
import { transcribeSpeech, type Hear } from './speech.ts';
import type { WhisperCall, WhisperOptions } from './whisper-call.ts';

export interface TranscribeJob extends Omit<WhisperCall, 'sound' | 'audioContext' | 'wanted' | 'carriesPrompt'> {
  /** Finds the speech in the decoded recording; undefined: all of it is transcribed. */
  readonly detector?: Pick<VoiceActivity, 'find'> | undefined;
  /** Called when the recording is decoded: the loaded model that is free then, if any. */
  readonly free: () => Resident | undefined;
  /** Path of whisper-host, where it can transcribe with this model. */
  readonly hostProgram: string | undefined;
  /** Whether the encoder gets no more context than the recording needs. */
  readonly fitContext: boolean;
  readonly recording: Recording;
  readonly keywords?: readonly string[] | undefined;
  readonly timestamps?: readonly TimestampKind[] | undefined;
}

/** One window of Whisper's spectrogram; whisper-cli crashes on shorter recordings. */
const shortestMs = 25;

export async function transcribe(
  { recording, detector, ...job }: TranscribeJob,
  context: EngineContext,
  options: TranscriptionOptions,
): Promise<Transcript> {
  const whole = await context.decode(recording, { signal: options.signal });
  const durationMs = lengthOf(whole);
  const speech = durationMs <= shortestMs ? [] : await detector?.find(whole, options.signal);
  const hear: Hear = (sound, callbacks, language = job.language) =>
    hearSound(sound, { ...job, language }, context, { ...callbacks, signal: options.signal });
  if (speech === undefined) return (await hear(whole, options)).transcript;
  if (speech.length > 0) return transcribeSpeech({ whole, speech, language: job.language, hear }, options);
  const { timestamps = [] } = job;
  return toTranscript({ result: {}, transcription: [] }, { durationMs, timestamps });
}

/** By a loaded model, or by whisper-cli. */
async function hearSound(
  sound: Decoded,
  {
    free,
    hostProgram,
    fitContext,
    prompt,
    keywords = [],
    timestamps = [],
    ...job
  }: Omit<TranscribeJob, 'recording' | 'detector'>,
  context: EngineContext,
  { signal, ...callbacks }: TranscriptionOptions,
): Promise<Heard> {
  const durationMs = lengthOf(sound);
  const wanted = { durationMs, timestamps };
  const audioContext = fitContext ? contextFor(durationMs) : undefined;
  const call = {
    ...{ ...job, sound, wanted, audioContext },
    prompt: shorten(promptWithKeywords(prompt, keywords)),
    carriesPrompt: keywords.length > 0,
  };
  const report = createReporter(durationMs, callbacks);
  const options = { signal, onRaw: report?.first };
  const host = free();
  if (host === undefined) return hearAlone(call, hostProgram, context, options);
  try {
    return await runHost(host, call, options);
  } catch (error) {
    signal.throwIfAborted();
    if (!EngineError.is(error)) throw error; // a callback's
    context.log.warn({ err: error }, 'the loaded model has failed; another program transcribes the recording');
    return hearAlone(call, hostProgram, context, { signal, onRaw: report?.again() });
  }
}

/** By a program for this recording alone. Every user of the machine can read the arguments of whisper-cli. */
function hearAlone(
  call: WhisperCall,
  hostProgram: string | undefined,
  context: EngineContext,
  options: WhisperOptions,
): Promise<Heard> {
  if (call.prompt === '' || hostProgram === undefined) return runWhisperCli(call, context, options);
  return runHost(singleHost(hostProgram, call.modelFile, context), call, options);
}

/**
 * In characters. whisper.cpp uses the last 224 tokens only, and its tokenizer overflows the stack on a long word (1.9.1:
 * seen at 32,000 bytes, not at 20,000).
 */
const maxPromptLength = 2_000;

/** An argument of a program cannot contain NUL, nor can JSON have half of a surrogate pair. */
function shorten(prompt: string): string {
  return Array.from(prompt.replaceAll('\0', ' ')).slice(-maxPromptLength).join('').toWellFormed();
}

/** Whisper was trained with the context of 30 s: some more than the recording fills, in steps that reuse its memory. */
function contextFor(durationMs: number): number | undefined {
  const [perSecond, whole, spare, step] = [50, 1_500, 64, 64];
  const needed = Math.ceil(((durationMs / 1000) * perSecond + spare) / step) * step;
  return needed < whole ? needed : undefined;
}

/** A second run for the same recording finds the same segments: what has been reported is skipped. */
function createReporter(durationMs: number, { onSegment, onProgress }: Omit<TranscriptionOptions, 'signal'>) {
  if (onSegment === undefined && onProgress === undefined) return undefined;
  const place = createTimeline(durationMs);
  let processedMs = 0;
  const first = (raw: RawSegment): void => {
    const segment = place(raw);
    if (segment !== undefined) onSegment?.(segment);
    processedMs = clamp(raw.to, processedMs, durationMs);
    onProgress?.(processedMs, durationMs);
  };
  return {
    first,
    again() {
      const knownMs = processedMs;
      return (raw: RawSegment): void => {
        if (clamp(raw.to, 0, durationMs) > knownMs) first(raw);
      };
    },
  };
}
