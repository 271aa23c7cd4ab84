import { JsonStructure } from './json-structure.ts';

/** A parsed JSON object from an untrusted source. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Maximum number of objects, arrays and commas: 64 MiB of `{},{},...` would become 1.4 GB of objects. A day of speech with
 * a timestamp for each word has 1.3 million.
 */
const maxStructure = 2_000_000;

/** Undefined if the text is not a JSON object, or exceeds `maxStructure`. */
export function parseObject(text: string): JsonObject | undefined {
  if (text.length > maxStructure && hasTooMuchStructure(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const pieceLength = 65_536;

function hasTooMuchStructure(text: string): boolean {
  const structure = new JsonStructure();
  for (let at = 0; at < text.length && structure.tokens <= maxStructure; at += pieceLength) {
    structure.add(Buffer.from(text.slice(at, at + pieceLength)));
  }
  return structure.tokens > maxStructure;
}

/** A replacer for JSON.stringify: a lone surrogate has no UTF-8 encoding, and parsers reject it. */
export function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

export function isArrayOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isItem);
}

/** The objects in an array; [] for anything else. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns a finite number of at least 0, rounded; undefined for anything else. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined;
}
