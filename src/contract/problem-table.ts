/** The table of problem codes: how each appears in both APIs, and the advice shown in docs/reference/errors.md. */
import type { ProblemCode } from './operations.ts';

interface ProblemOptions {
  /** Advice on what the reader can do. */
  readonly advice: string;
  /** Default Retry-After in seconds, used if the error has none. */
  readonly retryAfter?: number;
  /** Default body field as a JSON Pointer, and the rule that it violates; engine errors carry no field of their own. */
  readonly field?: readonly [pointer: string, rule: string];
  /** Overrides for /v1. Default: the same status (but 400 instead of 422) and the error type for that status. */
  readonly openai?: Partial<OpenAIError>;
}

/** The form of a problem under /v1, where clients branch on the status and on `code`. */
interface OpenAIError {
  readonly status: number;
  readonly type: string;
  /** Default: the problem code with underscores instead of hyphens. */
  readonly code?: string;
  /** The field that the code always blames. Default: the location of the first violation. */
  readonly param?: string;
  /** True if the same request may succeed later and has had no effects. Default: clients must not retry. */
  readonly retryable?: true;
  /** Maximum Retry-After in seconds for which clients should retry automatically. Default: unlimited. */
  readonly maxRetryAfter?: number;
}

interface ProblemRow extends ProblemOptions {
  readonly status: number;
  /** The title, which is the same for every occurrence of the code. */
  readonly title: string;
  readonly openai: OpenAIError;
}

function problem(status: number, title: string, options: ProblemOptions): ProblemRow {
  const openai = { status: status === 422 ? 400 : status, type: openaiType(status), ...options.openai };
  return { status, title, ...options, openai };
}

function openaiType(status: number): string {
  if (status >= 500) return 'server_error';
  if (status === 429) return 'rate_limit_error';
  return status === 403 ? 'permission_error' : 'invalid_request_error';
}

/** Every code of the contract. */
export const problems: Readonly<Record<ProblemCode, ProblemRow>> = {
  'invalid-request': problem(422, 'Invalid request', { advice: 'Correct the fields that `errors` names.' }),
  'malformed-body': problem(422, 'Malformed request body', {
    advice: 'Send valid JSON, or a valid form with one `file`.',
  }),
  'body-too-large': problem(422, 'Request body too large', {
    advice: 'Send a smaller body. docs/reference/limits.md lists the limits.',
    field: ['', 'must not exceed the size limit'],
    openai: { status: 413 },
  }),
  'recording-empty': problem(422, 'Empty recording', {
    advice: 'The file is empty. Check the microphone and record again.',
    field: ['/file', 'must not be empty'],
    openai: { param: 'file' },
  }),
  'recording-too-large': problem(422, 'Recording too large', {
    advice: 'Send a smaller file, or create a job (`POST /transcriptions`).',
    field: ['/file', 'must not exceed the size limit of the model'],
    openai: { status: 413, param: 'file' },
  }),
  'recording-too-long': problem(422, 'Recording too long', {
    advice: 'Send a shorter recording, or create a job (`POST /transcriptions`).',
    field: ['/file', 'must not exceed the maximum duration'],
    openai: { param: 'file' },
  }),
  'recording-not-accepted': problem(422, 'Unsupported audio container', {
    advice: 'Convert it to webm, mp4, ogg, mp3, wav or flac.',
    openai: { param: 'file' },
  }),
  'recording-undecodable': problem(422, 'Recording cannot be decoded', {
    advice: 'The file is damaged, or requires ffmpeg on the machine of the service.',
    field: ['/file', 'must be a decodable recording'],
    openai: { param: 'file' },
  }),
  'unknown-model': problem(422, 'Unknown model', {
    advice: 'Choose a model from the list, which changes with the settings.',
    field: ['/model', 'must be the id of a listed model'],
    openai: { status: 404, code: 'model_not_found' },
  }),
  'language-not-supported': problem(422, 'Language not supported by the model', {
    advice: 'Choose another model, or omit the language.',
    field: ['/language', 'must be a language that the model supports'],
    openai: { param: 'language' },
  }),
  'voice-not-supported': problem(422, 'Voice not supported by the speech model', {
    advice: 'Choose a voice from the list of speech models.',
    field: ['/voice_id', 'must be a voice of the speech model'],
    openai: { param: 'voice' },
  }),
  'format-not-supported': problem(422, 'Format not supported by the speech model', {
    advice: 'Choose another format. If the detail mentions ffmpeg, install it on the machine of the service.',
    field: ['/format', 'must be a format that the speech model supports'],
    openai: { param: 'response_format' },
  }),
  'parameter-not-supported': problem(422, 'Parameter not supported by the model', {
    advice: 'Omit the parameter, or choose a model whose `supports` lists it.',
    field: ['', 'must not contain a parameter that the model does not support'],
    openai: { code: 'unsupported_parameter' },
  }),
  'context-length-exceeded': problem(422, 'Context length exceeded', {
    advice: 'Start a new conversation, or choose a model with a longer context.',
  }),
  'content-rejected': problem(422, 'Content rejected by the provider', {
    advice: 'The content violates the rules of the provider. Rephrase it.',
    openai: { code: 'content_policy_violation' },
  }),
  'provider-rejected-request': problem(422, 'Request rejected by the provider', {
    advice: 'The detail has the reason; the log has the response of the provider.',
  }),
  unauthorized: problem(401, 'Missing or invalid API key', {
    advice: 'Enter a valid key. The operator creates one with `parlance key new`.',
    openai: { code: 'invalid_api_key' },
  }),
  'host-not-allowed': problem(403, 'Host not allowed', { advice: 'Open the service as localhost, or set API keys.' }),
  'origin-not-allowed': problem(403, 'Origin not allowed', {
    advice: 'Use the page of the service itself, or add the origin to `CORS_ORIGINS`.',
  }),
  'operation-not-allowed': problem(403, 'Operation not allowed for the API key', {
    advice: 'Use another key, or add the operation to `operations` of the key in the keys file.',
  }),
  'model-not-allowed': problem(403, 'Model not allowed for the API key', {
    advice: 'Choose another model, or use a key whose `models` include it.',
  }),
  'preparation-not-allowed': problem(403, 'Preparations not allowed', {
    advice: 'Run the listed command in a terminal of the machine. The detail says who may start preparations.',
  }),
  'not-found': problem(404, 'Not found', {
    advice: 'Check the path. `/docs` lists all operations.',
    openai: { code: 'unknown_url' },
  }),
  'clip-not-found': problem(404, 'Clip not found or expired', {
    advice: 'Create the clip again. Clips expire after 10 minutes.',
  }),
  'transcription-not-found': problem(404, 'Transcription not found or expired', {
    advice: 'Send the recording again. Finished jobs expire after an hour (`TRANSCRIBE_JOB_KEEP`).',
  }),
  'preparation-not-found': problem(404, 'Unknown preparation', { advice: 'Choose an id from `GET /preparations`.' }),
  'preparation-in-progress': problem(409, 'Another preparation in progress', {
    advice: 'Wait for the current preparation, or stop it. Only one runs at a time.',
    retryAfter: 30,
  }),
  'transcript-not-ready': problem(409, 'Transcript not ready', {
    advice: 'Retry after `retry_after` seconds.',
    retryAfter: 5,
  }),
  'method-not-allowed': problem(405, 'Method not allowed', {
    advice: 'Use a method from the header `Allow`.',
    openai: { code: 'unknown_url' },
  }),
  'malformed-request': problem(400, 'Malformed HTTP request', {
    advice: 'The request is not valid HTTP. Check the client and any proxy.',
  }),
  'request-timeout': problem(408, 'Request timeout', { advice: 'The request arrived too slowly. Send it again.' }),
  'unsupported-media-type': problem(415, 'Unsupported content type', {
    advice: 'Send the `Content-Type` that the operation accepts.',
  }),
  'range-not-satisfiable': problem(416, 'Range not satisfiable', {
    advice: 'Request a range within the length of the clip.',
  }),
  'expectation-failed': problem(417, 'Unsupported Expect header', { advice: 'Omit the header `Expect`.' }),
  'headers-too-large': problem(431, 'Request headers too large', {
    advice: 'Send fewer or shorter headers, such as cookies.',
  }),
  'upgrade-required': problem(426, 'WebSocket required', {
    advice: 'Connect with a WebSocket client. If the client is one, a proxy does not forward the header `Upgrade`.',
  }),
  'rate-limited': problem(429, 'Rate limit reached', {
    advice: 'Retry after `retry_after` seconds. The operator sets the limits of a key.',
    retryAfter: 60,
    openai: { code: 'rate_limit_exceeded', retryable: true, maxRetryAfter: 60 },
  }),
  'concurrency-limited': problem(429, 'Too many requests in flight', {
    advice: 'Wait for another request to finish. The operator sets the limits of a key.',
    retryAfter: 1,
    openai: { retryable: true, maxRetryAfter: 60 },
  }),
  'quota-exceeded': problem(429, 'Daily quota of the API key used up', {
    advice: 'Wait until tomorrow (UTC), or ask the operator for a larger quota.',
    retryAfter: 3_600,
    openai: { type: 'insufficient_quota', code: 'insufficient_quota' },
  }),
  'provider-quota-exhausted': problem(429, 'Provider quota exhausted', {
    advice: 'The operator must add credit to the account at the provider.',
    openai: { type: 'insufficient_quota', code: 'insufficient_quota' },
  }),
  'provider-rate-limited': problem(429, 'Provider rate limit reached', {
    advice: 'Retry after `retry_after` seconds, or choose another model.',
    retryAfter: 1,
    openai: { code: 'rate_limit_exceeded', retryable: true },
  }),
  'internal-error': problem(500, 'Internal error', {
    advice: 'This is a bug in the service. The log has the cause, with the request id.',
  }),
  'engine-failed': problem(500, 'Engine failed', {
    advice: 'The log has the cause, with the request id. `npm run doctor` checks every engine.',
  }),
  'provider-auth-failed': problem(502, 'API key rejected by the provider', {
    advice: 'The operator must correct the API key of the provider. `npm run doctor` checks it.',
  }),
  'provider-misconfigured': problem(502, 'Unknown model or path at the provider', {
    advice: 'The operator must correct `baseUrl` or the model id. The log has the response.',
  }),
  'provider-unreachable': problem(502, 'Provider unreachable', {
    advice: 'Check that the provider or the local server is running, and check the network.',
  }),
  'provider-error': problem(502, 'Provider error', {
    advice: 'Try again. The log has the response of the provider, with the request id.',
  }),
  'provider-bad-response': problem(502, 'Invalid response from the provider', {
    advice: 'Try again, or choose another model. The log describes the invalid response.',
  }),
  'transcription-disabled': problem(503, 'Transcription disabled', {
    advice: 'The operator has disabled it (`TRANSCRIBE_ENABLED` or `TRANSCRIBE_JOBS`).',
  }),
  'no-engine': problem(503, 'No engine configured', {
    advice: 'No engine is configured for this. See the page or `npm run doctor`.',
  }),
  'model-unavailable': problem(503, 'Model unavailable', {
    advice: 'The detail says what is missing. `npm run doctor` prints the command that fixes it.',
  }),
  overloaded: problem(503, 'Service overloaded', {
    advice: 'Retry after `retry_after` seconds. All places in the queue are taken.',
    retryAfter: 1,
    openai: { retryable: true },
  }),
  'storage-full': problem(503, 'Storage full', {
    advice: 'Free disk space on the machine of the service, or retry after `retry_after` seconds.',
    retryAfter: 30,
    openai: { retryable: true },
  }),
  'shutting-down': problem(503, 'Service shutting down', {
    advice: 'The service is stopping or restarting. Try again soon.',
    retryAfter: 5,
    openai: { retryable: true },
  }),
  // Returned only by /readyz.
  'not-ready': problem(503, 'Service not ready', { advice: 'The service is starting. Try again soon.', retryAfter: 5 }),
  'provider-overloaded': problem(503, 'Provider overloaded', {
    advice: 'Retry after `retry_after` seconds, or choose another model.',
    retryAfter: 1,
    openai: { retryable: true },
  }),
  'engine-timeout': problem(504, 'Engine timeout', { advice: 'Try a shorter text or recording, or a smaller model.' }),
  'provider-timeout': problem(504, 'Provider timeout', {
    advice: 'The provider took too long. Try again, or choose another model.',
  }),
};
