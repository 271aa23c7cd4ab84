/** The texts of a round, collected from its deltas. */
import { ThoughtSplitter, type Part } from '../../../lib/thoughts.ts';
import type { Delta, TextEvent } from './delta.ts';

export class RoundText {
  readonly #thoughts = new ThoughtSplitter();
  /** Lists of pieces instead of strings: each `+=` would keep an object in memory. */
  #content: string[] = [];
  readonly #reasoning: string[] = [];
  /** True if the provider sends the reasoning separately, so that thoughts in the content only repeat it. */
  #isTwice = false;

  /**
   * Returns the events to show for deltas that arrived together. Deltas are joined, so a slow reader receives fewer and
   * longer ones.
   */
  take(deltas: readonly Delta[]): readonly TextEvent[] {
    let shown: TextEvent[] = [];
    for (const delta of deltas) {
      if (delta.type === 'content-delta') shown = this.#add(shown, this.#thoughts.take(delta.delta));
      else {
        this.#isTwice = true;
        append(shown, delta);
      }
    }
    return this.#keep(shown);
  }

  /** Returns the last events. */
  end(): readonly TextEvent[] {
    return this.#keep(this.#add([], this.#thoughts.end()));
  }

  get content(): string {
    return this.#content.join('');
  }

  get reasoning(): string {
    return this.#reasoning.join('');
  }

  #add(events: TextEvent[], parts: readonly Part[]): TextEvent[] {
    let shown = events;
    for (const part of parts) {
      if (part.kind === 'retraction') shown = this.#retract(shown);
      else if (part.kind === 'answer') append(shown, { type: 'content-delta', delta: part.text });
      else if (!this.#isTwice) append(shown, { type: 'reasoning-delta', delta: part.text });
    }
    return shown;
  }

  #keep(shown: readonly TextEvent[]): readonly TextEvent[] {
    for (const event of shown) {
      if (event.type === 'content-retracted') this.#content = [];
      else (event.type === 'content-delta' ? this.#content : this.#reasoning).push(event.delta);
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

function append(events: TextEvent[], delta: Delta): void {
  const last = events.at(-1);
  if (last?.type === delta.type) events[events.length - 1] = { type: last.type, delta: last.delta + delta.delta };
  else events.push(delta);
}
