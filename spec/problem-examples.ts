/**
 * An example of every problem that an operation declares. TypeSpec can give examples only to one operation at a time,
 * and these are the same for all, so `npm run generate` puts them where a declared problem has none.
 */

interface Violation {
  readonly in: 'body' | 'query' | 'path' | 'header';
  readonly pointer: string;
  readonly detail: string;
}

interface ProblemExample {
  readonly code: string;
  /** As src/contract/problems.ts has it; a test holds the two together. */
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly Violation[];
  /** Of the declared headers, beside `X-Request-Id`. */
  readonly headers?: Readonly<Record<string, string>>;
}

const requestId = '6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40';

const broken = (violation: Violation): ProblemExample => ({
  code: 'invalid-request',
  title: 'The request breaks a rule of the contract',
  detail: `${violation.pointer.slice(1)} ${violation.detail}`,
  errors: [violation],
});

/** By status. */
const common: Readonly<Record<string, ProblemExample>> = {
  401: {
    code: 'unauthorized',
    title: 'A valid bearer token is needed',
    detail: 'Send one of the service’s tokens as `Authorization: Bearer …`.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  403: {
    code: 'origin-not-allowed',
    title: 'Pages of this origin may not use the service',
    detail: 'Pages of https://elsewhere.example may not use this service: list it in CORS_ORIGINS.',
  },
  404: {
    code: 'clip-not-found',
    title: 'There is no such clip, or no longer',
    detail: 'There is no such clip, or no longer.',
  },
  405: {
    code: 'method-not-allowed',
    title: 'This address knows other methods',
    detail: 'This address does not know DELETE.',
    headers: { Allow: 'GET, HEAD, POST' },
  },
  408: {
    code: 'request-timeout',
    title: 'The request did not arrive in time',
    detail: 'The body took more than 300 s.',
  },
  415: {
    code: 'unsupported-media-type',
    title: 'The body has the wrong content type',
    detail: 'The body must not be text/plain.',
  },
  416: {
    code: 'range-not-satisfiable',
    title: 'The range lies outside of the clip',
    detail: 'The clip has 24000 bytes.',
    headers: { 'Content-Range': 'bytes */24000' },
  },
  429: {
    code: 'provider-quota-exhausted',
    title: "The provider's quota is exhausted",
    detail: 'The quota at the provider is used up.',
    headers: { 'Retry-After': '60' },
  },
  500: {
    code: 'internal-error',
    title: 'The service failed',
    detail: 'Something went wrong in the service. Its log has the cause under the id of this request.',
  },
  502: { code: 'provider-error', title: 'The provider failed', detail: 'The provider failed.' },
  503: {
    code: 'overloaded',
    title: 'The service is at its limit',
    detail: 'All places are taken; try again.',
    headers: { 'Retry-After': '1' },
  },
  504: {
    code: 'provider-timeout',
    title: 'The provider did not answer in time',
    detail: 'The provider did not answer within 300 s.',
  },
};

const invalid: Readonly<Record<string, ProblemExample>> = {
  createChat: broken({ in: 'body', pointer: '/messages', detail: 'must NOT have fewer than 1 items' }),
  streamChat: broken({ in: 'body', pointer: '/messages', detail: 'must NOT have fewer than 1 items' }),
  createSpeech: broken({ in: 'body', pointer: '/text', detail: 'must NOT have fewer than 1 characters' }),
  getTranscriptionAvailability: broken({
    in: 'query',
    pointer: '/model',
    detail: 'must NOT have fewer than 1 characters',
  }),
  getSpeechClip: broken({ in: 'path', pointer: '/id', detail: 'must NOT have more than 128 characters' }),
};

interface Header {
  example?: unknown;
}

interface Response {
  readonly headers?: Record<string, Header>;
  readonly content?: Record<string, { example?: unknown; examples?: unknown }>;
}

interface Operation {
  readonly operationId?: string;
  readonly responses?: Record<string, Response>;
}

/** What of an OpenAPI document the examples touch. */
export interface WithOperations {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Throws when a problem is declared for which there is no example. */
export function addProblemExamples({ paths }: WithOperations): void {
  for (const { operationId = '', responses = {} } of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const [status, { headers = {}, content = {} }] of Object.entries(responses)) {
      const problem = content['application/problem+json'];
      if (!problem) continue;
      const example = (status === '422' ? invalid[operationId] : undefined) ?? common[status];
      if (example) {
        for (const [name, value] of Object.entries(example.headers ?? {})) {
          const header = headers[name];
          if (header) header.example = value;
        }
      }
      if (problem.example !== undefined || problem.examples !== undefined) continue;
      if (!example)
        throw new Error(`${operationId} declares ${status}, of which spec/problem-examples.ts has no example`);
      const { code, title, detail, errors } = example;
      const retryAfter = example.headers?.['Retry-After'];
      problem.example = {
        type: `urn:parlance:problem:${code}`,
        title,
        status: Number(status),
        detail,
        code,
        instance: requestId,
        ...(retryAfter !== undefined && { retry_after: Number(retryAfter) }),
        ...(errors && { errors }),
      };
    }
  }
}
