/** The recording points of the service, independent of how metrics are stored or exposed. */
import type { Capability } from '../../engines/contract/index.ts';
import type { ProblemCode } from '../contract/operations.ts';
import { problemCodeOf } from '../contract/problems.ts';

/** The possible outcomes of a transcription that began before the end of its turn. */
export const earlyOutcomes = ['used', 'discarded', 'failed'] as const;
export type EarlyOutcome = (typeof earlyOutcomes)[number];

/** The parts of the wait for the first sound of an answer: from the commit of a turn, and from its transcript. */
export const waitParts = ['transcription', 'answer', 'all'] as const;
export type WaitPart = (typeof waitParts)[number];

/** The reason for a failure: a problem code, or `cancelled` if the caller disconnected. */
export type ErrorType = ProblemCode | 'cancelled';

/** Returns the reason of a failure. After an abort, any error other than a problem is a consequence of the abort. */
export function errorTypeOf(error: unknown, signal: AbortSignal): ErrorType {
  const code = problemCodeOf(error);
  return code === 'internal-error' && signal.aborted ? 'cancelled' : code;
}

export interface RequestFacts {
  /** The method as sent, which may be any text. */
  readonly method: string;
  /** The path template in the contract; absent if no operation matched. */
  readonly route?: string | undefined;
  /** Probes count as requests in flight, but are excluded from the histogram, which they would dominate. */
  readonly isProbe: boolean;
  readonly operation?: string | undefined;
  /** The name of the API key, never an address. */
  readonly key?: string | undefined;
  readonly status: number;
  readonly ms: number;
  /** Absent: success. */
  readonly error?: ErrorType | undefined;
}

/** A finished call to an engine. */
export interface CallFacts {
  readonly capability: Capability;
  /** The name of the engine instance. */
  readonly engine: string;
  /** The model id in the registry. */
  readonly model: string;
  /** The name of the API key. */
  readonly key: string | undefined;
  /** Duration until the end of the answer, in milliseconds. */
  readonly ms: number;
  /** Time until the first output in milliseconds; streamed chats and speech only. */
  readonly firstMs: number | undefined;
  /** Length of a transcribed recording in milliseconds, if known. */
  readonly audioMs?: number | undefined;
  /** Tokens of a chat; absent if the provider reports none. */
  readonly tokens?: { readonly input: number; readonly output: number; readonly total: number } | undefined;
  /** Absent: success. */
  readonly error?: ErrorType | undefined;
}

export const queueRefusals = ['full', 'deadline', 'pushed_out'] as const;
export type QueueRefusal = (typeof queueRefusals)[number];

export interface QueueState {
  readonly slots: number;
  readonly running: number;
  readonly waiting: number;
}

/** The recording points of one call queue. */
export interface QueueMetrics {
  /** Called when a call starts. `waitedMs` is 0 if the call did not wait. */
  started(waitedMs: number): void;
  refused(reason: QueueRefusal): void;
}

/** The state of the fleet that this node belongs to. */
export interface FleetState {
  /** Whether Redis responds and accepts writes. */
  readonly isRedisUp: boolean;
  readonly engines: readonly FleetEngineState[];
  /** Number of nodes. Undefined while Redis is unavailable or accepts no writes, and for a moment afterward. */
  readonly nodes: { readonly fronts: number; readonly workers: number } | undefined;
}

/** The transcriptions of an engine instance that runs on workers. */
export interface FleetEngineState {
  readonly engine: string;
  /** Counts for the whole fleet; undefined when `nodes` is. */
  readonly all: { readonly open: number; readonly running: number; readonly slots: number } | undefined;
  /** Waiting time of the oldest call of this front, in milliseconds; undefined on a worker. */
  readonly oldestWaitMs: number | undefined;
  /** Whether this worker is paused because of its own failures; undefined if this node is not a worker. */
  readonly isPaused: boolean | undefined;
}

/** A program that stays loaded. */
export interface ResidentState {
  readonly engine: string;
  readonly name: string;
  readonly isLoaded: boolean;
  /** Bytes of the memory budget that the program holds; 0 while it is not loaded. */
  readonly bytes: number;
  readonly loads: number;
  readonly loadSeconds: number;
  /** Number of times that the program has exited on its own. */
  readonly crashes: number;
}

/** State that is read when the metrics are rendered. Reading it does not call any engine. */
export interface MetricSources {
  availability(): readonly { readonly engine: string; readonly model: string; readonly available: boolean }[];
  clips(): { readonly count: number; readonly bytes: number };
  /** Transcription jobs by state. Absent on workers. */
  jobs?(): { readonly states: Readonly<Record<string, number>>; readonly bytes: number };
  /** Number of open sessions of live transcription. */
  sessions?(): number;
  mcpServers(): readonly { readonly name: string; readonly isUp: boolean }[];
  residents(): readonly ResidentState[];
  /** Reads the state of the fleet from Redis within a timeout. Never rejects. Absent without a fleet. */
  fleet?: (() => Promise<FleetState>) | undefined;
}

/** Recording points for all parts of the service. Absent if metrics are off. */
export interface Metrics {
  requestStarted(method: string): void;
  requestEnded(facts: RequestFacts): void;
  /** Records input that could not be parsed as a request, and connections over the limit. */
  requestRefused(status: number, error: ErrorType): void;
  callEnded(facts: CallFacts): void;
  /** Records that a part of a job has been transcribed. */
  jobPartEnded(audioMs: number): void;
  /** Records that a job is waiting to retry a part. */
  jobPartRetried(): void;
  /** Records a live transcription session when it ends. */
  sessionEnded(ms: number): void;
  /** Records a transcribed turn of a session, including a failed one. */
  turnEnded(): void;
  /** Records a transcription that began before the end of its turn. */
  earlyEnded(outcome: EarlyOutcome): void;
  /** Records the wait of a user for an answer, in milliseconds. */
  answerBegan(waitMs: Readonly<Record<WaitPart, number>>): void;
  /** Records that a turn has interrupted an answer that was playing. */
  answerInterrupted(): void;
  /** Records a tool call. `name` is the name of a tool that the run was offered, or `other`. */
  toolEnded(name: string, ok: boolean): void;
  /** Records a request that a limit of the key rejected. `policy` is the name as in RateLimit-Policy. */
  keyLimited(key: string, policy: string): void;
  /** Adds the queue of an engine instance. `state` is read when the metrics are rendered. */
  openQueue(engine: string, state: () => QueueState): QueueMetrics;
  /** Sets the sources of the gauges. Called once. */
  watch(sources: MetricSources): void;
}
