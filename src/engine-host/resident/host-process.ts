/** A running resident program: its protocol (engines/contract/resident.ts), cancellations and exit. */
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { EngineError, type ResidentCall, type ResidentProgram } from '../../../engines/contract/index.ts';
import { onAbort, startTimeout } from '../../../lib/abort.ts';
import { parseObject, wellFormed } from '../../../lib/json.ts';
import { LineSplitter, toJsonLine } from '../../../lib/json-lines.ts';
import { lastLine } from '../../../lib/text.ts';
import { ignore } from '../../../lib/errors.ts';
import { endAfterExit, killGroup, notStarted, spawnProgram, tail } from '../../system/child-process/child.ts';

const readyMs = 120_000;
/** A canceled call waits no longer for the confirmation of the program. */
const rejectMs = 100;
const maxMessageLength = 1_048_576;

interface Asked {
  readonly onMessage: (message: Readonly<Record<string, unknown>>) => void;
  readonly resolve: (done: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** True if the call was canceled. */
  readonly isCanceled: () => boolean;
}

export type HostProcess = ReturnType<typeof startHost>;

export interface Crash {
  readonly failure: Error;
  readonly isKilled: boolean;
  /** The last line of its stderr. Not part of `failure`, because `failure` is logged for each failed request. */
  readonly lastLine: string;
}

/**
 * Starts the program. `onEnd` is called once, when its memory has been freed; it receives the crash if the program had
 * started, and ended although it was still needed. Throws the errors of `spawnProgram`.
 */
export function startHost(resident: ResidentProgram, onEnd: (crash?: Crash) => void) {
  const { name, program, args, env = {}, confirmMs = rejectMs } = resident;
  const options = { cwd: '/', env, signal: new AbortController().signal, timeoutMs: 0 };
  const child = spawnProgram(program, args, options, 'pipe');
  const { stdin, stdout } = child;
  const stderr = tail(child.stderr);
  const asked = new Map<number, Asked>();
  const ready = Promise.withResolvers<undefined>();
  const loading = startTimeout(readyMs, () => new Error(`${name} was not loaded within ${readyMs / 1000} s`));
  const off = onAbort(loading.signal, (reason) => fail(reason as Error));
  let lastId = 0;
  let failure: Error | undefined;
  let isWanted = true;
  let isEnding = false;
  let isLoading = true;

  const lines = new LineSplitter(maxMessageLength, 'throw');
  // If the program closes its pipes, it has exited or can no longer answer.
  stdin?.on('error', kill);
  stdout.once('end', kill);
  // Pipe errors are ignored, because the exit is reported instead.
  stdout.on('error', ignore).on('data', (chunk: Buffer) => {
    try {
      for (const line of lines.push(chunk)) receive(line);
    } catch (error) {
      fail(error as Error);
    }
  });
  if (resident.failure) watch(child.stderr, resident.failure, reportFailure);
  ready.promise.catch(ignore); // `ready` may not be awaited yet
  child.once('error', (cause) => (failure ??= notStarted(program, cause)));
  child.once('exit', () => [stdout, child.stderr].forEach(endAfterExit));
  child.once('close', (code, signal) => {
    settleLoading();
    const isKilled = failure === undefined && signal === 'SIGKILL';
    failure ??= new Error(`${name} ended (${signal ?? `exit code ${String(code)}`})`);
    const error = EngineError.is(failure)
      ? failure
      : new EngineError('engine-failed', 'The loaded model failed.', { cause: failure });
    ready.reject(error);
    const questions = [...asked.values()];
    const isWaitedFor = questions.length === 0 || questions.some(({ isCanceled }) => !isCanceled());
    for (const { reject } of questions) reject(error);
    const isCrash = isWanted && isWaitedFor && child.pid !== undefined;
    onEnd(isCrash ? { failure, isKilled, lastLine: lastLine(stderr()) } : undefined);
  });

  function settleLoading(): void {
    off();
    loading[Symbol.dispose]();
  }

  function kill(): void {
    isEnding = true;
    killGroup(child);
  }

  /** Kills a program that has failed, for example by violating the protocol. */
  function fail(error: Error): void {
    failure ??= error;
    kill();
  }

  function receive(line: string): void {
    const message = parseObject(line);
    if (message === undefined) throw new Error(`${name} wrote a line that is not a JSON object`);
    if (message.ready === true) {
      afterStderr(() => {
        if (failure) return;
        isLoading = false;
        settleLoading();
        ready.resolve(undefined);
      });
      return;
    }
    const { id, ...rest } = message;
    const question = asked.get(Number(id));
    if ('error' in rest)
      question?.reject(
        new EngineError('engine-failed', 'The loaded model failed.', { cause: new Error(String(rest.error)) }),
      );
    else if ('done' in rest) afterStderr(() => question?.resolve(rest.done));
    else question?.onMessage(rest);
  }

  /**
   * Calls `next` once everything that the program has already written to stderr has been read, which takes at most two
   * event loop turns.
   */
  function afterStderr(next: () => void): void {
    if (resident.failure) setImmediate(() => setImmediate(next));
    else next();
  }

  function reportFailure(found: string): void {
    if (isLoading) fail(new Error(`${name} could not be loaded: ${found}`));
    else for (const question of asked.values()) question.onMessage({ failure: found });
  }

  const send = (message: object) => stdin?.write(toJsonLine(message, wellFormed));

  /** Ends a program that is no longer needed. */
  function end(): void {
    isWanted = false;
    kill();
  }

  return {
    ready: ready.promise,
    /** Implements `Resident.call` for a program that is ready. */
    async call(question: Readonly<Record<string, unknown>>, { signal, onMessage }: ResidentCall): Promise<unknown> {
      signal.throwIfAborted();
      const id = ++lastId;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      let confirming: NodeJS.Timeout | undefined;
      let rejecting: NodeJS.Timeout | undefined;
      let stopped: { readonly reason: unknown } | undefined;
      const cancel = (reason: unknown) => {
        stopped ??= { reason };
        send({ cancel: id });
        // Of two timers with the same delay, the first one fires first: no further call reaches a program that is killed.
        confirming ??= setTimeout(() => {
          asked.delete(id);
          if (asked.size === 0) end();
        }, confirmMs).unref();
        rejecting ??= setTimeout(() => reject(reason), rejectMs).unref();
      };
      const settle = () => {
        clearTimeout(confirming);
        asked.delete(id);
      };
      asked.set(id, {
        resolve: (done) => (settle(), resolve(done)),
        reject: (error) => (settle(), reject(error)),
        isCanceled: () => stopped !== undefined,
        onMessage(message) {
          if (stopped) return;
          try {
            onMessage?.(message);
          } catch (error) {
            cancel(error);
          }
        },
      });
      const offAbort = onAbort(signal, cancel);
      try {
        send({ ...question, id });
        const done = await promise;
        if (!stopped) return done;
      } catch (error) {
        if (!stopped) throw error;
      } finally {
        offAbort();
        clearTimeout(rejecting);
      }
      throw stopped.reason;
    },
    pid: child.pid,
    /** True if the program has ended or is about to end, and therefore accepts no calls. */
    get isEnding(): boolean {
      return isEnding || child.exitCode !== null || child.signalCode !== null;
    },
    /** Peak memory in bytes; undefined if the system does not report it. */
    get peakBytes(): number | undefined {
      return peakBytesOf(child.pid);
    },
    end,
  };
}

const watchedCharacters = 4_096;

/** Calls `report` when the incoming text matches, at most once per chunk. */
function watch(stream: Readable, pattern: RegExp, report: (found: string) => void): void {
  let recent = '';
  stream.on('data', (chunk: Buffer) => {
    recent = (recent + chunk.toString('utf8')).slice(-watchedCharacters);
    const [found] = pattern.exec(recent) ?? [];
    if (found === undefined) return;
    recent = '';
    report(found);
  });
}

/** Linux only. Takes a few microseconds, because /proc is in memory. */
function peakBytesOf(pid: number | undefined): number | undefined {
  try {
    const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}
