/** Runs a transcription: chooses the model, checks what it supports, and applies the timeout. */
import {
  EngineError,
  type Availability,
  type Recording,
  type TimestampKind,
  type Transcript,
  type TranscriptionOptions,
} from '../../engines/contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { languagesWithoutIso } from '../../lib/languages.ts';
import { lengthOf } from '../../lib/wav.ts';
import { ProblemError } from '../contract/problems.ts';
import { violation } from '../engine-host/guard/failures.ts';
import { CallRecord } from '../engine-host/call-record.ts';
import { chooseModel, requireAvailable, supports } from '../engine-host/models/model-selection.ts';
import type { Registry } from '../engine-host/registry/registry.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { errorTypeOf, type Metrics } from '../metrics/metrics.ts';
import { currentUsage } from '../request-scope.ts';
import { fit, requireSpeakers } from './fit.ts';
import type { EngineParameters, TranscriptionParameters } from './parameters.ts';

/** A request for a transcription, with the parameters that fit the model. */
export interface TranscriptionRequest extends EngineParameters {
  readonly recording: Recording;
  /** Milliseconds of the recording that are not charged. Default: the value that the decoder reports. */
  readonly gapMs?: number;
}

export interface TranscriptionServices {
  readonly registry: Registry;
  /** TRANSCRIBE_TIMEOUT, in seconds. */
  readonly transcribeTimeout: number | 'auto';
  readonly metrics?: Metrics | undefined;
}

export const disabled: Availability = {
  available: false,
  code: 'disabled',
  reason: 'Transcription is switched off (TRANSCRIBE_ENABLED=false).',
};

/** Throws `transcription-disabled`. Called before the body is read, so that callers do not upload 25 MB in vain. */
export function requireTranscription({ transcribeEnabled }: { readonly transcribeEnabled: boolean }): void {
  if (!transcribeEnabled) throw new ProblemError('transcription-disabled', disabled.reason);
}

/**
 * Returns the requested model, otherwise the default, and the parameters for the engine. Throws `unknown-model`,
 * `no-engine`, `model-unavailable`, and `parameter-not-supported` as under /api/v1.
 */
export function chooseTranscriptionModel(
  { registry }: TranscriptionServices,
  named: string | undefined,
  asked: TranscriptionParameters = {},
): { readonly model: ServedModel<'transcription'>; readonly call: TranscriptionParameters } {
  const model = chooseModel(registry, 'transcription', named);
  const { call } = fit(model, asked, 'api');
  requireSpeakers(model, call);
  requireAvailable(model, registry.of('transcription'));
  return { model, call };
}

/**
 * Runs the transcription. Throws `engine-timeout` after TRANSCRIBE_TIMEOUT, and `engine-failed` if the engine omits
 * requested timestamps.
 */
export async function transcribe(
  model: ServedModel<'transcription'>,
  request: TranscriptionRequest,
  options: TranscriptionOptions,
  { transcribeTimeout, metrics }: TranscriptionServices,
): Promise<Transcript> {
  const record = new CallRecord('transcription', model, metrics);
  let reachedMs = 0;
  const reached = (ms: number) => (reachedMs = Math.max(reachedMs, ms));
  let audioMs: number | undefined;
  try {
    const watched = record.isCharged ? withProgress(options, reached) : options;
    const transcript = await callWithHint(model, request, watched, transcribeTimeout);
    audioMs = soundMs(request, transcript);
    const requested = withTimes(transcript, request);
    record.end({ charged: { audioMs: audioMs ?? reachedMs }, audioMs });
    return requested;
  } catch (error) {
    record.end({ charged: { audioMs: audioMs ?? reachedMs }, error: errorTypeOf(error, options.signal) });
    throw error;
  }
}

/** Returns options that also track progress, because a failed transcription is charged for the progress it made. */
function withProgress(
  { onSegment, onProgress, ...others }: TranscriptionOptions,
  reached: (ms: number) => void,
): TranscriptionOptions {
  return {
    ...others,
    ...(onSegment && {
      onSegment: (segment) => {
        reached(segment.endMs);
        onSegment(segment);
      },
    }),
    onProgress: (ms, durationMs) => {
      reached(ms);
      onProgress?.(ms, durationMs);
    },
  };
}

/** Returns the length of the audio in the recording, if known. Silence that was inserted for a gap does not count. */
function soundMs(request: TranscriptionRequest, transcript: Transcript): number | undefined {
  const durationMs = transcript.durationMs ?? knownMs(request);
  const gapMs = request.gapMs ?? currentUsage()?.gapMs ?? 0;
  return durationMs === undefined ? undefined : Math.max(0, durationMs - gapMs);
}

/** Call this while the recording arrives, so that the engine can load the model in the meantime. */
export function warmUp({ engine, engineId }: ServedModel<'transcription'>): void {
  void engine.warmUp?.(engineId); // never rejects
}

/** Returns the length of the recording, if it is known before the engine reports it. */
function knownMs({ recording: { slice } }: TranscriptionRequest): number | undefined {
  return slice && lengthOf(slice);
}

/** If the model does not support `languages` and there is only one, passes it as the language. */
async function callWithHint(
  model: ServedModel<'transcription'>,
  request: TranscriptionRequest,
  options: TranscriptionOptions,
  setting: number | 'auto',
): Promise<Transcript> {
  const { languages: [language] = [], ...others } = request;
  if (language === undefined || supports(model, 'languages')) return await callEngine(model, request, options, setting);
  try {
    return await callEngine(model, { ...others, language }, options, setting);
  } catch (error) {
    if (!EngineError.is(error) || error.code !== 'language-not-supported') throw error;
    return await callEngine(model, others, options, setting); // a failing hint must not prevent the transcript
  }
}

async function callEngine(
  model: ServedModel<'transcription'>,
  request: TranscriptionRequest,
  { signal, ...callbacks }: TranscriptionOptions,
  setting: number | 'auto',
): Promise<Transcript> {
  const { engine, engineId } = model;
  const { gapMs: _notCharged, ...call } = request;
  let audioMs = knownMs(request) ?? 0;
  const ms = () => timeoutMs(setting, Math.max(audioMs, usage?.decodedMs ?? 0));
  const usage = currentUsage();
  const late = () =>
    new EngineError('engine-timeout', `The transcription did not finish within ${String(ms() / 1000)} s.`);
  using timeout = startTimeout(ms, late, signal);
  const onProgress: TranscriptionOptions['onProgress'] = (doneMs, ofMs = 0) => {
    audioMs = Math.max(audioMs, ofMs);
    callbacks.onProgress?.(doneMs, ofMs === 0 ? undefined : ofMs);
  };
  return await engine.transcribe({ ...call, model: engineId }, { ...callbacks, onProgress, signal: timeout.signal });
}

const minSeconds = 600;
const audioFactor = 3;

/** Returns the timeout in milliseconds for a recording of the length known so far. */
export function timeoutMs(setting: number | 'auto', audioMs: number): number {
  return setting === 'auto' ? Math.max(minSeconds * 1000, audioFactor * audioMs) : setting * 1000;
}

const fieldOf = { segment: 'segments', word: 'words' } as const satisfies Record<TimestampKind, keyof Transcript>;

/** Returns exactly the requested timestamps; [] for silence. A language without an ISO 639-1 code is not reported. */
function withTimes(
  { segments, words, turns, language: heard, ...plain }: Transcript,
  { timestamps = [], diarize }: Pick<TranscriptionRequest, 'timestamps' | 'diarize'>,
): Transcript {
  const given = { segments, words, turns };
  const requested = [
    ...timestamps.map((kind) => [kind, fieldOf[kind]] as const),
    ...(diarize ? [['diarize', 'turns'] as const] : []),
  ];
  const entries = requested.map(([feature, name]) => {
    const times = given[name] ?? (plain.text === '' ? [] : undefined);
    if (times) return [name, times] as const;
    throw violation(`the entry supports "${feature}", but its transcript has no ${name}`);
  });
  const language = heard !== null && languagesWithoutIso.includes(heard) ? null : heard;
  return { ...plain, language, ...Object.fromEntries(entries) };
}
