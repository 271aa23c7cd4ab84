/** Separates reasoning that models write into the content: `<think>...</think>` before the answer. */
import type { Delta } from './delta.ts';

const open = '<think>';
const close = '</think>';

/** Receives the deltas of one answer, split at any place. A tag after the beginning of the answer is text. */
export class ThoughtSplitter {
  #state: 'beginning' | 'thought' | 'answer' = 'beginning';
  /** The end of the latest delta, if a tag may begin there. */
  #held = '';
  /** Pieces of white space that may turn out to surround a thought, which drops them. */
  #space: string[] = [];
  /** True until a thought has ended or the current one has words. */
  #isFirst = true;
  #hasWords = false;
  /** True if the provider also sends the reasoning separately. */
  #isTwice = false;

  take(delta: Delta): readonly Delta[] {
    if (delta.type === 'reasoning-delta') this.#isTwice = true;
    if (delta.type === 'reasoning-delta' || this.#state === 'answer') return [delta];
    const text = this.#held + delta.delta;
    this.#held = '';
    return this.#state === 'thought' ? this.#think(text) : this.#begin(text);
  }

  /** Ends the answer and returns what was held back. A thought without an end tag is reasoning. */
  end(): readonly Delta[] {
    return this.#state === 'thought' ? this.#reason(this.#held) : this.#answer(this.#held);
  }

  #begin(text: string): readonly Delta[] {
    const start = text.trimStart();
    if (this.#isFirst) this.#space.push(text.slice(0, text.length - start.length));
    if (start.startsWith(open)) {
      this.#state = 'thought';
      this.#space = this.#isFirst ? [] : ['\n\n'];
      this.#hasWords = false;
      return this.#think(start.slice(open.length));
    }
    if (open.startsWith(start)) {
      this.#held = start;
      return [];
    }
    this.#state = 'answer';
    return this.#answer(start);
  }

  #answer(text: string): readonly Delta[] {
    const delta = this.#space.join('') + text;
    this.#space = [];
    return delta === '' ? [] : [{ type: 'content-delta', delta }];
  }

  #think(text: string): readonly Delta[] {
    const end = text.indexOf(close);
    if (end === -1) {
      const at = text.length - overlap(text, close);
      this.#held = text.slice(at);
      return this.#reason(text.slice(0, at));
    }
    const reasoning = this.#reason(text.slice(0, end));
    this.#state = 'beginning';
    this.#isFirst = false;
    this.#space = [];
    return [...reasoning, ...this.#begin(text.slice(end + close.length))];
  }

  /** Removes the white space around the thought. */
  #reason(text: string): readonly Delta[] {
    const rest = this.#hasWords ? text : text.trimStart();
    const words = rest.trimEnd();
    if (words === '') {
      this.#space.push(rest);
      return [];
    }
    const delta = this.#space.join('') + words;
    this.#space = [rest.slice(words.length)];
    this.#hasWords = true;
    return this.#isTwice ? [] : [{ type: 'reasoning-delta', delta }];
  }
}

/** Length of the longest beginning of the tag that the text ends with. */
function overlap(text: string, tag: string): number {
  let length = Math.min(text.length, tag.length - 1);
  while (!text.endsWith(tag.slice(0, length))) length -= 1;
  return length;
}
