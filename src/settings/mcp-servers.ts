/** The MCP servers in the settings file. */
import type { SettingLocation } from './schema-errors.ts';

/** An MCP server whose tools the model may call, in the format of other MCP clients: a program, or a URL. */
export interface McpServerSettings {
  /** Redundant; accepted for compatibility with other clients. */
  readonly type?: 'stdio' | 'http' | 'streamable-http' | 'streamableHttp';
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The tools to offer. Default: all. */
  readonly tools?: readonly string[];
  /** Timeout of a tool call in seconds. */
  readonly timeout?: number;
}

const text = { type: 'string', minLength: 1 } as const;

export const mcpServersSchema = {
  type: 'object',
  description: 'The MCP servers by name, whose tools the chat models may call.',
  propertyNames: { pattern: '^[a-zA-Z0-9_-]{1,32}$' },
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    properties: {
      type: {
        type: 'string',
        description: 'Accepted for compatibility with other clients; `command` or `url` already determines it.',
      },
      command: { ...text, description: 'The program of a stdio server.' },
      args: { type: 'array', items: { type: 'string' }, description: 'Its arguments.' },
      env: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Its environment, in addition to HOME, PATH, SHELL and TERM.',
      },
      url: {
        type: 'string',
        format: 'iri',
        pattern: '^https?://[^/?#@\\s]+([/?][^#\\s]*)?$',
        description: 'The URL of a streamable HTTP server.',
      },
      headers: {
        type: 'object',
        propertyNames: { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" },
        additionalProperties: { type: 'string', pattern: '^[\\x20-\\x7e]*$' },
        description: 'HTTP headers sent with every request.',
      },
      tools: { type: 'array', items: text, description: 'The tools to offer. Default: all.' },
      timeout: {
        type: 'number',
        exclusiveMinimum: 0,
        maximum: 3600,
        description: 'Timeout of a tool call in seconds. Default: 60.',
      },
    },
    // Requires either `command` or `url`, and allows only the settings that belong to it. If `url` is set and `command`
    // is not, the rules for `url` apply.
    if: {
      anyOf: [
        { required: ['command'] },
        { not: { required: ['url'] }, anyOf: [{ required: ['args'] }, { required: ['env'] }] },
        { not: { required: ['url'] }, required: ['type'], properties: { type: { const: 'stdio' } } },
      ],
    },
    then: { required: ['command'], properties: { url: false, headers: false, type: { enum: ['stdio'] } } },
    else: {
      required: ['url'],
      properties: { args: false, env: false, type: { enum: ['http', 'streamable-http', 'streamableHttp'] } },
    },
  },
} as const;

/**
 * Returns the location of a server's setting, for messages. The settings may contain keys; `expects` describes the
 * patterns in words.
 */
export function locationInMcpServer(setting: string | undefined): Omit<SettingLocation, 'where'> {
  switch (setting) {
    case 'url':
      return {
        secret: true,
        excludedBy: 'command',
        expects: 'must be an http or https address without user or fragment, such as https://tools.example.com/mcp',
      };
    case 'headers':
      return { secret: true, excludedBy: 'command', expects: 'must be a mapping of header names to printable ASCII' };
    case 'env':
      return { secret: true, excludedBy: 'url', expects: 'must be a mapping of names to strings' };
    case 'args':
      return { secret: true, excludedBy: 'url', expects: 'must be a list of strings' };
    default:
      return { secret: false };
  }
}
