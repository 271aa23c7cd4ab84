/** Measures how long the user waits for the answer to a turn. Times are in milliseconds of a monotonic clock. */
import type { WaitPart } from '../metrics/metrics.ts';
import type { TurnEvent } from './open-turn.ts';

/** An answer begins early only if the last one took at most this long from the transcript to its first part. */
const maxEarlyMs = 1_500;

export class AnswerWait {
  #turn: { readonly id: string; readonly committedAt: number } | undefined;
  #transcribedAt: number | undefined;
  #response: string | undefined;
  #lastMs = Infinity;

  /** Whether an answer may begin early. Before the first one, it is unknown how long the models take. */
  get isShort(): boolean {
    return this.#lastMs <= maxEarlyMs;
  }

  /** Follows the turns of a session. The wait for the last committed one is measured. */
  follow(event: TurnEvent, now: number): void {
    if (event.type === 'committed') {
      this.#turn = { id: event.turn, committedAt: now };
      this.#transcribedAt = undefined;
      this.#response = undefined;
    } else if (event.type === 'completed' && event.turn === this.#turn?.id) this.#transcribedAt = now;
  }

  /** Call this when a response begins. The first one after the transcript answers the turn. */
  begin(response: string): void {
    if (this.#transcribedAt !== undefined) this.#response ??= response;
  }

  /** Call this with every sound or text of a response. Returns the parts of the wait, once for each turn. */
  part(response: string, now: number): Readonly<Record<WaitPart, number>> | undefined {
    if (response !== this.#response || !this.#turn || this.#transcribedAt === undefined) return undefined;
    const { committedAt } = this.#turn;
    const transcription = this.#transcribedAt - committedAt;
    this.#turn = undefined;
    this.#lastMs = now - this.#transcribedAt;
    return { transcription, answer: this.#lastMs, all: now - committedAt };
  }
}
