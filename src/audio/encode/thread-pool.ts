/**
 * Pool of encoder threads. Starting a thread takes 80 ms and 25 MB, so sessions share threads, and idle threads are
 * kept for a while.
 */
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import { compileCacheEnv } from '../../../lib/compile-cache.ts';

/** The extension is `.ts` in the repository and `.js` in the build. */
const workerUrl = new URL(`./encoder-thread${extname(import.meta.url)}`, import.meta.url);

/** More threads would only wait for a core. */
const maxThreads = availableParallelism();

const idleMs = 30_000;

interface Thread {
  readonly worker: Worker;
  sessions: number;
  retirement: NodeJS.Timeout | undefined;
}

const threads = new Set<Thread>();

/** The encoder of one synthesis, in a shared thread. */
export interface EncoderSession {
  readonly worker: Worker;
  /** Port to the encoder; keeps the process alive while a response is pending. */
  readonly port: MessagePort;
  readonly close: () => void;
}

/** The caller must close the session. */
export function openEncoderSession(): EncoderSession {
  const thread = chooseThread();
  const { worker } = thread;
  const { port1: port, port2: other } = new MessageChannel();
  clearTimeout(thread.retirement);
  thread.sessions += 1;
  worker.postMessage(other, [other]);
  return {
    worker,
    port,
    close() {
      port.close();
      thread.sessions -= 1;
      if (thread.sessions === 0) thread.retirement = setTimeout(() => retire(thread), idleMs).unref();
    },
  };
}

/**
 * Removes the thread from the set first, because termination takes a while and a new session must not choose the
 * thread.
 */
function retire(thread: Thread): void {
  threads.delete(thread);
  void thread.worker.terminate();
}

/** Returns an idle thread, otherwise a new one; at the maximum, the thread with the fewest sessions. */
function chooseThread(): Thread {
  const [fewest] = [...threads].sort((a, b) => a.sessions - b.sessions);
  return fewest && (fewest.sessions === 0 || threads.size >= maxThreads) ? fewest : startThread();
}

function startThread(): Thread {
  const worker = new Worker(workerUrl, { env: compileCacheEnv(), execArgv: [] });
  const thread: Thread = { worker, sessions: 0, retirement: undefined };
  const forget = () => {
    clearTimeout(thread.retirement);
    threads.delete(thread);
  };
  worker.setMaxListeners(0); // two listeners per session
  // A crash of an idle thread is not an error. Sessions have their own listeners.
  worker.on('error', forget).on('exit', forget).unref();
  threads.add(thread);
  return thread;
}
