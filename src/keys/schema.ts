/** The schema of the keys file. */

type Security = readonly object[];

interface Operations {
  /** Security of operations that do not declare their own. */
  readonly security?: Security;
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId?: string; readonly security?: Security }>>>
  >;
}

/** Returns the ids of the operations that require a token. Other operations cannot be restricted. */
export function grantableOperations({ paths, security: defaultSecurity = [] }: Operations): string[] {
  return Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ security = defaultSecurity }) => security.some((scheme) => 'BearerAuth' in scheme))
    .flatMap(({ operationId }) => operationId ?? []);
}

const pattern = { type: 'string', minLength: 1, maxLength: 256 } as const;
const count = { type: 'integer', minimum: 1, maximum: 1_000_000_000 } as const;

/** Valid names for keys in the keys file. */
export const keyName = /^[a-z0-9][a-z0-9_-]{0,31}$/;

const entrySchema = (operations: readonly string[]) => ({
  type: 'object',
  additionalProperties: false,
  required: ['name', 'sha256'],
  properties: {
    name: {
      type: 'string',
      pattern: keyName.source,
      description: 'Name in the log and in metrics. Entries of one name are tokens of one key.',
    },
    sha256: {
      type: 'string',
      pattern: '^[0-9a-fA-F]{64}$',
      description:
        'SHA-256 of the token, as 64 hex digits. `npx @parlance/server key new NAME` creates token and hash.',
    },
    expires: {
      type: 'string',
      format: 'date-time',
      description: 'Expiry of the token, such as 2027-03-01T00:00:00Z. Default: forever.',
    },
    operations: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', enum: operations },
      description:
        'Ids of the operations that the key may use; they also govern /v1. Default: all except startPreparation and stopPreparation, which must be listed explicitly.',
    },
    models: {
      type: 'array',
      minItems: 1,
      items: pattern,
      description:
        'Filter for the models that the key may use: ids with * as a wildcard; a leading "!" excludes. Default: all.',
    },
    tools: {
      type: 'array',
      items: pattern,
      description:
        'Filter for the tools of the service in chats, such as read_aloud or files__*, as for `models`; []: none. Default: all.',
    },
    weight: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      description: 'Share of the queue relative to other keys. Default: 1.',
    },
    limits: {
      type: 'object',
      additionalProperties: false,
      description: 'Limits of all tokens of the key together. Default: none.',
      properties: {
        requestsPerMinute: { ...count, description: 'Maximum requests per minute.' },
        concurrentRequests: { ...count, description: 'Maximum requests in flight.' },
        audioMinutesPerDay: {
          type: 'number',
          exclusiveMinimum: 0,
          maximum: 1_000_000_000,
          description: 'Maximum minutes of transcribed recordings per day (UTC).',
        },
        tokensPerDay: { ...count, description: 'Maximum tokens of chats per day (UTC).' },
      },
    },
  },
});

/** The JSON Schema of the keys file, which editors also use. */
export const keysFileSchema = (operations: readonly string[]) => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'The keys file of Parlance (API_KEYS_FILE)',
  type: 'object',
  additionalProperties: false,
  required: ['keys'],
  properties: {
    keys: {
      type: 'array',
      maxItems: 10_000,
      items: entrySchema(operations),
      description: 'The API keys, one entry per token.',
    },
  },
});
