/** A resident program that runs: its protocol (engines/contract/resident.ts), its cancellations, its end. */
import { readFileSync } from 'node:fs';
import { EngineError, type ResidentCall, type ResidentProgram } from '../../../engines/contract/index.ts';
import { onAbort, startTimeout } from '../../../lib/abort.ts';
import { parseObject, wellFormed } from '../../../lib/json.ts';
import { toJsonLine } from '../../../lib/json-lines.ts';
import { lastLine } from '../../../lib/text.ts';
import { LineSplitter } from '../../../lib/line-splitter.ts';
import { ignore } from '../../../lib/ignore.ts';
import { endAfterExit, killGroup, notStarted, spawnProgram, tail } from '../../system/child-process/child.ts';

const readyMs = 120_000;
/** How long a program may take to confirm a cancellation. */
const confirmMs = 100;
const longestMessage = 1_048_576;

interface Asked {
  readonly onMessage: (message: Readonly<Record<string, unknown>>) => void;
  readonly resolve: (done: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Whether its caller has gone. */
  readonly isCancelled: () => boolean;
}

export type HostProcess = ReturnType<typeof startHost>;

export interface Crash {
  readonly failure: Error;
  /** The last line of its stderr. `failure` leaves it out, because the log repeats that for each request that fails. */
  readonly lastLine: string;
}

/**
 * `onEnd` is called once, when its memory is free; with the crash if it ended by itself, but not if it never began. Throws
 * as `spawnProgram` does.
 */
export function startHost({ name, program, args, env = {} }: ResidentProgram, onEnd: (crash?: Crash) => void) {
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

  const lines = new LineSplitter(longestMessage, 'throw');
  // It has ended, and its exit says more, or has closed them, and answers nobody any more.
  stdin?.on('error', kill);
  stdout.once('end', kill);
  // The exit is reported instead of an error of a pipe.
  stdout.on('error', ignore).on('data', (chunk: Buffer) => {
    try {
      for (const line of lines.push(chunk)) receive(line);
    } catch (error) {
      fail(error as Error);
    }
  });
  ready.promise.catch(ignore); // `ready` may have no reader yet
  child.once('error', (cause) => (failure ??= notStarted(program, cause)));
  child.once('exit', () => [stdout, child.stderr].forEach(endAfterExit));
  child.once('close', (code, signal) => {
    settleLoading();
    failure ??= new Error(`${name} ended (${signal ?? `exit code ${String(code)}`})`);
    const error = EngineError.is(failure) ? failure : new EngineError('engine-failed', 'The loaded model failed.', { cause: failure }); // prettier-ignore
    ready.reject(error);
    const questions = [...asked.values()];
    const isWaitedFor = questions.length === 0 || questions.some(({ isCancelled }) => !isCancelled());
    for (const { reject } of questions) reject(error);
    const isCrash = isWanted && isWaitedFor && child.pid !== undefined;
    onEnd(isCrash ? { failure, lastLine: lastLine(stderr()) } : undefined);
  });

  function settleLoading(): void {
    off();
    loading[Symbol.dispose]();
  }

  function kill(): void {
    isEnding = true;
    killGroup(child);
  }

  /** It breaks the protocol. */
  function fail(error: Error): void {
    failure ??= error;
    kill();
  }

  function receive(line: string): void {
    const message = parseObject(line);
    if (message === undefined) throw new Error(`${name} wrote a line that is no JSON object`);
    if (message.ready === true) {
      settleLoading();
      ready.resolve(undefined);
      return;
    }
    const { id, ...rest } = message;
    const question = asked.get(Number(id));
    if ('error' in rest)
      question?.reject(new EngineError('engine-failed', 'The loaded model failed.', { cause: new Error(String(rest.error)) })); // prettier-ignore
    else if ('done' in rest) question?.resolve(rest.done);
    else question?.onMessage(rest);
  }

  const send = (message: object) => stdin?.write(toJsonLine(message, wellFormed));

  /** Ends it: nobody wants it any more. */
  function end(): void {
    isWanted = false;
    kill();
  }

  return {
    ready: ready.promise,
    /** As `Resident.call` of a program that is ready. */
    async call(question: Readonly<Record<string, unknown>>, { signal, onMessage }: ResidentCall): Promise<unknown> {
      signal.throwIfAborted();
      const id = ++lastId;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      let confirming: NodeJS.Timeout | undefined;
      let stopped: { readonly reason: unknown } | undefined;
      const cancel = (reason: unknown) => {
        stopped ??= { reason };
        send({ cancel: id });
        confirming ??= setTimeout(() => {
          if (asked.size === 1) end();
          reject(reason);
        }, confirmMs);
        confirming.unref();
      };
      asked.set(id, {
        resolve,
        reject,
        isCancelled: () => stopped !== undefined,
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
        clearTimeout(confirming);
        asked.delete(id);
      }
      throw stopped.reason;
    },
    pid: child.pid,
    /** It has ended, or will: it takes no more calls. */
    get isEnding(): boolean {
      return isEnding || child.exitCode !== null || child.signalCode !== null;
    },
    /** The most memory that it has used, in bytes; undefined where the system does not say. */
    get peakBytes(): number | undefined {
      return peakBytesOf(child.pid);
    },
    end,
  };
}

/** Linux only. A few microseconds: the file is made in memory. */
function peakBytesOf(pid: number | undefined): number | undefined {
  try {
    const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}
