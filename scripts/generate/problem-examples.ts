/**
 * Examples for every declared problem. TypeSpec examples belong to a single operation, and these are the same for all,
 * so `npm run generate` adds them wherever a declared problem has none.
 */
import { invalid, inBody, problemAnswer, ProblemError } from '../../src/contract/problems.ts';

const requestId = '6f0c2b1e-9d7a-4f57-8a3e-2d1b7c9e5f40';

/** Examples by status. Those under /v1 are the same, in another format. */
export const common: Readonly<Record<string, ProblemError>> = {
  401: new ProblemError('unauthorized', 'Send an API key as "Authorization: Bearer <key>".', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  }),
  403: new ProblemError('operation-not-allowed', 'The API key may not use createChat; ask the operator for it.'),
  404: new ProblemError('clip-not-found', 'The clip Vb1yPz4mQ0iYxkq3o9TtWw does not exist or has expired.'),
  405: new ProblemError('method-not-allowed', 'PUT is not supported; allowed: GET, HEAD, POST', {
    headers: { Allow: 'GET, HEAD, POST' },
  }),
  408: new ProblemError('request-timeout', 'The body did not arrive within 300 s.'),
  409: new ProblemError('transcript-not-ready', 'Nothing of the recording has been transcribed yet.'),
  415: new ProblemError('unsupported-media-type', 'Expected application/json, got text/plain.'),
  416: new ProblemError('range-not-satisfiable', 'The range bytes=30000- is outside the clip (24000 bytes).', {
    headers: { 'Content-Range': 'bytes */24000' },
  }),
  429: new ProblemError('rate-limited', 'The API key may send 60 requests in a minute; try again in 1 s.', {
    headers: {
      'Retry-After': '1',
      'RateLimit-Policy': '"requests";q=60;w=60',
      RateLimit: '"requests";r=0;t=1',
    },
    violatedPolicies: ['requests'],
  }),
  500: new ProblemError('internal-error', 'Unexpected error. The log has the cause under this request id.'),
  502: new ProblemError('provider-error', 'The provider failed.'),
  503: new ProblemError('overloaded', 'All slots are in use; try again later.'),
  504: new ProblemError('provider-timeout', 'The provider did not respond within 300 s.'),
};

const idTooLong = invalid('path', '/id', 'must NOT have more than 128 characters');

const jobNotFound = new ProblemError(
  'transcription-not-found',
  'No transcription Vb1yPz4mQ0iYxkq3o9TtWw: it does not exist or has expired.',
);

const preparationNotFound = new ProblemError(
  'preparation-not-found',
  'No preparation "piano"; GET /preparations lists them.',
);

const preparationNotAllowed = new ProblemError('preparation-not-allowed', 'Preparations are off (PREPARE=off).');

/** Examples by status and operation, which override `common`. */
const own: Examples['byOperation'] = {
  403: { startPreparation: preparationNotAllowed, stopPreparation: preparationNotAllowed },
  404: {
    startPreparation: preparationNotFound,
    stopPreparation: preparationNotFound,
    getTranscriptionJob: jobNotFound,
    streamTranscriptionJob: jobNotFound,
    getTranscriptionJobTranscript: jobNotFound,
    deleteTranscriptionJob: jobNotFound,
  },
  409: {
    startPreparation: new ProblemError(
      'preparation-in-progress',
      '"chat" is being prepared; one preparation at a time.',
    ),
  },
  422: {
    startPreparation: idTooLong,
    stopPreparation: idTooLong,
    createChat: invalid('body', '/messages', 'must NOT have fewer than 1 items'),
    streamChat: invalid('body', '/messages', 'must NOT have fewer than 1 items'),
    streamTranscription: new ProblemError(
      'parameter-not-supported',
      'The model "local" does not support timestamps of words.',
      inBody('/timestamps', 'must be something that the model supports'),
    ),
    createSpeech: invalid('body', '/text', 'must NOT have fewer than 1 characters'),
    createSpeechClip: invalid('body', '/text', 'must NOT have fewer than 1 characters'),
    getTranscriptionAvailability: invalid('query', '/model', 'must NOT have fewer than 1 characters'),
    getSpeechClip: idTooLong,
    deleteSpeechClip: idTooLong,
    createTranscriptionJob: new ProblemError(
      'recording-too-large',
      'The recording exceeds the limit of 500 MB (524288000 bytes).',
      inBody('/file', 'must not have more than 524288000 bytes'),
    ),
    getTranscriptionJob: idTooLong,
    streamTranscriptionJob: idTooLong,
    getTranscriptionJobTranscript: invalid(
      'query',
      '/format',
      'must be equal to one of the allowed values: text, srt, vtt, json',
    ),
    deleteTranscriptionJob: idTooLong,
  },
};

interface Response {
  readonly headers?: Record<string, { example?: unknown }>;
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

interface Examples {
  readonly mediaType: string;
  readonly byStatus: Readonly<Record<string, ProblemError>>;
  /** Examples by status and operation, which override `byStatus`. */
  readonly byOperation: Readonly<Record<string, Readonly<Record<string, ProblemError>>>>;
  readonly toBody: (error: ProblemError) => unknown;
}

export function addProblemExamples(document: WithOperations): void {
  const toBody = (error: ProblemError) => problemAnswer(error, requestId).body;
  addExamples(document, { mediaType: 'application/problem+json', byStatus: common, byOperation: own, toBody });
}

/** Adds an example to every declared failure that has none. Throws if no example is defined for the failure. */
export function addExamples({ paths }: WithOperations, { mediaType, byStatus, byOperation, toBody }: Examples): void {
  for (const { operationId = '', responses = {} } of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const [status, { headers = {}, content = {} }] of Object.entries(responses)) {
      // TypeSpec writes no examples of headers.
      if (headers.Location) headers.Location.example = locations[operationId];
      if (headers['X-Parlance-Model']) headers['X-Parlance-Model'].example = 'local';
      const shown = content[mediaType];
      if (!shown || Number(status) < 400) continue;
      const error = byOperation[status]?.[operationId] ?? byStatus[status];
      for (const [name, value] of Object.entries(error ? problemAnswer(error, '').headers : {})) {
        const header = headers[name];
        if (header) header.example = value;
      }
      if (shown.example !== undefined || shown.examples !== undefined) continue;
      if (!error) throw new Error(`${operationId} declares ${status}; add an example to scripts/generate/`);
      shown.example = toBody(error);
    }
  }
}
