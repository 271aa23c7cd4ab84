/** Puts OpenRouter's `reasoning_details` together from the pieces in which they stream. */
import type { JsonObject } from '../lib/json.ts';

/** What of a block comes piece by piece; the rest, such as its signature, comes once. */
const growing: Readonly<Record<string, string>> = { 'reasoning.text': 'text', 'reasoning.summary': 'summary' };

/**
 * Adds a piece to its block, or begins another one. Given back in pieces, a block does not fit its signature, and the
 * model refuses the history. Encrypted blocks come whole, and several of them may have one index.
 */
export function addDetail(details: JsonObject[], piece: JsonObject): void {
  const { type, index } = piece;
  const field = typeof type === 'string' && Object.hasOwn(growing, type) ? growing[type] : undefined;
  const at = details.findLastIndex((block) => block.type === type && block.index === index);
  const block = details[at];
  const isContinued = field !== undefined && typeof index === 'number' && typeof block?.signature !== 'string';
  if (block === undefined || !isContinued) {
    details.push(piece);
    return;
  }
  const given = Object.entries(piece).filter(([, value]) => value !== null && value !== undefined);
  const texts = [block[field], piece[field]].filter((text) => typeof text === 'string');
  details[at] = { ...block, ...Object.fromEntries(given), ...(texts.length > 0 && { [field]: texts.join('') }) };
}
