import type { Pcm, Speech, SpeechFormat } from './speech.ts';
import type { Recording } from './transcription.ts';

export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface Decoded {
  /** 16 kHz mono 16-bit PCM in a WAV file that we wrote; it goes when the recording goes. */
  readonly wavPath: string;
  /** From the decoded samples, not from a header. */
  readonly durationMs: number;
}

export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
}

export interface QueueOptions {
  /** Jobs at once. */
  readonly slots: number;
  /** Jobs that may wait; beyond that one is refused with `overloaded`. */
  readonly waiting: number;
}

/**
 * Bounded, and fair between callers (those of the requests in which `run` is called): they take turns, and each one's
 * jobs run first in, first out. When no further job may wait, a caller with few jobs pushes out the newest of the caller
 * with the most waiting, which rejects with `overloaded`. A job whose signal aborts leaves the queue; one whose deadline
 * passes there is `overloaded`.
 */
export interface JobQueue {
  /** True when every slot is taken and no further job may wait. `run` may still find a place, by pushing out another. */
  readonly full: boolean;
  run<T>(job: () => Promise<T>, { signal }: { signal: AbortSignal }): Promise<T>;
}

export interface ProgramCall {
  readonly signal: AbortSignal;
  /** The program is killed after this many milliseconds. */
  readonly timeoutMs: number;
  readonly cwd: string;
  /** Variables beside the minimal environment (PATH, HOME and the like), or in their place. */
  readonly env?: Readonly<Record<string, string>>;
  /** Each line of stdout and of stderr, as it comes. */
  readonly onLine?: (line: string) => void;
}

export interface ProgramExit {
  /** Null when the program was ended by a signal. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** The last 64 KB of stdout and of stderr. */
  readonly stdout: string;
  readonly stderr: string;
}

export interface StreamingCall extends Omit<ProgramCall, 'onLine'> {
  /** Written to stdin, which is then closed. A failure of the iterable ends the program and is thrown by its output. */
  readonly input: string | AsyncIterable<Uint8Array>;
}

export interface RunningProgram {
  /**
   * What it writes to stdout; reading slowly slows the program down, and leaving the loop ends it. Throws when the
   * program was ended from outside: the signal's reason, or that it was killed.
   */
  readonly output: AsyncIterable<Uint8Array>;
  /** As `run` resolves and rejects; `stdout` is "". */
  readonly exit: Promise<ProgramExit>;
}

/** What the service lends to an engine. */
export interface EngineContext {
  /** The instance's name in the settings. */
  readonly instance: string;
  /**
   * Use this one, never the global one: it honours HTTPS_PROXY and NO_PROXY, and survives servers that end the process
   * through Node's own (nodejs/undici#5360). Connecting may take 10 s; an answer has no deadline but your signal.
   */
  readonly fetch: typeof globalThis.fetch;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Where the service keeps what it built and downloaded. */
  readonly dataDir: string;
  /** The absolute form of a path in the options: relative ones are relative to the settings file. */
  readonly resolve: (path: string) => string;
  /** Processor cores that the service may use. */
  readonly cores: number;
  /** Private (0700), owned by the caller, who disposes of it; swept at the next start after a crash. */
  temporaryDirectory(): Promise<TemporaryDirectory>;
  /**
   * May be called again for the same recording, at the same time too: each call decodes anew into a file of its own.
   * Rejects with `recording-undecodable`, `recording-too-long` and the like, and leaves no file then.
   */
  decode(recording: Recording, { signal }: { signal: AbortSignal }): Promise<Decoded>;
  /** The formats that `encode` can make on this machine: all but opus, which needs ffmpeg. */
  readonly formats: readonly SpeechFormat[];
  /**
   * Encodes speech while it is made, off the main thread; wav alone waits for the end, since its header says the length.
   * Reads the samples no faster than the audio is read. Failures of `samples` are thrown by the audio's iterator;
   * `format-not-supported` is thrown at once.
   */
  encode(pcm: Pcm, format: SpeechFormat, { signal }: { signal: AbortSignal }): Speech;
  /**
   * The samples of a WAV file, for `encode`, from what a program writes to stdout (`start`) or from a file's bytes: read
   * as they come, as mono 16 bits. Resolves once the header is there. Rejects when the bytes are no WAV of 8 to 48 kHz;
   * `samples` throws when some that the header announces are missing.
   */
  readWav(bytes: AsyncIterable<Uint8Array>): Promise<Pcm>;
  queue(options: QueueOptions): JobQueue;
  /**
   * Runs a program without a shell, in a minimal environment, and ends it (with the programs that it started) on
   * abort, on its deadline and when the service ends. Rejects when it could not be started (with `overloaded` when the
   * machine is at its limit), and with the signal's reason; any exit is a result.
   */
  readonly run: (program: string, args: readonly string[], call: ProgramCall) => Promise<ProgramExit>;
  /**
   * The same for a program that is fed through stdin and writes bytes to stdout, which are read as they come. Throws
   * when there is no such program, and the signal's reason when it has been aborted already.
   */
  readonly start: (program: string, args: readonly string[], call: StreamingCall) => RunningProgram;
}
