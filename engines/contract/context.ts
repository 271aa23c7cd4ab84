import type { Resident, ResidentProgram } from './resident.ts';
import type { Pcm, Speech, SpeechFormat } from './speech.ts';
import type { Recording, Span } from './transcription.ts';

export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/**
 * The sound between `startMs` and `endMs` of a WAV file. That is the whole file, from 0 to the length of the recording, for
 * engines without `decodes`. The length is measured from the decoded samples, and rounded up: the file may end less than
 * 1 ms before `endMs`.
 */
export interface Decoded extends Span {
  /** Written by the service: 16 kHz mono 16-bit PCM, with a header of 44 bytes. It is deleted together with the recording. */
  readonly wavPath: string;
}

export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
}

export interface CallQueueOptions {
  /** Maximum number of concurrent calls. */
  readonly slots: number;
  /** Maximum number of waiting calls; further ones are rejected with `overloaded`. */
  readonly waiting: number;
  /**
   * For calls that work on this machine's cores: the threads of each, or `shared`: each gets what the calls of all engines
   * leave.
   */
  readonly threads?: number | 'shared';
}

/** What the queue grants a call. */
export interface CallGrant {
  /** Threads that the call may use; absent without `threads` in the options of the queue. */
  readonly threads?: number;
}

/**
 * A bounded queue that is fair between callers (the callers of the requests in which `run` is called): round robin
 * between callers, first in, first out for each. When the queue is full, a caller with few calls evicts the newest waiting
 * call of the caller with the most; the evicted call rejects with `overloaded`. A call is removed when its signal aborts; a
 * call that times out while it waits rejects with `overloaded`.
 */
export interface CallQueue {
  /** True when all slots are in use and no further call may wait. `run` may still succeed by evicting another call. */
  readonly full: boolean;
  /**
   * `onQueued` is that of `TranscriptionOptions`: an engine passes the options of its call.
   */
  run<T>(
    call: (grant: CallGrant) => Promise<T>,
    { signal, onQueued }: { signal: AbortSignal; onQueued?: (ahead: number | null) => void },
  ): Promise<T>;
}

export interface ProgramCall {
  readonly signal: AbortSignal;
  /** The program is killed after this time. */
  readonly timeoutMs: number;
  readonly cwd: string;
  /** Variables added to the minimal environment (PATH, HOME and the like), overriding those of the same name. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Called for each line of stdout and stderr as it arrives, without what the line has beyond 1 MiB. If it throws, the
   * program is killed and the call rejects with the error.
   */
  readonly onLine?: (line: string) => void;
}

export interface ProgramExit {
  /** Null if the program was terminated by a signal. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** The last 64 KB of each stream. */
  readonly stdout: string;
  readonly stderr: string;
}

export interface StreamingCall extends Omit<ProgramCall, 'onLine'> {
  /** Written to stdin, which is then closed. If the iterable throws, the program is ended and `output` throws the error. */
  readonly input: string | AsyncIterable<Uint8Array>;
}

export interface RunningProgram {
  /**
   * The program's stdout, with backpressure: a slow reader slows the program down, and leaving the loop ends it. Throws
   * the signal's reason after an abort, or an error if the program was killed from outside.
   */
  readonly output: AsyncIterable<Uint8Array>;
  /** Resolves and rejects as `run` does; `stdout` is "". */
  readonly exit: Promise<ProgramExit>;
}

/** What the service provides to an engine. */
export interface EngineContext {
  /** Name of the instance in the settings. */
  readonly instance: string;
  /**
   * Use this instead of the global `fetch`: it honours HTTPS_PROXY and NO_PROXY, and avoids a bug in Node's own that lets
   * a server crash the process (nodejs/undici#5360). Connect timeout: 10 s. There is no response timeout other than your
   * signal.
   */
  readonly fetch: typeof globalThis.fetch;
  /**
   * Headers for requests to a provider that are not made with `fetch`, which adds them itself. A service detects by them
   * that it is its own provider, directly or through another one, and they continue the trace of the request
   * (`traceparent`; with a `url` on this machine also `tracestate`).
   */
  readonly providerHeaders: (url?: string) => Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Directory for files that the service built and downloaded. */
  readonly dataDir: string;
  /** Resolves a path from the options; relative paths are relative to the settings file. */
  readonly resolve: (path: string) => string;
  /** CPU cores that the service may use. */
  readonly cores: number;
  /**
   * Creates a private directory (mode 0700). The caller disposes of it; after a crash, the next start removes it. What
   * `decode` writes there counts against the disk budget, what the engine and its programs write does not. Rejects with
   * `storage-full` when the disk is nearly full.
   */
  temporaryDirectory(): Promise<TemporaryDirectory>;
  /**
   * Decodes a recording to WAV, unless it is a slice of a WAV already. May be called repeatedly and concurrently for the
   * same recording: each call decodes into its own file. Rejects with `recording-undecodable`, `recording-too-long` and the like, and then leaves no file behind.
   */
  decode(recording: Recording, { signal }: { signal: AbortSignal }): Promise<Decoded>;
  /** Formats that `encode` supports on this machine: all but opus, flac and aac, which need ffmpeg. */
  readonly formats: readonly SpeechFormat[];
  /**
   * Encodes speech as a stream, off the main thread, with backpressure: samples are read no faster than the audio is.
   * Only wav waits for the end of the samples, because its header contains the length. Throws `format-not-supported`
   * synchronously; failures of `samples` are thrown by the audio's iterator.
   */
  encode(pcm: Pcm, format: SpeechFormat, { signal }: { signal: AbortSignal }): Speech;
  /**
   * The samples of a WAV file, for `encode`, from what a program writes to stdout (`start`) or from a file's bytes: read
   * as they come, as mono 16 bits. Resolves once the header is there. Rejects when the bytes are not a WAV of 8 to 48 kHz.
   * `samples` ends with the bytes: a program that writes to a pipe may announce any greater length. Samples may be views of
   * the chunks: whoever yields a chunk does not write to it again.
   */
  readWav(bytes: AsyncIterable<Uint8Array>): Promise<Pcm>;
  queue(options: CallQueueOptions): CallQueue;
  /**
   * A program that stays loaded between calls, started when it is first called and ended with the service. All of them
   * share one memory budget. The same program is the same `Resident`; another one of the same name replaces it.
   */
  readonly resident: (program: ResidentProgram) => Resident;
  /**
   * Runs a program without a shell, in a minimal environment. The program and its child processes are ended on abort, on
   * timeout and on shutdown. Rejects with the signal's reason, or when the program cannot be started (`overloaded` if the
   * machine is out of processes, memory or file descriptors). Any exit code is a result, not a rejection. A process that
   * outlives the program and holds its pipes is not awaited.
   */
  readonly run: (program: string, args: readonly string[], call: ProgramCall) => Promise<ProgramExit>;
  /**
   * Like `run`, but streams stdin and stdout. Throws if the program does not exist, and the signal's reason if it has
   * already aborted.
   */
  readonly start: (program: string, args: readonly string[], call: StreamingCall) => RunningProgram;
}
