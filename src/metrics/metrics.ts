/** The recording points of the service. Nothing here knows how metrics are kept or exposed. */
import type { ProblemCode } from '../contract/operations.ts';
import { problemCodeOf } from '../contract/problems.ts';

/** Why something failed: a code of the table of problems, or `cancelled` by a caller that has disconnected. */
export type ErrorType = ProblemCode | 'cancelled';

/** An error after the abort is a consequence of it, unless it is a problem of its own. */
export function errorTypeOf(error: unknown, signal: AbortSignal): ErrorType {
  const code = problemCodeOf(error);
  return code === 'internal-error' && signal.aborted ? 'cancelled' : code;
}

export interface RequestFacts {
  /** As sent; any text. */
  readonly method: string;
  /** The template of the contract; absent: no operation matched. */
  readonly route?: string | undefined;
  /** Probes are in flight like others, but not in the histogram: they would hide the rest. */
  readonly isProbe: boolean;
  readonly operation?: string | undefined;
  /** The name of the API key; never an address. */
  readonly key?: string | undefined;
  readonly status: number;
  readonly ms: number;
  /** Absent: success. */
  readonly error?: ErrorType | undefined;
}

/** A call of an engine, ended. */
interface CallFacts {
  /** The id in the registry. */
  readonly model: string;
  /** The name of the API key. */
  readonly key?: string | undefined;
  /** Until the end of the answer. */
  readonly ms: number;
  /** Absent: success. */
  readonly error?: ErrorType | undefined;
}

export interface ChatFacts extends CallFacts {
  /** The name of the engine instance. */
  readonly engine: string;
  /** Streams only. */
  readonly firstChunkMs?: number | undefined;
  /** Absent where the provider reports none. */
  readonly tokens?: { readonly input: number; readonly output: number; readonly total: number } | undefined;
}

export interface TranscriptionFacts extends CallFacts {
  /** Length of the recording, if known. */
  readonly audioMs?: number | undefined;
}

export interface SpeechFacts extends CallFacts {
  readonly firstByteMs?: number | undefined;
  /** Length of the speech, if known. */
  readonly audioMs?: number | undefined;
}

export const queueRefusals = ['full', 'deadline', 'pushed_out'] as const;
export type QueueRefusal = (typeof queueRefusals)[number];

export interface QueueState {
  readonly slots: number;
  readonly running: number;
  readonly waiting: number;
}

/** The recording points of one job queue. */
export interface QueueMetrics {
  /** A job starts; 0 for one that did not wait. */
  started(waitedMs: number): void;
  refused(reason: QueueRefusal): void;
}

/** The fleet that this node belongs to. */
export interface FleetState {
  /** It answers and accepts changes. */
  readonly isRedisUp: boolean;
  readonly engines: readonly FleetEngineState[];
  /** Undefined while Redis is unavailable or accepts no changes, and for a moment after that. */
  readonly nodes: { readonly fronts: number; readonly workers: number } | undefined;
}

/** Transcriptions of an engine instance whose work is done by workers. */
export interface FleetEngineState {
  readonly engine: string;
  /** In the whole fleet; undefined as `nodes` is. */
  readonly all: { readonly open: number; readonly running: number; readonly slots: number } | undefined;
  /** Of this front; undefined on a worker. */
  readonly oldestWaitMs: number | undefined;
  /** Whether this worker takes no tickets after failures of its own; undefined on a node that is none. */
  readonly isPaused: boolean | undefined;
}

/** State that is read when the metrics are: reading it asks no engine. */
/** A program that stays loaded. */
export interface ResidentState {
  readonly engine: string;
  readonly name: string;
  readonly isLoaded: boolean;
  /** What it holds of the memory budget; 0 while it is not loaded. */
  readonly bytes: number;
  readonly loads: number;
  readonly loadSeconds: number;
  /** How often it has ended by itself. */
  readonly crashes: number;
}

export interface MetricSources {
  availability(): readonly { readonly engine: string; readonly model: string; readonly available: boolean }[];
  clips(): { readonly count: number; readonly bytes: number };
  /** By state. Absent on workers. */
  jobs?(): { readonly states: Readonly<Record<string, number>>; readonly bytes: number };
  mcpServers(): readonly { readonly name: string; readonly isUp: boolean }[];
  residents(): readonly ResidentState[];
  /** Absent without a fleet. Asks Redis, for no longer than its timeout; never rejects. */
  fleet?: (() => Promise<FleetState>) | undefined;
}

/** Recording points for the parts of the service. Absent where metrics are off. */
export interface Metrics {
  requestStarted(method: string): void;
  requestEnded(facts: RequestFacts): void;
  /** Input that never became a request, or a connection too many. */
  requestRefused(status: number, error: ErrorType): void;
  chatEnded(facts: ChatFacts): void;
  transcriptionEnded(facts: TranscriptionFacts): void;
  speechEnded(facts: SpeechFacts): void;
  /** A part of a job is transcribed. */
  jobPartEnded(audioMs: number): void;
  /** A job waits to try a part again. */
  jobPartRetried(): void;
  /** A tool of the service has run; `name` is one that the run was offered, or `other`. */
  toolEnded(name: string, ok: boolean): void;
  /** A limit of the key has refused a request; `policy` as in RateLimit-Policy. */
  keyLimited(key: string, policy: string): void;
  /** For a queue of an engine instance; `state` is read when the metrics are. */
  openQueue(engine: string, state: () => QueueState): QueueMetrics;
  /** Called once. */
  watch(sources: MetricSources): void;
}
