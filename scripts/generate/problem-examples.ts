/**
 * Examples for every declared problem. TypeSpec examples belong to a single operation, and these are the same for all,
 * so `npm run generate` adds them wherever a declared problem has none.
 */

interface Violation {
  readonly in: 'body' | 'query' | 'path' | 'header';
  readonly pointer: string;
  readonly detail: string;
}

interface ProblemExample {
  readonly code: string;
  /** Must match src/contract/problems.ts (tested). */
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly Violation[];
  readonly violatedPolicies?: readonly string[];
  /** Declared headers except `X-Request-Id`. */
  readonly headers?: Readonly<Record<string, string>>;
}

const requestId = '6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40';

const violated = (violation: Violation): ProblemExample => ({
  code: 'invalid-request',
  title: 'Invalid request',
  detail: `${violation.pointer.slice(1)} ${violation.detail}`,
  errors: [violation],
});

/** By status. */
const common: Readonly<Record<string, ProblemExample>> = {
  401: {
    code: 'unauthorized',
    title: 'Missing or invalid API key',
    detail: 'Send an API key as "Authorization: Bearer <key>".',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  403: {
    code: 'operation-not-allowed',
    title: 'Operation not allowed for the API key',
    detail: 'The API key may not use createChat; ask the operator for it.',
  },
  404: {
    code: 'clip-not-found',
    title: 'Clip not found or expired',
    detail: 'The clip Vb1yPz4mQ0iYxkq3o9TtWw does not exist or has expired.',
  },
  405: {
    code: 'method-not-allowed',
    title: 'Method not allowed',
    detail: 'PUT is not supported; allowed: GET, HEAD, POST',
    headers: { Allow: 'GET, HEAD, POST' },
  },
  408: {
    code: 'request-timeout',
    title: 'Request timeout',
    detail: 'The body did not arrive within 300 s.',
  },
  409: {
    code: 'transcript-not-ready',
    title: 'Transcript not ready',
    detail: 'Nothing of the recording has been transcribed yet.',
    headers: { 'Retry-After': '5' },
  },
  415: {
    code: 'unsupported-media-type',
    title: 'Unsupported content type',
    detail: 'Expected application/json, got text/plain.',
  },
  416: {
    code: 'range-not-satisfiable',
    title: 'Range not satisfiable',
    detail: 'The range bytes=30000- is outside the clip (24000 bytes).',
    headers: { 'Content-Range': 'bytes */24000' },
  },
  429: {
    code: 'rate-limited',
    title: 'Rate limit reached',
    detail: 'The API key may send 60 requests in a minute; try again in 12 s.',
    headers: {
      'Retry-After': '12',
      'RateLimit-Policy': '"requests";q=60;w=60',
      RateLimit: '"requests";r=0;t=12',
    },
    violatedPolicies: ['requests'],
  },
  500: {
    code: 'internal-error',
    title: 'Internal error',
    detail: 'Unexpected error. The log has the cause under this request id.',
  },
  502: { code: 'provider-error', title: 'Provider error', detail: 'The provider failed.' },
  503: {
    code: 'overloaded',
    title: 'Service overloaded',
    detail: 'All slots are in use; try again later.',
    headers: { 'Retry-After': '1' },
  },
  504: {
    code: 'provider-timeout',
    title: 'Provider timeout',
    detail: 'The provider did not respond within 300 s.',
  },
};

const idTooLong = violated({ in: 'path', pointer: '/id', detail: 'must NOT have more than 128 characters' });

const jobNotFound: ProblemExample = {
  code: 'transcription-not-found',
  title: 'Transcription not found or expired',
  detail: 'No transcription Vb1yPz4mQ0iYxkq3o9TtWw: it does not exist or has expired.',
};

const preparationNotFound: ProblemExample = {
  code: 'preparation-not-found',
  title: 'Unknown preparation',
  detail: 'No preparation "piano"; GET /preparations lists them.',
};

/** Replaces `common` for some operations. */
const missing: Readonly<Record<string, ProblemExample>> = {
  startPreparation: preparationNotFound,
  stopPreparation: preparationNotFound,
  getTranscriptionJob: jobNotFound,
  streamTranscriptionJob: jobNotFound,
  getTranscriptionJobTranscript: jobNotFound,
  deleteTranscriptionJob: jobNotFound,
};

const inConflict: Readonly<Record<string, ProblemExample>> = {
  startPreparation: {
    code: 'preparation-in-progress',
    title: 'Another preparation in progress',
    detail: '"chat" is being prepared; one preparation at a time.',
    headers: { 'Retry-After': '30' },
  },
};

const preparationNotAllowed: ProblemExample = {
  code: 'preparation-not-allowed',
  title: 'Preparations not allowed',
  detail: 'Preparations are off (PREPARE=off).',
};

const forbidden: Readonly<Record<string, ProblemExample>> = {
  startPreparation: preparationNotAllowed,
  stopPreparation: preparationNotAllowed,
};

const invalid: Readonly<Record<string, ProblemExample>> = {
  startPreparation: idTooLong,
  stopPreparation: idTooLong,
  createChat: violated({ in: 'body', pointer: '/messages', detail: 'must NOT have fewer than 1 items' }),
  streamChat: violated({ in: 'body', pointer: '/messages', detail: 'must NOT have fewer than 1 items' }),
  streamTranscription: {
    code: 'parameter-not-supported',
    title: 'Parameter not supported by the model',
    detail: 'The model "local" does not support timestamps of words.',
    errors: [{ in: 'body', pointer: '/timestamps', detail: 'must be something that the model supports' }],
  },
  createSpeech: violated({ in: 'body', pointer: '/text', detail: 'must NOT have fewer than 1 characters' }),
  createSpeechClip: violated({ in: 'body', pointer: '/text', detail: 'must NOT have fewer than 1 characters' }),
  getTranscriptionAvailability: violated({
    in: 'query',
    pointer: '/model',
    detail: 'must NOT have fewer than 1 characters',
  }),
  getSpeechClip: idTooLong,
  deleteSpeechClip: idTooLong,
  createTranscriptionJob: {
    code: 'recording-too-large',
    title: 'Recording too large',
    detail: 'The recording exceeds the limit of 500 MB (524288000 bytes).',
    errors: [{ in: 'body', pointer: '/file', detail: 'must not have more than 524288000 bytes' }],
  },
  getTranscriptionJob: idTooLong,
  streamTranscriptionJob: idTooLong,
  getTranscriptionJobTranscript: violated({
    in: 'query',
    pointer: '/format',
    detail: 'must be equal to one of the allowed values: text, srt, vtt, json',
  }),
  deleteTranscriptionJob: idTooLong,
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

/** The part of an OpenAPI document that the examples use. */
export interface WithOperations {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** URLs of the clip and the transcription in the examples. */
const locations: Readonly<Record<string, string>> = {
  createSpeechClip: '/api/v1/tts/clips/Vb1yPz4mQ0iYxkq3o9TtWw',
  createTranscriptionJob: '/api/v1/transcriptions/Vb1yPz4mQ0iYxkq3o9TtWw',
};

const own: Readonly<Record<string, Readonly<Record<string, ProblemExample>>>> = {
  403: forbidden,
  404: missing,
  409: inConflict,
  422: invalid,
};

/** Throws when a declared problem has no example. */
export function addProblemExamples({ paths }: WithOperations): void {
  for (const { operationId = '', responses = {} } of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const [status, { headers = {}, content = {} }] of Object.entries(responses)) {
      const problem = content['application/problem+json'];
      // TypeSpec writes no examples of headers.
      if (headers.Location) headers.Location.example = locations[operationId];
      if (!problem) continue;
      const example = own[status]?.[operationId] ?? common[status];
      if (example) {
        for (const [name, value] of Object.entries(example.headers ?? {})) {
          const header = headers[name];
          if (header) header.example = value;
        }
      }
      if (problem.example !== undefined || problem.examples !== undefined) continue;
      if (!example)
        throw new Error(`${operationId} declares ${status}; add an example to scripts/generate/problem-examples.ts`);
      const { code, title, detail, errors, violatedPolicies } = example;
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
        ...(violatedPolicies && { violated_policies: violatedPolicies }),
      };
    }
  }
}
