/** The settings that every engine for an OpenAI-compatible provider has. */
export interface ProviderOptions {
  /** Such as https://api.openai.com/v1: what stands before /audio/transcriptions and the like. */
  readonly baseUrl: string;
  /** Absent: the provider needs none. Empty: it needs one and has none. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Seconds. */
  readonly timeout?: number;
  readonly local?: boolean;
}

export const shortText = { type: 'string', minLength: 1, maxLength: 256 } as const;

/** Of a list whose items are ids, or mappings where there is more to say. Not anyOf: its errors would speak of both forms. */
export const idOrMapping = {
  type: ['string', 'object'],
  minLength: 1,
  maxLength: 256,
  additionalProperties: false,
  required: ['id'],
} as const;

/** What every model of a provider has. */
export const modelProperties = {
  id: { ...shortText, description: 'As requests name it.' },
  remoteId: { ...shortText, description: 'As the provider names it; absent: the id.' },
  name: { ...shortText, description: 'For people; the id when absent.' },
} as const;

/** Those that say how the request is framed are ours. */
const ownHeaders = 'connection|content-length|content-type|expect|keep-alive|te|trailer|transfer-encoding|upgrade';

/** Their JSON Schema, property by property. */
export const providerProperties = {
  baseUrl: {
    type: 'string',
    format: 'iri',
    // No user and password: they would end up in messages.
    pattern: '^https?://[^/?#@\\s]+(/[^?#\\s]*)?$',
    description:
      'Of the API: what stands before /audio/transcriptions and the like, such as https://api.openai.com/v1.',
  },
  apiKey: {
    type: 'string',
    pattern: '^[\\x20-\\x7e]*$',
    description: 'Sent as bearer token. Absent: none is needed; empty: its models are listed as `key-missing`.',
  },
  headers: {
    type: 'object',
    description: 'Sent with every request, beside ours or in their place.',
    propertyNames: { pattern: `^(?!(?:${ownHeaders})$)[a-z0-9-]+$` },
    additionalProperties: { type: 'string', pattern: '^[\\x20-\\x7e]*$' },
  },
  timeout: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: 86_400,
    description: 'Seconds that an answer may take, upload and retries included; absent: 300.',
  },
  local: {
    type: 'boolean',
    description: 'True: the address is on this machine, and nothing that is sent there leaves it.',
  },
} as const;
