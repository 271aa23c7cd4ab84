/**
 * The engine contract, version 1: all that an engine may know of the service.
 *
 * An engine is a module whose default export is `defineEngine({...})`, or a list of such. It imports nothing
 * of the service but this file; whatever else it needs arrives in its `EngineContext`.
 *
 * The service guards every function of an engine. One that throws what is no `EngineError`, returns what its type does
 * not allow, or takes longer than its deadline costs its own entry (`engine-failed`) or its own call (`engine-failed`,
 * `engine-timeout`), and the log has the cause. Out of reach are a loop that never yields, `process.exit()`, and errors
 * that are thrown where nobody waits (a timer, a listener, a promise that is not returned): these end the service.
 *
 * Version 1 grows only by what is optional: an engine that works today works with every service of version 1. What
 * would break one is version 2, and a service names the versions that it takes.
 */

export type Capability = 'transcription' | 'chat' | 'speech';

/** What an engine's module exports by default. `Options` is the type that `options` (a JSON Schema) describes. */
export interface EngineDefinition<C extends Capability = Capability, Options = unknown> {
  /** The version of this contract that the engine was written for. */
  readonly contract: 1;
  /** The engine's name in listings and messages, in lower case with hyphens. */
  readonly name: string;
  readonly capability: C;
  /** JSON Schema (2020-12) of the engine's settings, without `use`. Checked at start. */
  readonly options: OptionsSchema;
  /**
   * Throws an `OptionsError` for options that are wrong in a way that the schema cannot say: it stops the start. After any
   * other failure, and after 30 s, the service starts without the instance, unless it is the only one.
   */
  create(options: Options, context: EngineContext): Engines[C] | Promise<Engines[C]>;
}

/** A JSON Schema of an object; `additionalProperties: false` makes a misspelled setting stop the start. */
export interface OptionsSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly $defs?: Readonly<Record<string, unknown>>;
}

export interface Engines {
  transcription: TranscriptionEngine;
  chat: ChatEngine;
  speech: SpeechEngine;
}

/** What every engine has, whatever it can do. The optional methods are abilities that not every engine needs. */
export interface Engine {
  /**
   * The entries it serves now, each id once. Called for every listing and every request: answer from memory. The first
   * call has 10 s, every other one 1 s; when it fails, the last list stands (at first there is none), and it is asked
   * again after 5 s.
   */
  models(): Promise<readonly ModelEntry[]>;
  /**
   * Whether the model can work: free of charge, without side effects, within milliseconds. It has 1 s. When it fails, its
   * last good answer stands for 30 s; after that the model is `engine-failed`, and it is asked again every 5 s. Calls at
   * the same time may share an answer. An `EngineError` with the code `unknown-model` is an answer.
   */
  availability(modelId: string): Promise<Availability>;
  /**
   * Fetches and builds what the engine needs but does not find. Runs in the background of a start, or as `npm run setup`.
   * The message of what it throws is shown at the terminal. After an abort it has 5 s to end.
   */
  prepare?(call: PrepareCall): Promise<void>;
  /** What was found on this machine and what is missing, for `npm run doctor`. It has 30 s. */
  inspect?(): Promise<readonly Finding[]>;
  /** Ends whatever the engine still runs. It has 5 s. */
  [Symbol.asyncDispose]?(): Promise<void>;
}

export interface ModelEntry {
  /** As written in the settings; of a discovered model, the provider's own id. */
  readonly id: string;
  /** For people; the id when absent. */
  readonly name?: string;
  /** True when the engine's calls for this model never leave the machine. */
  readonly local: boolean;
  /** Read from a provider rather than written in the settings: the registry then serves it as `instance/id`. */
  readonly discovered?: boolean;
  /** Of a speech model whose voices are known. */
  readonly voices?: readonly Voice[];
}

export interface Voice {
  readonly id: string;
  readonly name: string;
  /** ISO 639-1, or null when the voice speaks several languages. */
  readonly language: string | null;
}

export const availabilityCodes = [
  'ready',
  'disabled',
  'unknown-model',
  'no-model',
  'program-missing',
  'model-file-missing',
  'key-missing',
  'key-refused',
  'upstream-unreachable',
  'preparing',
  'busy',
  /** The service's word for an engine that throws or never answers; an engine must not say it itself. */
  'engine-failed',
] as const;
export type AvailabilityCode = (typeof availabilityCodes)[number];

/** `available: false` only for what does not pass by itself: a frontend asks once and hides its microphone. */
export interface Availability {
  readonly available: boolean;
  readonly code: AvailabilityCode;
  /** A sentence for the person who reads it: what is missing and how to get it. */
  readonly reason: string;
}

export interface PrepareCall {
  readonly signal: AbortSignal;
  /** `fraction` runs from 0 to 1; it is null while the size of the work is not known. */
  readonly progress: (step: string, fraction: number | null) => void;
}

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  /** The version and place of what was found, or what is wrong. */
  readonly detail: string;
  /** The command that mends it. */
  readonly mend?: string;
}

// ---------------------------------------------------------------------------------------------- transcription

export const containers = ['webm', 'mp4', 'ogg', 'mp3', 'wav', 'flac'] as const;
export type Container = (typeof containers)[number];

/** A recording on this machine's disk, sniffed and stored by the service, gone when its request ends. */
export interface Recording {
  readonly path: string;
  /** Size in bytes, 1 to 26214400. */
  readonly bytes: number;
  /** By its first bytes; the caller's file name and media type decide nothing. */
  readonly container: Container;
  /** The media type that belongs to the container. */
  readonly mediaType: string;
}

export interface Transcript {
  /** One continuous string; "" is silence, a success. */
  readonly text: string;
  /** The language that was heard, ISO 639-1, or null when the model does not say. */
  readonly language: string | null;
  /** Length of the recording in milliseconds, where the model reports it. */
  readonly durationMs?: number;
}

export interface TranscriptionCall {
  readonly recording: Recording;
  readonly model: string;
  /** ISO 639-1, two letters; absent: the model detects it. */
  readonly language?: string;
}

export interface TranscriptionEngine extends Engine {
  /** Rejects with an `EngineError`, or with the signal's reason within 250 ms of its abort: then it is no longer awaited. */
  transcribe(call: TranscriptionCall, { signal }: { signal: AbortSignal }): Promise<Transcript>;
}

// ------------------------------------------------------------------------------------------------------- chat

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface ChatCall {
  readonly messages: readonly Message[];
  readonly model: string;
  /** Absent means the provider's own default, for this and the next two. */
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly topP?: number;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Answers what the model reads. A failure is thrown; the loop tells the model and goes on. */
  run(
    args: Readonly<Record<string, unknown>>,
    call: { readonly signal: AbortSignal; readonly emit: (event: ToolEvent) => void },
  ): Promise<string>;
}

/** What a tool may say of itself while it runs. */
export type ToolEvent =
  | { readonly type: 'progress'; readonly progress: number; readonly total?: number; readonly message?: string }
  | { readonly type: 'audio'; readonly clip: { readonly id: string; readonly mediaType: string } };

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens: number;
}

export type FinishReason = 'stop' | 'length' | 'content_filter';

export interface ChatResult {
  readonly content: string;
  readonly finishReason: FinishReason;
  readonly reasoning: string | null;
  readonly usage: Usage | null;
}

/** Steps count from 0; `call` numbers the tool calls of a step in the model's order, from 0. */
export type AgentEvent =
  | { readonly type: 'step-started'; readonly step: number }
  | { readonly type: 'reasoning-delta'; readonly step: number; readonly delta: string }
  | { readonly type: 'content-delta'; readonly step: number; readonly delta: string }
  | {
      readonly type: 'tool-started';
      readonly step: number;
      readonly call: number;
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'tool-event'; readonly step: number; readonly call: number; readonly event: ToolEvent }
  | {
      readonly type: 'tool-finished';
      readonly step: number;
      readonly call: number;
      readonly name: string;
      readonly ok: boolean;
      readonly output?: string;
      readonly error?: string;
      readonly durationMs: number;
    }
  | { readonly type: 'completed'; readonly result: ChatResult };

export interface ChatEngine extends Engine {
  /**
   * The run's events; exactly one `completed`, always last. A failure is thrown as an `EngineError`. A wait of 2 hours for
   * the next event ends the run with `engine-timeout`; time in which nobody reads does not count.
   */
  complete(
    call: ChatCall,
    options: { readonly signal: AbortSignal; readonly tools: readonly Tool[] },
  ): AsyncIterable<AgentEvent>;
}

// ----------------------------------------------------------------------------------------------------- speech

export const speechFormats = ['mp3', 'wav', 'ogg', 'opus'] as const;
export type SpeechFormat = (typeof speechFormats)[number];

export interface SpeechCall {
  readonly text: string;
  readonly model: string;
  readonly voice?: string;
  readonly language?: string;
  readonly format: SpeechFormat;
}

export interface Speech {
  readonly mediaType: string;
  readonly audio: AsyncIterable<Uint8Array>;
}

/** Sound as engines make it: mono, 16 bits. */
export interface Pcm {
  /** Samples per second, 8000 to 48000. */
  readonly sampleRate: number;
  readonly samples: AsyncIterable<Int16Array>;
}

export interface SpeechEngine extends Engine {
  /** Resolves once the first bytes are there; failures after that are thrown by the iterator. */
  synthesize(call: SpeechCall, { signal }: { signal: AbortSignal }): Promise<Speech>;
}

// ---------------------------------------------------------------------------------------------------- context

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

// ----------------------------------------------------------------------------------------------------- errors

/** The problem codes that an engine may answer with. Status and title follow from the code, in the service. */
export const engineErrorCodes = [
  'recording-empty',
  'recording-too-large',
  'recording-too-long',
  'recording-undecodable',
  'language-not-supported',
  'voice-not-supported',
  'format-not-supported',
  'unknown-model',
  'model-unavailable',
  'overloaded',
  'storage-full',
  'engine-failed',
  'engine-timeout',
  'context-length-exceeded',
  'content-rejected',
  'provider-rejected-request',
  'provider-quota-exhausted',
  'provider-rate-limited',
  'provider-auth-failed',
  'provider-misconfigured',
  'provider-unreachable',
  'provider-error',
  'provider-bad-response',
  'provider-overloaded',
  'provider-timeout',
] as const;
export type EngineErrorCode = (typeof engineErrorCodes)[number];

const brand = Symbol.for('parlance.engine-error');

/** An engine's failure. The message goes to the caller; what is private belongs into `cause`, which only the log sees. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;
  /** Seconds. */
  readonly retryAfter: number | undefined;
  readonly [brand] = true;

  constructor(
    code: EngineErrorCode,
    publicMessage: string,
    { cause, retryAfter }: { cause?: unknown; retryAfter?: number } = {},
  ) {
    super(publicMessage, { cause });
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** By brand, not by class: an engine from another package brings its own copy of this file. */
  static is(error: unknown): error is EngineError {
    return hasBrand(error, brand);
  }
}

const optionsBrand = Symbol.for('parlance.options-error');

/**
 * Thrown by `create()` for options that contradict each other in a way that no JSON Schema can say. It stops the start;
 * the message says which option is wrong, and what is right.
 */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  readonly [optionsBrand] = true;

  /** By brand, as for `EngineError`. */
  static is(error: unknown): error is OptionsError {
    return hasBrand(error, optionsBrand);
  }
}

function hasBrand(error: unknown, mark: symbol): boolean {
  try {
    return typeof error === 'object' && error !== null && mark in error;
  } catch {
    return false; // a Proxy whose trap throws
  }
}

/** Gives the definition its types; the check that it is one happens in the registry, at run time. */
export function defineEngine<C extends Capability, Options>(
  definition: EngineDefinition<C, Options>,
): EngineDefinition<C, Options> {
  return definition;
}
