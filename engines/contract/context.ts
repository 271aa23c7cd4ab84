import type { EngineError } from './errors.ts';
import type { ModelEntry } from './models.ts';
import type { Resident, ResidentProgram } from './resident.ts';
import type { Pcm, Speech, SpeechFormat } from './speech.ts';
import type { Decoded } from './sound.ts';
import type { Recording } from './transcription.ts';

/**
 * A logger for structured lines, like pino: first the facts, then the message. Do not log keys or the texts of users.
 */
export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** A directory that is deleted with its contents when it is disposed of. */
export interface TemporaryDirectory extends AsyncDisposable {
  /** Absolute path. */
  readonly path: string;
}

/** Limits of a queue. */
export interface CallQueueOptions {
  /** Maximum number of concurrent calls. */
  readonly slots: number;
  /** Maximum number of waiting calls; further ones are rejected with `overloaded`. */
  readonly waiting: number;
  /**
   * For calls that compute on this machine: the number of threads of each call, or `shared` to divide the cores among
   * the calls of all engines. If absent, a call takes no share of the cores.
   */
  readonly threads?: number | 'shared';
}

/** The resources that the queue grants a call. */
export interface CallGrant {
  /** Threads that the call may use; absent without `threads` in the options of the queue. */
  readonly threads?: number;
}

/**
 * A bounded queue that is fair between the callers of the service: they take turns in proportion to the weights of
 * their API keys, and each caller's calls start in order. When the queue is full, a caller with few calls for its
 * weight evicts the newest waiting call of the caller with the most; the evicted call rejects with `overloaded`. A call
 * is removed when its signal aborts; a call that times out while it waits rejects with `overloaded`.
 */
export interface CallQueue {
  /** True when all slots are in use and no further call may wait. `run` may still succeed by evicting another call. */
  readonly full: boolean;
  /**
   * Runs the call when its turn comes, and settles as the call does. `onQueued`: pass the one in
   * `TranscriptionOptions`.
   */
  run<T>(
    call: (grant: CallGrant) => Promise<T>,
    { signal, onQueued }: { signal: AbortSignal; onQueued?: (ahead: number | null) => void },
  ): Promise<T>;
}

/** How `EngineContext.run` runs a program. */
export interface ProgramCall {
  /** Its abort kills the program and its child processes. */
  readonly signal: AbortSignal;
  /** Milliseconds after which the program is killed. */
  readonly timeoutMs: number;
  /** Working directory. */
  readonly cwd: string;
  /** Variables added to the minimal environment (PATH, HOME and the like), overriding those of the same name. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Called for each line of stdout and stderr as it arrives; a line is truncated after 1 MiB. If it throws, the program
   * is killed and the call rejects with the error.
   */
  readonly onLine?: (line: string) => void;
}

/** How a program ended. */
export interface ProgramExit {
  /** Exit code; null if the program was terminated by a signal. */
  readonly code: number | null;
  /** The signal that terminated the program, such as `SIGKILL`; null if it exited. */
  readonly signal: string | null;
  /** True if the program was killed after `timeoutMs`. */
  readonly timedOut: boolean;
  /** The last 64 KB. */
  readonly stdout: string;
  /** The last 64 KB. */
  readonly stderr: string;
}

/** How `EngineContext.start` runs a program. */
export interface StreamingCall extends Omit<ProgramCall, 'onLine'> {
  /**
   * Written to stdin, which is then closed. If the iterable throws, the program is killed and `output` throws the
   * error.
   */
  readonly input: string | AsyncIterable<Uint8Array>;
}

/** A program that `EngineContext.start` has started. */
export interface RunningProgram {
  /**
   * The program's stdout, with backpressure: a slow reader slows the program down, and breaking out of the loop ends
   * it. Throws the signal's reason after an abort, or an error if any signal terminated the program, as after
   * `timeoutMs`.
   */
  readonly output: AsyncIterable<Uint8Array>;
  /** Resolves and rejects as `run` does; `stdout` is "". */
  readonly exit: Promise<ProgramExit>;
}

/** Everything that the service provides to an engine. */
export interface EngineContext {
  /** Name of the instance in the settings. */
  readonly instance: string;
  /**
   * Use this instead of the global `fetch`: it honors HTTPS_PROXY and NO_PROXY, and avoids a bug in the `fetch` of
   * Node.js that lets a server crash the process (nodejs/undici#5360). Connect timeout: 10 s. Responses have no timeout
   * other than your signal.
   */
  readonly fetch: typeof globalThis.fetch;
  /**
   * Headers for requests to a provider that do not use `fetch`, which adds them itself. With these headers, a service
   * detects that it is its own provider, directly or through another service. They also continue the trace of the
   * request (`traceparent`; with a `url` on this machine also `tracestate`).
   */
  readonly providerHeaders: (url?: string) => Readonly<Record<string, string>>;
  /** Environment variables of the service. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * The log of the service; each line names the instance and, during a request, the request. A log call never throws.
   */
  readonly log: Logger;
  /** The current time in milliseconds since the epoch. */
  readonly now: () => number;
  /** Absolute path of DATA_DIR, for files that the service builds and downloads. */
  readonly dataDir: string;
  /** Resolves a path from the options; relative paths are relative to the settings file. */
  readonly resolve: (path: string) => string;
  /** CPU cores that the service may use. */
  readonly cores: number;
  /** Bytes that the resident programs of all engines may use (MEMORY_BUDGET). */
  readonly memoryBudget: number;
  /**
   * Creates a private directory (mode 0700) that the engine disposes of. After a crash, the next start removes it. Files
   * that `decode` writes count against the disk budget; files of the engine and its programs do not. Rejects with
   * `storage-full` when the disk is nearly full.
   */
  temporaryDirectory(): Promise<TemporaryDirectory>;
  /**
   * Decodes a recording to a 16 kHz mono WAV file, unless the recording is already a slice of one. May be called
   * repeatedly and concurrently for the same recording: each call decodes into its own file. Rejects with
   * `recording-undecodable`, `recording-too-long` and the like; in that case, no file is left behind.
   */
  decode(recording: Recording, { signal }: { signal: AbortSignal }): Promise<Decoded>;
  /** Formats that `encode` supports on this machine: all but opus, flac and aac, which need ffmpeg. */
  readonly formats: readonly SpeechFormat[];
  /**
   * Encodes speech as a stream (compression and resampling run off the main thread), with backpressure: samples are
   * read no faster than the encoded audio is. Only `wav` waits for the end of the samples, because its header contains
   * the length. Throws `format-not-supported` synchronously; failures of `samples` are thrown by the audio's iterator.
   */
  encode(pcm: Pcm, format: SpeechFormat, { signal }: { signal: AbortSignal }): Speech;
  /**
   * Reads the samples of a WAV file as a stream, for `encode`: from a program's stdout (`start`) or from a file.
   * Converts them to mono 16-bit. Resolves once the header has arrived. Rejects when the bytes are not a mono or stereo
   * WAV of 8 to 48 kHz. `samples` ends where the bytes end, even if the header announces more, as in the output of
   * programs that write to a pipe. Samples may be views of the chunks: do not write to a chunk after you have yielded
   * it.
   */
  readWav(bytes: AsyncIterable<Uint8Array>): Promise<Pcm>;
  /**
   * Replaces the entries that the engine serves, in `Engine.models` or by an earlier call, from the next request on.
   * Entries that break the contract are left out and named in the log and by the doctor. `failure`: why the engine
   * cannot list all of its models; its message is in listings, unless the service looks for the server without being
   * told to by the settings. Never throws.
   *
   * @example
   * import type { EngineContext } from '@parlance/server/engine';
   *
   * export async function publishList(list: () => Promise<readonly string[]>, { publish, log }: EngineContext) {
   *   try {
   *     publish((await list()).map((id) => ({ id, local: false, discovered: true })));
   *   } catch (err) {
   *     log.warn({ err }, 'the provider did not list its models');
   *   }
   * }
   */
  readonly publish: (models: readonly ModelEntry[], failure?: EngineError) => void;
  /** Creates a bounded queue that is fair between the callers of the service. */
  queue(options: CallQueueOptions): CallQueue;
  /**
   * Returns a program that stays loaded between calls. It is started by its first call or by `preload`, and ended with
   * the service at the latest. All resident programs share one memory budget. The same program returns the same
   * `Resident`; another program of the same name replaces it.
   */
  readonly resident: (program: ResidentProgram) => Resident;
  /**
   * Runs a program without a shell, in a minimal environment. The program and its child processes are killed on abort,
   * on timeout and on shutdown. Rejects with the signal's reason, or when the program cannot be started (`overloaded`
   * if the machine is out of processes, memory or file descriptors). Any exit code is a result, not a rejection. The
   * call does not wait for a child process that outlives the program and keeps its pipes open.
   */
  readonly run: (program: string, args: readonly string[], call: ProgramCall) => Promise<ProgramExit>;
  /**
   * Like `run`, but streams stdin and stdout. Throws if the program does not exist, the signal's reason if the signal
   * has already aborted, and `overloaded` if the service is out of file descriptors.
   */
  readonly start: (program: string, args: readonly string[], call: StreamingCall) => RunningProgram;
}
