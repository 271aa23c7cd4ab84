/** Converts a tool result to text for the model. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import { maxOutputLength } from './bounds.ts';

type Content = CallToolResult['content'][number];

/** Returns at most 32,000 characters; truncation is noted in the text. */
export function toText({ content, structuredContent }: CallToolResult): string {
  const said = content.map(textOf).join('\n');
  const json = structuredContent === undefined ? '' : toJson(structuredContent);
  const text = said === '' || json === '' || hasAll(said, json) ? said || json : `${said}\n${json}`;
  return text === '' ? '[no content]' : truncate(text);
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '[structured content, nested too deeply]';
  }
}

/**
 * Whether the text contains each value of the structured content: some servers repeat the values in the text, as JSON
 * or in sentences, while others send a summary. Texts that are too long for the model are not compared.
 */
function hasAll(text: string, json: string): boolean {
  if (text.length > maxOutputLength) return true;
  if (json.length > maxOutputLength) return false;
  const said = wordsOf([text, ...(valuesOf(text) ?? [])].join(' '));
  return valuesOf(json)?.every((value) => said.includes(wordsOf(value))) ?? false;
}

/** Puts a space around each word, so that only whole words match. */
function wordsOf(text: string): string {
  const words = text.match(/[\p{L}\p{N}]+/gu);
  return words ? ` ${words.join(' ')} ` : '';
}

/** Returns the strings, numbers and booleans in a JSON text; undefined if it is not JSON or is nested too deeply. */
function valuesOf(json: string): string[] | undefined {
  const values: string[] = [];
  try {
    JSON.parse(json, (_key, value: unknown) => {
      if (['string', 'number', 'boolean'].includes(typeof value)) values.push(`${value as string | number | boolean}`);
    });
    return values;
  } catch {
    return undefined;
  }
}

function truncate(text: string): string {
  if (text.length <= maxOutputLength) return text;
  const note = `\n[truncated: the result has ${text.length} characters]`;
  return text.slice(0, maxOutputLength - note.length).replace(/[\uD800-\uDBFF]$/, '') + note;
}

function textOf(content: Content): string {
  switch (content.type) {
    case 'text':
      return content.text;
    case 'image':
    case 'audio':
      return `[${content.type}, ${content.mimeType}, ${sizeOf(content.data)}]`;
    case 'resource_link':
      return `[link, ${content.name}, ${content.uri}]`;
    case 'resource':
      if ('text' in content.resource) return content.resource.text;
      return `[file, ${content.resource.mimeType ?? 'unknown type'}, ${sizeOf(content.resource.blob)}]`;
  }
}

/** Describes the decoded size of base64 data. */
function sizeOf(data: string): string {
  const bytes = Math.floor((data.length * 3) / 4);
  return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`;
}
