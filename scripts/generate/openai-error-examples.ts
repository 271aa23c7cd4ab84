/**
 * Examples for every declared error of the OpenAI-compatible contract, made by the table of errors of `/v1`. As the
 * native problems, they are the same for all operations: `npm run generate` adds them.
 */
import { invalid, problemAnswer, ProblemError } from '../../src/contract/problems.ts';
import { toErrorResponse } from '../../src/openai/errors.ts';
import type { WithOperations } from './problem-examples.ts';

/** By status. */
const common: Readonly<Record<string, ProblemError>> = {
  400: invalid('body', '/messages', 'must NOT have fewer than 1 items'),
  401: new ProblemError('unauthorized', 'Send an API key as "Authorization: Bearer <key>".'),
  403: new ProblemError(
    'host-not-allowed',
    'The host "host.docker.internal:8484" is not allowed: set API_KEYS, and HOST.',
  ),
  404: new ProblemError('unknown-model', 'Unknown model "nobody".'),
  405: new ProblemError('method-not-allowed', 'DELETE is not supported; allowed: GET, HEAD'),
  408: new ProblemError('request-timeout', 'The body did not arrive within 300 s.'),
  413: new ProblemError('body-too-large', 'The body is larger than the limit of this operation.'),
  415: new ProblemError('unsupported-media-type', 'Unexpected content type text/plain.'),
  426: new ProblemError('upgrade-required', 'Connect with a WebSocket client, to ws:// or wss://.'),
  429: new ProblemError('rate-limited', 'The API key may send 60 requests in a minute; try again in 12 s.'),
  500: new ProblemError('internal-error', 'Unexpected error. The log has the cause under this request id.'),
  502: new ProblemError('provider-error', 'The provider failed.'),
  503: new ProblemError('overloaded', 'All slots are in use; try again later.'),
  504: new ProblemError('provider-timeout', 'The provider did not respond within 300 s.'),
};

/** The example of an invalid request, by operation. */
const badRequest: Readonly<Record<string, ProblemError>> = {
  createTranscription: new ProblemError(
    'language-not-supported',
    'Unknown language "xx"; send an ISO 639-1 code such as de.',
  ),
  createSpeech: new ProblemError('voice-not-supported', 'espeak has no voice "nobody".'),
  connectRealtime: invalid('query', '/intent', 'must be transcription'),
  listModels: invalid('query', '/capability', 'must be one of chat, transcription, speech, images'),
  listAudioVoices: invalid('query', '/model', 'must be a speech model'),
};

/** Throws when a declared error has no example. */
export function addErrorExamples({ paths }: WithOperations): void {
  for (const { operationId = '', responses = {} } of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      const error = content['application/json'];
      if (Number(status) < 400 || !error) continue;
      const example = (status === '400' ? badRequest[operationId] : undefined) ?? common[status];
      if (!example)
        throw new Error(
          `${operationId} declares ${status}; add an example to scripts/generate/openai-error-examples.ts`,
        );
      error.example = toErrorResponse(problemAnswer(example, ''), example);
    }
  }
}
