/** Reads the list of tools that a server has sent. */
import { shorten } from '../../../lib/truncate.ts';
import { largestSchema, longestDescription, mostTools } from './limits.ts';

export interface Definition {
  /** As the server calls it. */
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface Definitions {
  readonly tools: readonly Definition[];
  /** Why tools are left out, in words for the operator. */
  readonly complaints: readonly string[];
}

/** Takes those of the allow-list, each name once, as many as a model can be offered. */
export function readDefinitions(list: readonly unknown[], allowed: readonly string[] | undefined): Definitions {
  const tools = new Map<string, Definition>();
  let wrong = 0;
  let tooMany = 0;
  for (const item of list) {
    const definition = readDefinition(item);
    if (definition === undefined) wrong += 1;
    else if (allowed?.includes(definition.name) === false || tools.has(definition.name)) continue;
    else if (tools.size >= mostTools) tooMany += 1;
    else tools.set(definition.name, definition);
  }
  const missing = allowed?.filter((name) => !tools.has(name)) ?? [];
  const complaints = [
    wrong > 0 && `${wrong} have no name or no fit schema`,
    tooMany > 0 && `${tooMany} are more than the ${mostTools} that fit: name those to offer in its \`tools\``,
    missing.length > 0 && `it has none called ${missing.join(', ')}`,
  ].filter((complaint) => complaint !== false);
  return { tools: [...tools.values()], complaints };
}

function readDefinition(item: unknown): Definition | undefined {
  if (!isRecord(item)) return undefined;
  const { name, title, description, inputSchema } = item;
  if (typeof name !== 'string' || name === '' || name.length > largestSchema) return undefined;
  const parameters = readSchema(inputSchema);
  if (parameters === undefined) return undefined;
  const words = [description, title].find((text) => typeof text === 'string') ?? name;
  return { name, description: shorten(words, longestDescription), parameters };
}

/**
 * As providers take it: one schema that they refuse would be the end of every chat. They want `properties` even of a
 * tool without arguments, and no alternatives at the top; the server checks its arguments itself.
 */
function readSchema(schema: unknown): Definition['parameters'] | undefined {
  if (!isRecord(schema) || schema.type !== 'object' || !isSmall(schema)) return undefined;
  const kept = Object.entries(schema).filter(([keyword, value]) => !refusedAtTheTop.has(keyword) && value !== null);
  const { properties = {}, required = [], ...others } = Object.fromEntries(kept);
  if (!isRecord(properties) || !Object.values(properties).every(isSchema)) return undefined;
  if (!Array.isArray(required) || !required.every((name) => typeof name === 'string')) return undefined;
  return { ...others, properties, ...(required.length > 0 && { required }) };
}

/** By OpenAI, and most of them by Anthropic. */
const refusedAtTheTop: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'enum', 'not']);

function isSchema(value: unknown): boolean {
  return isRecord(value) || typeof value === 'boolean';
}

function isSmall(schema: object): boolean {
  try {
    return JSON.stringify(schema).length <= largestSchema;
  } catch {
    return false; // nested deeper than the stack
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
