/**
 * Decodes a recording, then transcribes it with a loaded model, or with a separate program if none is free or the model
 * fails.
 */
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
import { clamp, createTimeline, type RawTranscript, type RawSegment, toTranscript } from './transcript.ts';
import { transcribeSpeech, type TranscribePiece } from './speech.ts';
import type { WhisperCall, WhisperOptions } from './whisper-call.ts';

export interface TranscribeRequest extends Omit<WhisperCall, 'audio' | 'audioContext' | 'requested' | 'carriesPrompt'> {
  /** Finds the speech in the decoded recording. If undefined, the whole recording is transcribed. */
  readonly detector?: Pick<VoiceActivity, 'find'> | undefined;
  /** Returns a resident program that is free, if any. Called for each piece, after the recording has been decoded. */
  readonly free: () => Resident | undefined;
  /** Path of whisper-host, if it supports this model. */
  readonly hostProgram: string | undefined;
  /** True to limit the encoder context to the length of the recording. */
  readonly fitContext: boolean;
  readonly recording: Recording;
  readonly timestamps?: readonly TimestampKind[];
}

/** One window of Whisper's spectrogram; whisper-cli crashes on shorter recordings. */
const minMs = 25;

export async function transcribe(
  { recording, detector, ...request }: TranscribeRequest,
  context: EngineContext,
  options: TranscriptionOptions,
): Promise<Transcript> {
  const whole = await context.decode(recording, { signal: options.signal });
  const durationMs = lengthOf(whole);
  const speech = durationMs <= minMs ? [] : await detector?.find(whole, options.signal);
  const transcribePiece: TranscribePiece = (audio, callbacks, language = request.language) =>
    transcribeAudio(audio, { ...request, language }, context, { ...callbacks, signal: options.signal });
  if (speech === undefined) return (await transcribePiece(whole, options)).transcript;
  if (speech.length > 0)
    return transcribeSpeech({ whole, speech, language: request.language, transcribePiece }, options);
  const { timestamps = [] } = request;
  return toTranscript({ result: {}, transcription: [] }, { durationMs, timestamps });
}

/** Transcribes with a loaded model, or else with a separate program. */
async function transcribeAudio(
  audio: Decoded,
  {
    free,
    hostProgram,
    fitContext,
    prompt,
    keywords = [],
    timestamps = [],
    ...request
  }: Omit<TranscribeRequest, 'recording' | 'detector'>,
  context: EngineContext,
  { signal, ...callbacks }: TranscriptionOptions,
): Promise<RawTranscript> {
  const durationMs = lengthOf(audio);
  const requested = { durationMs, timestamps };
  const audioContext = fitContext ? contextFor(durationMs) : undefined;
  const call = {
    ...{ ...request, audio, requested, audioContext },
    prompt: shorten(promptWithKeywords(prompt, keywords)),
    carriesPrompt: keywords.length > 0,
  };
  const report = createReporter(durationMs, callbacks);
  const options = { signal, onRaw: report?.first };
  const host = free();
  if (host === undefined) return transcribeSeparately(call, hostProgram, context, options);
  try {
    return await runHost(host, call, options);
  } catch (error) {
    signal.throwIfAborted();
    if (!EngineError.is(error)) throw error; // thrown by a callback
    context.log.warn({ err: error }, 'the loaded model failed; retrying with a separate program');
    return transcribeSeparately(call, hostProgram, context, { signal, onRaw: report?.again() });
  }
}

/**
 * Transcribes with a program for this recording alone. whisper-host is preferred for a prompt, because every user of
 * the machine can read the arguments of whisper-cli, and for a choice of languages, which whisper-cli does not support.
 */
function transcribeSeparately(
  call: WhisperCall,
  hostProgram: string | undefined,
  context: EngineContext,
  options: WhisperOptions,
): Promise<RawTranscript> {
  const needsHost = call.prompt !== '' || call.languages !== undefined;
  if (!needsHost || hostProgram === undefined) return runWhisperCli(call, context, options);
  return runHost(singleHost(hostProgram, call.modelFile, context), call, options);
}

/**
 * Maximum number of characters. whisper.cpp uses only the last 224 tokens, and its tokenizer overflows the stack on a
 * long word (1.9.1: seen at 32,000 bytes, not at 20,000).
 */
const maxPromptLength = 2_000;

/** Program arguments cannot contain NUL, and UTF-8 cannot encode lone surrogates. */
function shorten(prompt: string): string {
  return Array.from(prompt.replaceAll('\0', ' ')).slice(-maxPromptLength).join('').toWellFormed();
}

/**
 * Whisper was trained with a context of 30 s, so the context is slightly longer than the recording. The steps let
 * whisper.cpp reuse its memory.
 */
function contextFor(durationMs: number): number | undefined {
  const [perSecond, whole, spare, step] = [50, 1_500, 64, 64];
  const needed = Math.ceil(((durationMs / 1000) * perSecond + spare) / step) * step;
  return needed < whole ? needed : undefined;
}

/** A second run for the same recording returns the same segments, so those already reported are skipped. */
function createReporter(durationMs: number, { onSegment, onProgress }: Omit<TranscriptionOptions, 'signal'>) {
  if (onSegment === undefined && onProgress === undefined) return undefined;
  const locate = createTimeline(durationMs);
  let processedMs = 0;
  const first = (raw: RawSegment): void => {
    const segment = locate(raw);
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
