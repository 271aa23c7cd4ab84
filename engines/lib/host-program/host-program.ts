/** The common part of the programs that keep a model loaded: the other side of engines/contract/resident.ts. */
import { writeSync } from 'node:fs';
import { messageOf } from '../../../lib/errors.ts';
import { LineSplitter, toJsonLine } from '../../../lib/json-lines.ts';
import { parseObject } from '../../../lib/json.ts';

/** A longer line is cut off, which makes it invalid JSON. Engines reject such questions earlier. */
const maxQuestionLength = 2_000_000;

export type Question = Readonly<Record<string, unknown>>;

export interface Caller {
  /** Sends a message before the final answer. */
  readonly say: (message: object) => void;
  /** Aborted when the service cancels the question. */
  readonly signal: AbortSignal;
}

/** True once the program handles the texts of callers. */
let isServing = false;

// By default, Node.js prints the message and the source line of an uncaught exception. If a library throws it, either
// may repeat the question.
process.on('uncaughtException', (error) => {
  writeSync(2, `${isServing ? kindOf(error) : messageOf(error)}\n`);
  process.exit(1);
});

/** Reports that the program is ready, and answers questions concurrently. Ends when stdin closes. */
export function serveQuestions(answer: (question: Question, caller: Caller) => Promise<unknown>): void {
  const working = new Map<number, AbortController>();

  async function serve(question: Question & { readonly id: number }): Promise<void> {
    const { id } = question;
    const canceled = new AbortController();
    working.set(id, canceled);
    const caller = { signal: canceled.signal, say: (message: object) => print({ id, ...message }) };
    try {
      const done = await answer(question, caller);
      canceled.signal.throwIfAborted();
      print({ id, done: done ?? true });
    } catch (error) {
      print({ id, error: kindOf(error) });
    } finally {
      working.delete(id);
    }
  }

  function receive(line: string): void {
    const message = parseObject(line) as { readonly cancel: number } | (Question & { readonly id: number }) | undefined;
    if (message === undefined)
      process.stderr.write('a line of stdin is not a JSON object\n'); // no call can be rejected: the id is unknown
    else if (!('cancel' in message)) void serve(message);
    else working.get(message.cancel as number)?.abort(new Error('canceled'));
  }

  const lines = new LineSplitter(maxQuestionLength);
  process.stdin
    .on('data', (chunk: Buffer) => {
      for (const line of lines.push(chunk)) receive(line);
    })
    .on('close', () => process.exit(0));
  isServing = true;
  print({ ready: true });
}

export function print(message: object): void {
  process.stdout.write(toJsonLine(message));
}

/** Describes an error by its name, its code and its place in the source: the message may repeat the question. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${typeof error}`;
  const { name, message, stack = '' } = error;
  const { code } = error as { readonly code?: unknown };
  const frames = stack.startsWith(`${name}: ${message}\n`) ? stack.slice(name.length + 2 + message.length) : '';
  const [place = ''] = /at .+/.exec(frames) ?? [];
  return [name, typeof code === 'string' ? code : '', place].filter((part) => part !== '').join(' ');
}
