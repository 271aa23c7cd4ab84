/** Reads the tool list of a server. */
import { isObject } from '../../../lib/json.ts';
import { shorten } from '../../../lib/text.ts';
import { maxSchemaLength, maxDescriptionLength, maxTools } from './bounds.ts';

export interface Definition {
  /** The server's own name for the tool. */
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface Definitions {
  readonly tools: readonly Definition[];
  /** Why tools were skipped, for the operator. */
  readonly complaints: readonly string[];
}

/** Applies the allowlist, and skips duplicate names and tools beyond the limit. */
export function readDefinitions(list: readonly unknown[], allowed: readonly string[] | undefined): Definitions {
  const tools = new Map<string, Definition>();
  let wrong = 0;
  let tooMany = 0;
  for (const item of list) {
    const definition = readDefinition(item);
    if (definition === undefined) wrong += 1;
    else if (allowed?.includes(definition.name) === false || tools.has(definition.name)) continue;
    else if (tools.size >= maxTools) tooMany += 1;
    else tools.set(definition.name, definition);
  }
  const missing = allowed?.filter((name) => !tools.has(name)) ?? [];
  const complaints = [
    wrong > 0 && `${wrong} without a name or a usable schema`,
    tooMany > 0 && `${tooMany} over the limit of ${maxTools}; select tools with \`tools\` in its settings`,
    missing.length > 0 && `not found: ${missing.join(', ')}`,
  ].filter((complaint) => complaint !== false);
  return { tools: [...tools.values()], complaints };
}

function readDefinition(item: unknown): Definition | undefined {
  if (!isObject(item)) return undefined;
  const { name, title, description, inputSchema } = item;
  if (typeof name !== 'string' || name === '' || name.length > maxSchemaLength) return undefined;
  const parameters = readSchema(inputSchema);
  if (parameters === undefined) return undefined;
  const words = [description, title].find((text) => typeof text === 'string') ?? name;
  return { name, description: shorten(words, maxDescriptionLength), parameters };
}

/**
 * Normalizes the schema for providers: a single rejected schema would fail every chat. Providers require `properties`
 * even without arguments, and reject alternatives at the top level. The server validates its arguments itself.
 */
function readSchema(schema: unknown): Definition['parameters'] | undefined {
  if (!isObject(schema) || schema.type !== 'object' || !isSmall(schema)) return undefined;
  const kept = Object.entries(schema).filter(
    ([keyword, value]) => !unsupportedAtTopLevel.has(keyword) && value !== null,
  );
  const { properties = {}, required = [], ...others } = Object.fromEntries(kept);
  if (!isObject(properties) || !Object.values(properties).every(isSchema)) return undefined;
  if (!Array.isArray(required) || !required.every((name) => typeof name === 'string')) return undefined;
  return { ...others, properties, ...(required.length > 0 && { required }) };
}

/** OpenAI rejects all of these keywords, and Anthropic most of them. */
const unsupportedAtTopLevel: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'enum', 'not']);

function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === 'boolean';
}

function isSmall(schema: object): boolean {
  try {
    return JSON.stringify(schema).length <= maxSchemaLength;
  } catch {
    return false; // nested too deeply for the call stack
  }
}
