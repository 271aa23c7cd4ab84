/** Guards the calls of an engine: an exception, an invalid result or a hang fails only that call. */
import type {
  AgentEvent,
  ChatEngine,
  Logger,
  Speech,
  SpeakerFinder,
  SpeechEngine,
  Tool,
  TranscriptionEngine,
  Usage,
} from '../../../engines/contract/index.ts';
import { EngineError } from '../../../engines/contract/index.ts';
import { checkSpans, checkSpeakers, checkTime, checkTranscript, isAmount, isCount, must, objectOf } from './answers.ts';
import { Callbacks, markHandled, safely } from './callbacks.ts';
import { createEventCheck } from './events.ts';
import { asError, failureOf, type FailureFacts } from './failures.ts';
import { type SharedDeadline, Wait } from './shared-deadline.ts';
import { lengthOf } from '../../../lib/wav.ts';
import { onAbort, reasonOf } from '../../../lib/abort.ts';

export interface CallFacts extends FailureFacts {
  /** Grace period between aborting a call and rejecting it. */
  readonly abortMs: number;
  /** Idle timeout between chat events. */
  readonly chatIdle: SharedDeadline;
  readonly log: Logger;
}

export function guardTranscribe(
  engine: Pick<TranscriptionEngine, 'transcribe'>,
  facts: Pick<CallFacts, 'instance' | 'abortMs' | 'recheck'>,
): TranscriptionEngine['transcribe'] {
  return async (call, { signal, onSegment, onProgress, onQueued }) => {
    using callbacks = new Callbacks(facts.instance, signal);
    const options = {
      signal: callbacks.signal,
      ...(onSegment && { onSegment: callbacks.guard((segment: unknown) => onSegment(checkTime(segment))) }),
      ...(onProgress && {
        onProgress: callbacks.guard((ms: unknown, durationMs: unknown) => {
          if (isAmount(ms)) onProgress(ms, isAmount(durationMs) ? durationMs : undefined);
        }),
      }),
      ...(onQueued && {
        onQueued: callbacks.guard((ahead: unknown) => {
          if (ahead === null || isCount(ahead)) onQueued(ahead);
        }),
      }),
    };
    try {
      const answer = await outcome(() => engine.transcribe(call, options), callbacks.signal, facts.abortMs);
      if (callbacks.failure) throw callbacks.failure;
      return checkTranscript(answer);
    } catch (error) {
      throw callbacks.failure ?? failureOf(error, facts, signal);
    }
  };
}

/** Never rejects. */
export function guardWarmUp<Args extends readonly [call?: unknown, options?: { readonly signal: AbortSignal }]>(
  engine: { warmUp?(...args: Args): Promise<void> },
  { log }: Pick<CallFacts, 'log'>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    try {
      await engine.warmUp?.(...args);
    } catch (error) {
      const isAborted = args[1]?.signal.aborted ?? false;
      const isExpected = isAborted || EngineError.is(error); // the call that follows reports it
      log[isExpected ? 'debug' : 'warn']({ err: asError(error) }, 'the engine failed to warm up');
    }
  };
}

/** Never rejects: resolves with undefined if the engine fails or the call is aborted. */
export function guardFindSpeech(
  engine: Pick<TranscriptionEngine, 'findSpeech'>,
  { log }: Pick<CallFacts, 'log'>,
): NonNullable<TranscriptionEngine['findSpeech']> {
  return async (wavPath, durationMs, { signal }) => {
    try {
      const spans = await outcome(() => engine.findSpeech?.(wavPath, durationMs, { signal }), signal, 0);
      return spans === undefined ? undefined : checkSpans(spans, durationMs);
    } catch (error) {
      if (!signal.aborted) log.warn({ err: asError(error) }, 'the engine failed to find speech');
      return undefined;
    }
  };
}

export function guardSpeakers(
  finder: SpeakerFinder,
  facts: Pick<CallFacts, 'instance' | 'abortMs' | 'recheck'>,
): SpeakerFinder {
  return {
    get maxMs() {
      const { maxMs } = finder;
      return isAmount(maxMs) ? maxMs : undefined;
    },
    async find(sound, { onProgress, ...options }) {
      const { signal } = options;
      using callbacks = new Callbacks(facts.instance, signal);
      const report = callbacks.guard((fraction: unknown) => {
        if (isAmount(fraction)) onProgress?.(fraction);
      });
      const call = { ...options, signal: callbacks.signal, onProgress: report };
      try {
        return checkSpeakers(
          await outcome(() => finder.find(sound, call), callbacks.signal, facts.abortMs),
          lengthOf(sound),
        );
      } catch (error) {
        throw callbacks.failure ?? failureOf(error, facts, signal);
      }
    },
  };
}

export function guardSynthesize(engine: SpeechEngine, facts: CallFacts): SpeechEngine['synthesize'] {
  return async (call, { signal }) => {
    try {
      const speech = await outcome(() => engine.synthesize(call, { signal }), signal, facts.abortMs);
      return guardSpeech(speech, facts, signal);
    } catch (error) {
      throw failureOf(error, facts, signal);
    }
  };
}

function guardSpeech(value: unknown, facts: FailureFacts, signal: AbortSignal): Speech {
  const { mediaType, audio } = objectOf(value, 'the speech');
  must(typeof mediaType === 'string', 'the media type of the speech is not a string');
  const guarded = new GuardedIterator({ ...facts, signal, check: checkChunk });
  guarded.open(iteratorOf(audio, 'the audio of the speech'));
  return { mediaType, audio: { [Symbol.asyncIterator]: () => guarded } };
}

function checkChunk(value: unknown): Uint8Array {
  must(value instanceof Uint8Array, 'the audio has a chunk that is not a Uint8Array');
  return value;
}

export function guardComplete(engine: ChatEngine, facts: CallFacts): ChatEngine['complete'] {
  const { instance, recheck, chatIdle: idle } = facts;
  return (call, { signal, tools, onUsage }) => {
    const check = createEventCheck(call.tools !== undefined);
    const events = new GuardedIterator<AgentEvent>({ instance, recheck, signal, idle, check });
    const options = {
      signal,
      tools: tools.map((tool) => guardTool(tool, events.fail)),
      ...(onUsage && { onUsage: safely((usage: Usage) => isAmount(usage.totalTokens) && onUsage(usage), events.fail) }),
    };
    try {
      const run: unknown = engine.complete(call, options);
      // A promise returned instead of an iterable must not cause an unhandled rejection.
      if (run instanceof Promise) run.catch(() => undefined);
      events.open(iteratorOf(run, 'what `complete()` returned'));
      signal.addEventListener('abort', events.interrupt);
      return { [Symbol.asyncIterator]: () => events };
    } catch (error) {
      throw failureOf(error, facts, signal);
    }
  };
}

function guardTool(tool: Tool, fail: (error: unknown) => void): Tool {
  const run = async (args: Parameters<Tool['run']>[0], { signal, emit }: Parameters<Tool['run']>[1]) =>
    tool.run(args, { signal, emit: safely(emit, fail) });
  return { ...tool, run: (args, call) => markHandled(run(args, call)) };
}

/**
 * Settles like `work`, or rejects with the abort reason if the work has not ended `abortMs` after the abort. The grace
 * period exists because the files of the call are removed as soon as it ends.
 */
export function outcome<T>(work: () => T | PromiseLike<T>, signal: AbortSignal, abortMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const giveUp = () => {
      timer = setTimeout(() => reject(reasonOf(signal)), abortMs);
    };
    const off = onAbort(signal, giveUp);
    const end = () => {
      clearTimeout(timer);
      off();
    };
    invoke(work).then(
      (value) => (end(), resolve(value)),
      (error: unknown) => (end(), reject(error as Error)),
    );
  });
}

/** Calls an engine's code, and converts synchronous exceptions and custom thenables to a native promise. */
async function invoke<T>(work: () => T | PromiseLike<T>): Promise<T> {
  return await work();
}

/** The members of an engine's iterator that are used. */
interface Source {
  next(): unknown;
  return?(): unknown;
}

function iteratorOf(value: unknown, what: string): Source {
  const iterable = value as Partial<AsyncIterable<unknown>> | null | undefined;
  const open = iterable?.[Symbol.asyncIterator];
  must(typeof open === 'function', `${what} is not an async iterable`);
  return objectOf(open.call(iterable), `the iterator of ${what}`) as unknown as Source;
}

interface IteratorFacts<T> extends FailureFacts {
  readonly signal: AbortSignal;
  /** Returns undefined if the value should be dropped. */
  readonly check: (value: unknown) => T | undefined;
  /** Absent if the consumer has its own timeout. */
  readonly idle?: SharedDeadline;
}

/**
 * A class instead of a generator, which would take 5 % of the CPU time of a plain chat and could not be canceled while
 * waiting. It allows one `next` at a time, so that its state is allocated once.
 */
class GuardedIterator<T> implements AsyncIterator<T, undefined> {
  readonly #facts: IteratorFacts<T>;
  readonly #wait: Wait;
  #source: Source | undefined;
  /** Failure of a callback between two calls of `next()`. */
  #failure: Error | undefined;
  #resolve: ((result: IteratorResult<T, undefined>) => void) | undefined;
  #reject: ((reason: Error) => void) | undefined;

  constructor(facts: IteratorFacts<T>) {
    this.#facts = facts;
    this.#wait = new Wait(() => this.#fail(this.#late()));
  }

  open(source: Source): void {
    this.#source = source;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#facts.idle?.begin(this.#wait);
      this.#pull();
      if (this.#facts.signal.aborted) this.interrupt();
    });
  }

  readonly #pull = (): void => {
    try {
      Promise.resolve(this.#source?.next()).then(this.#take, this.#fail);
    } catch (error) {
      this.#fail(error);
    }
  };

  readonly #take = (result: unknown): void => {
    try {
      const checked = this.#check(result);
      if (checked === undefined) {
        setImmediate(this.#pull); // deferred, because an engine that never awaits would block the process
        return;
      }
      this.#facts.idle?.end(this.#wait);
      this.#resolve?.(checked);
    } catch (error) {
      this.#fail(error);
    }
  };

  readonly #fail = (error: unknown): void => {
    this.#facts.idle?.end(this.#wait);
    this.#reject?.(failureOf(error, this.#facts, this.#facts.signal));
  };

  /** Called by callbacks: rejects the pending `next()`, or the next one. */
  readonly fail = (error: unknown): void => {
    this.#failure ??= failureOf(error, this.#facts);
    this.#fail(this.#failure);
  };

  /** Rejects the pending `next()` with the signal's reason, even if the engine ignores the signal. */
  readonly interrupt = (): void => {
    this.#facts.idle?.end(this.#wait);
    this.#reject?.(reasonOf(this.#facts.signal));
  };

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#facts.signal.removeEventListener('abort', this.interrupt);
    try {
      await this.#source?.return?.();
    } catch (error) {
      throw failureOf(error, this.#facts, this.#facts.signal);
    }
    return { done: true, value: undefined };
  }

  /** Returns undefined if the result should be dropped. */
  #check(result: unknown): IteratorResult<T, undefined> | undefined {
    const { done, value } = objectOf(result, 'the result of `next()`');
    if (done) {
      this.#facts.signal.removeEventListener('abort', this.interrupt);
      return { done: true, value: undefined };
    }
    const checked = this.#facts.check(value);
    return checked && { done: false, value: checked };
  }

  #late(): EngineError {
    return new EngineError('engine-timeout', `The engine ${this.#facts.instance} sent no event in time.`);
  }
}
