/** Puts OpenRouter's `reasoning_details` together from the pieces in which they stream. */
import type { JsonObject } from '../../lib/json.ts';

/** What of a block comes piece by piece; the rest, such as its signature, comes once. */
const growing: Readonly<Record<string, string>> = { 'reasoning.text': 'text', 'reasoning.summary': 'summary' };

interface Block {
  readonly fields: Map<string, unknown>;
  /** The pieces of its growing field. */
  readonly texts: string[];
}

export interface ReasoningDetails {
  /**
   * Adds a piece to its block, or begins another one. Given back in pieces, a block does not fit its signature, and the
   * model refuses the history. Encrypted blocks come whole, and several of them may have one index.
   */
  add(piece: JsonObject): void;
  blocks(): readonly JsonObject[];
}

export function createReasoningDetails(): ReasoningDetails {
  const blocks: Block[] = [];
  /** The latest block of a growing type and an index: the one that the next piece continues. */
  const latest = new Map<string, Block>();
  return {
    add(piece) {
      const { type, index } = piece;
      const field = fieldOf(piece);
      if (field === undefined || typeof index !== 'number') {
        blocks.push({ fields: new Map(Object.entries(piece)), texts: [] });
        return;
      }
      const key = `${String(type)} ${String(index)}`;
      const block = latest.get(key);
      const text = piece[field];
      if (block === undefined || typeof block.fields.get('signature') === 'string') {
        const next = { fields: new Map(Object.entries(piece)), texts: typeof text === 'string' ? [text] : [] };
        blocks.push(next);
        latest.set(key, next);
        return;
      }
      for (const [name, value] of Object.entries(piece)) {
        if (value !== null && value !== undefined) block.fields.set(name, value);
      }
      if (typeof text === 'string') block.texts.push(text);
    },
    blocks: () => blocks.map(toObject),
  };
}

function fieldOf({ type }: JsonObject): string | undefined {
  return typeof type === 'string' && Object.hasOwn(growing, type) ? growing[type] : undefined;
}

function toObject({ fields, texts }: Block): JsonObject {
  const whole = Object.fromEntries(fields);
  const field = fieldOf(whole);
  return field === undefined || texts.length === 0 ? whole : { ...whole, [field]: texts.join('') };
}
