/** What the programs that keep a model loaded have in common: the other side of engines/contract/resident.ts. */
import { createInterface } from 'node:readline';

export type Question = Readonly<Record<string, unknown>>;

export interface Caller {
  /** Sends a message before the end. */
  readonly say: (message: object) => void;
  /** Aborted when the service cancels the question. */
  readonly signal: AbortSignal;
}

/** Says that it is ready, and answers as many questions at once as it is asked. Ends with stdin. */
export function serveQuestions(answer: (question: Question, caller: Caller) => Promise<unknown>): void {
  const working = new Map<number, AbortController>();

  async function serve(question: Question & { readonly id: number }): Promise<void> {
    const { id } = question;
    const cancelled = new AbortController();
    working.set(id, cancelled);
    const caller = { signal: cancelled.signal, say: (message: object) => print({ id, ...message }) };
    try {
      const done = await answer(question, caller);
      cancelled.signal.throwIfAborted();
      print({ id, done: done ?? true });
    } catch (error) {
      print({ id, error: messageOf(error) });
    } finally {
      working.delete(id);
    }
  }

  createInterface({ input: process.stdin })
    .on('close', () => process.exit(0))
    .on('line', (line) => {
      const message = JSON.parse(line) as { readonly cancel: number } | (Question & { readonly id: number });
      if (!('cancel' in message)) void serve(message);
      else working.get(message.cancel as number)?.abort(new Error('cancelled'));
    });
  print({ ready: true });
}

export function print(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
