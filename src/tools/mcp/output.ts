/** Converts a tool result to text for the model. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import { maxOutputLength } from './bounds.ts';

type Content = CallToolResult['content'][number];

/** At most 32,000 characters; truncation is noted in the text. */
export function toText({ content, structuredContent }: CallToolResult): string {
  const hasText = content.some(({ type }) => type === 'text');
  const parts = content.map(describe);
  if (!hasText && structuredContent !== undefined) parts.unshift(toJson(structuredContent));
  const text = parts.join('\n');
  return text === '' ? '[no content]' : truncate(text);
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '[structured content, nested too deeply]';
  }
}

function truncate(text: string): string {
  if (text.length <= maxOutputLength) return text;
  const note = `\n[truncated: the result has ${text.length} characters]`;
  return text.slice(0, maxOutputLength - note.length).replace(/[\uD800-\uDBFF]$/, '') + note;
}

function describe(content: Content): string {
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

/** Decoded size of base64. */
function sizeOf(data: string): string {
  const bytes = Math.floor((data.length * 3) / 4);
  return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`;
}
