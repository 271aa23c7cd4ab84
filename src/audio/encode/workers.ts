/** The encoders' threads. One takes 25 MB, and 80 ms to start: they share the speeches, and idle ones are kept for a while. */
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';

/** `.ts` in the repository, `.js` once it is built. */
const workerUrl = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/** More would only wait for a core. */
const mostThreads = availableParallelism();

const keptMs = 30_000;

interface Thread {
  readonly worker: Worker;
  speeches: number;
  retirement: NodeJS.Timeout | undefined;
}

const threads = new Set<Thread>();

/** A speech's encoder, in a thread that others use too. */
export interface Seat {
  readonly worker: Worker;
  /** To the encoder; it keeps the process alive as long as an answer is waited for. */
  readonly port: MessagePort;
  /** Ends the encoder. */
  readonly leave: () => void;
}

/** Whoever takes it leaves it. */
export function takeSeat(): Seat {
  const thread = chooseThread();
  const { worker } = thread;
  const { port1: port, port2: other } = new MessageChannel();
  clearTimeout(thread.retirement);
  thread.speeches += 1;
  worker.postMessage(other, [other]);
  return {
    worker,
    port,
    leave() {
      port.close();
      thread.speeches -= 1;
      if (thread.speeches === 0) thread.retirement = setTimeout(() => retire(thread), keptMs).unref();
    },
  };
}

/** Out of the set first: it takes a while to end, and a speech that begins meanwhile must not choose it. */
function retire(thread: Thread): void {
  threads.delete(thread);
  void thread.worker.terminate();
}

/** An idle one, else a new one, else the one with the fewest speeches. */
function chooseThread(): Thread {
  const [fewest] = [...threads].sort((a, b) => a.speeches - b.speeches);
  return fewest && (fewest.speeches === 0 || threads.size >= mostThreads) ? fewest : startThread();
}

function startThread(): Thread {
  const worker = new Worker(workerUrl, { env: {}, execArgv: [] });
  const thread: Thread = { worker, speeches: 0, retirement: undefined };
  const forget = () => {
    clearTimeout(thread.retirement);
    threads.delete(thread);
  };
  worker.setMaxListeners(0); // two for each speech
  // One that breaks while nobody needs it is no error; whoever has a seat listens too.
  worker.on('error', forget).on('exit', forget).unref();
  threads.add(thread);
  return thread;
}
