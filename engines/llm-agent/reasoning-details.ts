/** Assembles OpenRouter's streamed `reasoning_details`. */
import type { JsonObject } from '../../lib/json.ts';

/** The field of a block that is streamed in pieces, by type; other fields, such as the signature, arrive once. */
const streamedFields: Readonly<Record<string, string>> = { 'reasoning.text': 'text', 'reasoning.summary': 'summary' };

interface Block {
  readonly fields: Map<string, unknown>;
  /** Pieces of the streamed field. */
  readonly texts: string[];
}

export type ReasoningDetails = ReturnType<typeof createReasoningDetails>;

export function createReasoningDetails() {
  const blocks: Block[] = [];
  /** The latest block per streamed type and index, which the next piece continues. */
  const latest = new Map<string, Block>();
  return {
    /**
     * Adds a piece to its block, or starts a new one. Blocks must be sent back assembled: in pieces they do not match
     * their signature, and the model rejects the history. Encrypted blocks arrive complete; several may share an index.
     */
    add(piece: JsonObject): void {
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
        const next: Block = { fields: new Map(Object.entries(piece)), texts: typeof text === 'string' ? [text] : [] };
        blocks.push(next);
        latest.set(key, next);
        return;
      }
      for (const [name, value] of Object.entries(piece)) {
        if (value !== null && value !== undefined) block.fields.set(name, value);
      }
      if (typeof text === 'string') block.texts.push(text);
    },
    blocks: (): readonly JsonObject[] => blocks.map(toObject),
  };
}

function fieldOf({ type }: JsonObject): string | undefined {
  return typeof type === 'string' && Object.hasOwn(streamedFields, type) ? streamedFields[type] : undefined;
}

function toObject({ fields, texts }: Block): JsonObject {
  const whole = Object.fromEntries(fields);
  const field = fieldOf(whole);
  return field === undefined || texts.length === 0 ? whole : { ...whole, [field]: texts.join('') };
}
