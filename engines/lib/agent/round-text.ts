/** The texts of a round, collected from its deltas. */
import { ThoughtSplitter, type Part } from '../../../lib/thoughts.ts';
import type { Delta, TextEvent } from './delta.ts';

export class RoundText {
  readonly #thoughts = new ThoughtSplitter();
  /** Lists of pieces instead of strings: each `+=` would keep an object in memory. */
  #content: string[] = [];
  readonly #reasoning: string[] = [];
  /** True if the provider sends the reasoning separately: thoughts in the content repeat it. */
  #isTwice = false;

  /** Returns what to show of the deltas that arrived together. */
  take(deltas: readonly Delta[]): readonly TextEvent[] {
    return this.#show(deltas.flatMap((delta) => this.#toEvents(delta)));
  }

  /** Returns the last events. */
  end(): readonly TextEvent[] {
    return this.#show(this.#thoughts.end().flatMap((part) => this.#toEvent(part)));
  }

  get content(): string {
    return this.#content.join('');
  }

  get reasoning(): string {
    return this.#reasoning.join('');
  }

  #toEvents(delta: Delta): readonly TextEvent[] {
    if (delta.type === 'content-delta') return this.#thoughts.take(delta.delta).flatMap((part) => this.#toEvent(part));
    this.#isTwice = true;
    return [delta];
  }

  #toEvent(part: Part): readonly TextEvent[] {
    if (part.kind === 'retraction') return [{ type: 'content-retracted' }];
    if (part.kind === 'answer') return [{ type: 'content-delta', delta: part.text }];
    return this.#isTwice ? [] : [{ type: 'reasoning-delta', delta: part.text }];
  }

  #show(events: readonly TextEvent[]): readonly TextEvent[] {
    const isPlain = events.length < 2 && events[0]?.type !== 'content-retracted'; // nearly always
    const shown = isPlain ? events : this.#merge(events);
    for (const event of shown) {
      if (event.type === 'content-retracted') this.#content = [];
      else (event.type === 'content-delta' ? this.#content : this.#reasoning).push(event.delta);
    }
    return shown;
  }

  /** Joins deltas that arrived together: a slow reader receives fewer and longer ones. */
  #merge(events: readonly TextEvent[]): readonly TextEvent[] {
    let shown: TextEvent[] = [];
    for (const event of events) {
      if (event.type === 'content-retracted') shown = this.#retract(shown);
      else append(shown, event);
    }
    return shown;
  }

  /** `shown` are the events that arrived together with the retraction: their content need not be shown at all. */
  #retract(shown: readonly TextEvent[]): TextEvent[] {
    const others = shown.filter(({ type }) => type !== 'content-delta');
    const has = (type: TextEvent['type']) => others.some((event) => event.type === type);
    const before = has('content-retracted') ? [] : this.#content;
    const arrived = shown.flatMap((event) => (event.type === 'content-delta' ? [event.delta] : []));
    const text = [...before, ...arrived].join('').trim();
    if (before.length > 0) others.push({ type: 'content-retracted' });
    const gap = this.#reasoning.length > 0 || has('reasoning-delta') ? '\n\n' : '';
    if (text !== '' && !this.#isTwice) append(others, { type: 'reasoning-delta', delta: gap + text });
    return others;
  }
}

function append(events: TextEvent[], { type, delta }: Delta): void {
  const last = events.at(-1);
  if (last?.type === type) events.splice(-1, 1, { type, delta: last.delta + delta });
  else events.push({ type, delta });
}
