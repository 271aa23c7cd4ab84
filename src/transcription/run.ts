/** One transcription: the choice of the model, what it supports, the timeout. */
import {
  EngineError,
  type Recording,
  type TimestampKind,
  type Transcript,
  type TranscriptionOptions,
} from '../../engines/contract/index.ts';
import { startTimeout } from '../../lib/abort.ts';
import { lengthOf } from '../../lib/wav.ts';
import { violation } from '../engine-host/guard/failures.ts';
import { chooseModel, requireAvailable, requireSupport } from '../engine-host/registry/model-selection.ts';
import type { Registry } from '../engine-host/registry/registry.ts';
import type { ServedModel } from '../engine-host/registry/served-models.ts';
import { errorTypeOf, type Metrics } from '../metrics/metrics.ts';
import { currentScope, currentUsage, type RequestScope } from '../request-scope.ts';

/** Without the hints that the model does not support. */
export interface TranscriptionJob {
  readonly recording: Recording;
  readonly language?: string | undefined;
  readonly prompt?: string | undefined;
  readonly temperature?: number | undefined;
  readonly timestamps?: readonly TimestampKind[];
  readonly keywords?: readonly string[];
  readonly translate?: true | undefined;
  readonly diarize?: true | undefined;
}

export interface TranscriptionServices {
  readonly registry: Registry;
  /** TRANSCRIBE_TIMEOUT, in seconds. */
  readonly transcribeTimeout: number | 'auto';
  readonly metrics?: Metrics | undefined;
}

/**
 * The model that a request names, else the default. Throws `unknown-model`, `no-engine`, `model-unavailable`, and
 * `parameter-not-supported` if the model lacks one of the features.
 */
export async function chooseTranscriptionModel(
  { registry }: TranscriptionServices,
  named: string | undefined,
  features: TranscriptionFeatures = {},
): Promise<ServedModel<'transcription'>> {
  const model = await chooseModel(registry, 'transcription', named);
  requireFeatures(model, features);
  await requireAvailable(model);
  return model;
}

/** What a request asks for that not every model has. */
export interface TranscriptionFeatures {
  readonly timestamps?: readonly TimestampKind[];
  readonly translate?: true | undefined;
}

/** Throws `parameter-not-supported`. */
export function requireFeatures(
  model: ServedModel<'transcription'>,
  { timestamps = [], translate }: TranscriptionFeatures,
): void {
  for (const kind of timestamps) requireSupport(model, kind, '/timestamps');
  if (translate) requireSupport(model, 'translate', '/task');
}

/** Throws `engine-timeout` after TRANSCRIBE_TIMEOUT, and `engine-failed` if the engine omits the timestamps. */
export async function transcribe(
  model: ServedModel<'transcription'>,
  job: TranscriptionJob,
  options: TranscriptionOptions,
  { transcribeTimeout, metrics }: TranscriptionServices,
): Promise<Transcript> {
  const record = new RunRecord(model.id, options.signal, metrics);
  try {
    const transcript = await callEngine(model, job, record.watch(options), transcribeTimeout);
    record.see({ durationMs: knownMs(job), ...transcript });
    const asked = withTimes(transcript, job);
    record.complete();
    return asked;
  } catch (error) {
    record.fail(error);
    throw error;
  }
}

/** Its recording is on the way: meanwhile the engine may load the model. */
export function warmUp({ engine, engineId }: ServedModel<'transcription'>): void {
  void engine.warmUp?.(engineId); // never rejects
}

/** Length of the recording, if it is known before the engine reports it. */
function knownMs({ recording: { slice } }: TranscriptionJob): number | undefined {
  return slice && lengthOf(slice);
}

async function callEngine(
  { engine, engineId }: ServedModel<'transcription'>,
  job: TranscriptionJob,
  { signal, ...callbacks }: TranscriptionOptions,
  setting: number | 'auto',
): Promise<Transcript> {
  const { recording, language, prompt, temperature, timestamps = [], keywords = [] } = job;
  let soundMs = knownMs(job) ?? 0;
  const ms = () => timeoutMs(setting, Math.max(soundMs, usage?.decodedMs ?? 0));
  const usage = currentUsage();
  const late = () =>
    new EngineError('engine-timeout', `The transcription did not finish within ${String(ms() / 1000)} s.`);
  using timeout = startTimeout(ms, late, signal);
  const onProgress: TranscriptionOptions['onProgress'] = (doneMs, ofMs = 0) => {
    soundMs = Math.max(soundMs, ofMs);
    callbacks.onProgress?.(doneMs, ofMs === 0 ? undefined : ofMs);
  };
  const call = {
    recording,
    model: engineId,
    ...(language !== undefined && { language }),
    ...(prompt !== undefined && { prompt }),
    ...(temperature !== undefined && { temperature }),
    ...(timestamps.length > 0 && { timestamps }),
    ...(keywords.length > 0 && { keywords }),
    ...(job.translate && { translate: job.translate }),
    ...(job.diarize && { diarize: job.diarize }),
  };
  return await engine.transcribe(call, { ...callbacks, onProgress, signal: timeout.signal });
}

const leastSeconds = 600;
const timesTheSound = 3;

/** The timeout for a recording of this length, as far as it is known. */
export function timeoutMs(setting: number | 'auto', soundMs: number): number {
  return setting === 'auto' ? Math.max(leastSeconds * 1000, timesTheSound * soundMs) : setting * 1000;
}

const fieldOf = { segment: 'segments', word: 'words' } as const satisfies Record<TimestampKind, keyof Transcript>;

/** Exactly the times that were asked for; [] for silence. */
function withTimes(
  { segments, words, turns, ...plain }: Transcript,
  { timestamps = [], diarize }: Pick<TranscriptionJob, 'timestamps' | 'diarize'>,
): Transcript {
  const given = { segments, words, turns };
  const wanted = [
    ...timestamps.map((kind) => [kind, fieldOf[kind]] as const),
    ...(diarize ? [['diarize', 'turns'] as const] : []),
  ];
  const asked = wanted.map(([feature, name]) => {
    const times = given[name] ?? (plain.text === '' ? [] : undefined);
    if (times) return [name, times] as const;
    throw violation(`the entry supports "${feature}", but its transcript has no ${name}`);
  });
  return { ...plain, ...Object.fromEntries(asked) };
}

/** Begins now. Either `complete` or `fail` ends it. */
class RunRecord {
  /** The id of the model. */
  readonly #model: string;
  /** The signal of the request. */
  readonly #signal: AbortSignal;
  readonly #metrics: Metrics | undefined;
  readonly #scope: RequestScope | undefined = currentScope();
  readonly #started = performance.now();
  /** The length of the recording, if the transcript has one. */
  #audioMs: number | undefined;
  /** How far the engine has come: a run that fails is charged for it. */
  #reportedMs = 0;

  constructor(model: string, signal: AbortSignal, metrics: Metrics | undefined) {
    this.#model = model;
    this.#signal = signal;
    this.#metrics = metrics;
    if (this.#scope?.usage) this.#scope.usage.model = model;
  }

  /** The options for the engine: the same where nothing is charged. */
  watch(options: TranscriptionOptions): TranscriptionOptions {
    if (!this.#scope?.charge) return options;
    const { onSegment, onProgress, ...others } = options;
    return {
      ...others,
      ...(onSegment && {
        onSegment: (segment) => {
          this.#reached(segment.endMs);
          onSegment(segment);
        },
      }),
      onProgress: (ms, durationMs) => {
        this.#reached(ms);
        onProgress?.(ms, durationMs);
      },
    };
  }

  /** Receives what the engine has returned, before it is checked. */
  see({ durationMs }: { readonly durationMs?: number | undefined }): void {
    this.#audioMs = durationMs;
  }

  complete(): void {
    this.#charge();
    const audioMs = this.#audioMs;
    if (this.#scope?.usage && audioMs !== undefined) this.#scope.usage.audioMs = audioMs;
    this.#metrics?.transcriptionEnded({ ...this.#call(), audioMs });
  }

  fail(error: unknown): void {
    this.#charge();
    this.#metrics?.transcriptionEnded({ ...this.#call(), error: errorTypeOf(error, this.#signal) });
  }

  #reached(ms: number): void {
    this.#reportedMs = Math.max(this.#reportedMs, ms);
  }

  #charge(): void {
    this.#scope?.charge?.({ audioMs: this.#audioMs ?? this.#reportedMs });
  }

  #call() {
    return { model: this.#model, key: this.#scope?.key?.name, ms: performance.now() - this.#started };
  }
}
