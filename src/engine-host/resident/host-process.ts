/** A resident program that runs: its protocol (engines/contract/resident.ts), its cancellations, its end. */
import { readFileSync } from 'node:fs';
import { EngineError, type ResidentCall, type ResidentProgram } from '../../../engines/contract/index.ts';
import { onAbort, reasonOf, startTimeout } from '../../../lib/abort.ts';
import { parseObject } from '../../../lib/json.ts';
import { LineSplitter } from '../../system/child-process/line-splitter.ts';
import { endAfterExit, tail } from '../../system/child-process/output.ts';
import { notStarted, spawnProgram } from '../../system/child-process/spawn.ts';
import { killGroup } from '../../system/child-process/terminate.ts';

/** By this variable in its environment a process is known as a resident. */
export const residentVariable = 'PARLANCE_RESIDENT';

const readyMs = 120_000;
/** How long a program may take to confirm a cancellation. */
const confirmMs = 100;
const longestMessage = 1_048_576;

interface Asked {
  readonly onMessage: (message: Readonly<Record<string, unknown>>) => void;
  readonly resolve: (done: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export type HostProcess = ReturnType<typeof startHost>;

/** `onEnd` is called once, when its memory is free; with an error unless `end` was called before. Throws as `spawnProgram` does. */
export function startHost({ name, program, args, env = {} }: ResidentProgram, onEnd: (failure?: Error) => void) {
  const options = {
    cwd: '/',
    env: { ...env, [residentVariable]: '1' },
    signal: new AbortController().signal,
    timeoutMs: 0,
  };
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

  const lines = new LineSplitter(longestMessage, 'throw');
  stdin?.on('error', ignore); // it has ended: its exit says more
  stdout.once('end', () => {
    if (child.exitCode === null && child.signalCode === null) fail(new Error(`${name} closed its output`));
  });
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
    failure ??= new Error(`${name} ended (${signal ?? `exit code ${String(code)}`}): ${stderr().trim().slice(-2_000)}`);
    const error = EngineError.is(failure) ? failure : new EngineError('engine-failed', 'The loaded model failed.', { cause: failure }); // prettier-ignore
    ready.reject(error);
    for (const { reject } of asked.values()) reject(error);
    onEnd(isWanted ? failure : undefined);
  });

  function settleLoading(): void {
    off();
    loading[Symbol.dispose]();
  }

  /** It breaks the protocol. */
  function fail(error: Error): void {
    failure ??= error;
    killGroup(child);
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

  const send = (message: object) => stdin?.write(`${JSON.stringify(message)}\n`);

  /** Ends it: nobody wants it any more. */
  function end(): void {
    isWanted = false;
    killGroup(child);
  }

  return {
    ready: ready.promise,
    /** As `Resident.call` of a program that is ready. */
    async call(question: Readonly<Record<string, unknown>>, { signal, onMessage }: ResidentCall): Promise<unknown> {
      const id = ++lastId;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      let confirming: NodeJS.Timeout | undefined;
      const cancel = (reason: unknown) => {
        send({ cancel: id });
        confirming ??= setTimeout(() => {
          if (asked.size === 1) end();
          reject(reason);
        }, confirmMs);
        confirming.unref();
      };
      let broken: { readonly error: unknown } | undefined;
      asked.set(id, {
        resolve,
        reject,
        onMessage(message) {
          if (broken || signal.aborted) return;
          try {
            onMessage?.(message);
          } catch (error) {
            broken = { error };
            cancel(error);
          }
        },
      });
      const offAbort = onAbort(signal, cancel);
      try {
        send({ ...question, id });
        return await promise;
      } catch (error) {
        if (broken) throw broken.error;
        throw signal.aborted ? reasonOf(signal) : error;
      } finally {
        offAbort();
        clearTimeout(confirming);
        asked.delete(id);
      }
    },
    /** It has ended, or will: it takes no more calls. */
    get isEnding(): boolean {
      return !isWanted || failure !== undefined;
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

function ignore(): void {
  // Reported by the exit instead.
}
