/** What came as JSON from somebody else. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Objects, arrays and commas in a text, those within its strings included: 64 MiB of `{},{},...` would become 1.4 GB of
 * objects. A day of speech with a time stamp for each word has 1.3 million.
 */
const mostStructure = 2_000_000;

/** Undefined when the text is not a JSON object, or has too much structure to be parsed. */
export function parseObject(text: string): JsonObject | undefined {
  if (text.length > mostStructure && hasTooMuchStructure(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function hasTooMuchStructure(text: string): boolean {
  let count = 0;
  for (let at = 0; at < text.length && count <= mostStructure; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x2c || unit === 0x5b || unit === 0x7b) count += 1;
  }
  return count > mostStructure;
}

/** The objects of a list; none when it is no list. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A whole number from 0; undefined for anything else. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined;
}
