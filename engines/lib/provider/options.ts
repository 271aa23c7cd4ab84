/** Settings shared by all engines for OpenAI-compatible providers. */

export interface ProviderOptions {
  /** Base URL, such as https://api.openai.com/v1, without the path of an endpoint such as /audio/transcriptions. */
  readonly baseUrl: string;
  /** If absent, no key is needed. If empty, a key is needed but not set. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Timeout in seconds. */
  readonly timeout?: number;
  readonly local?: boolean;
}

export const shortText = { type: 'string', minLength: 1, maxLength: 256 } as const;

/** Schema of list items that are an id or an object. It avoids `anyOf`, whose errors would mention both forms. */
export const idOrMapping = {
  type: ['string', 'object'],
  minLength: 1,
  maxLength: 256,
  additionalProperties: false,
  required: ['id'],
} as const;

/** Options of every model of a provider. */
export const modelProperties = {
  id: { ...shortText, description: 'Model id used in requests.' },
  remoteId: { ...shortText, description: "The provider's id of the model. Default: id." },
  name: { ...shortText, description: 'Display name. Default: id.' },
} as const;

/** Framing headers, which the settings must not override. */
const ownHeaders = 'connection|content-length|content-type|expect|keep-alive|te|trailer|transfer-encoding|upgrade';

/** JSON Schemas of `ProviderOptions`. */
export const providerProperties = {
  baseUrl: {
    type: 'string',
    format: 'iri',
    // A URL with a user name or a password is rejected: messages would contain them.
    pattern: '^https?://[^/?#@\\s]+(/[^?#\\s]*)?$',
    description:
      'Base URL of the API, such as https://api.openai.com/v1, without the path of an endpoint such as /audio/transcriptions.',
  },
  apiKey: {
    type: 'string',
    pattern: '^[\\x20-\\x7e]*$',
    description: 'Sent as bearer token. Absent: no key needed. Empty: the models are listed as `key-missing`.',
  },
  headers: {
    type: 'object',
    description: 'Additional headers for every request; they override the default ones.',
    propertyNames: { pattern: `^(?!(?:${ownHeaders})$)[a-z0-9-]+$` },
    additionalProperties: { type: 'string', pattern: '^[\\x20-\\x7e]*$' },
  },
  timeout: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: 86_400,
    description: 'Timeout of a call in seconds, including upload and retries. Default: 300.',
  },
  local: {
    type: 'boolean',
    description:
      'Whether the provider runs on this machine and sends no data to other machines. Default: true for a loopback address, except for cloud models of Ollama; set false for a gateway that passes data on.',
  },
} as const;
