/**
 * Maps a provider's error response to our problem codes. The provider's own text is only logged and shown to the
 * operator.
 */
import { EngineError, type EngineErrorCode } from '../../contract/index.ts';
import { isObject, textOf } from '../../../lib/json.ts';

/** An error response, as the provider sent it. */
export interface Refusal {
  readonly status: number;
  /** The whole body. */
  readonly text: string;
  /** The body without echoes of the request or the model's output, whose words do not describe the failure. */
  readonly complaint: string;
  /** The error message, or the whole body if there is none. */
  readonly message: string;
  /** OpenAI's `error.code` and `error.type`, or "". */
  readonly code: string;
  readonly type: string;
  /** OpenAI's `error.param`, the invalid request field, or "". */
  readonly param: string;
  /** Seconds, if the provider sent Retry-After. */
  readonly retryAfter: number | undefined;
  /** True if the body is not a JSON object: APIs explain their errors; proxies in front of them do not. */
  readonly isBare: boolean;
}

/** Some providers put the details into `error`, others at the top level. */
export function readRefusal(status: number, text: string, retryAfter: number | undefined): Refusal {
  const parsed = parse(text);
  const error = isObject(parsed) && isObject(parsed.error) ? parsed.error : parsed;
  const field = (name: string) => {
    const value = isObject(error) ? error[name] : undefined;
    return typeof value === 'string' ? value : '';
  };
  const { error: ownError, detail } = isObject(parsed) ? parsed : {};
  const message = [field('message'), textOf(ownError), textOf(detail)].find((one) => one !== '') ?? text;
  return {
    ...{ status, text, message },
    complaint: parsed === undefined ? text : JSON.stringify(parsed, withoutEchoes),
    ...{ code: field('code'), type: field('type'), param: field('param'), retryAfter },
    isBare: !isObject(parsed),
  };
}

/**
 * True for 503, and for a 502 or 504 of a proxy, behind which another server may answer: HAProxy answers 502 for a
 * worker that was killed. A 502 or 504 of the API itself would recur.
 */
export function isWorthRetry({ status, isBare }: Refusal): boolean {
  return status === 503 || (isBare && (status === 502 || status === 504));
}

/** `input` is Pydantic's echo of the request (FastAPI, vLLM), `failed_generation` Groq's echo of the model's output. */
const echoes = new Set(['input', 'failed_generation']);

function withoutEchoes(key: string, value: unknown): unknown {
  return echoes.has(key) ? undefined : value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const patterns = {
  /** For 429, which is usually a rate limit: matches only failures that a retry cannot fix. */
  exhausted: /insufficient.?(quota|credit|funds|balance)|exceeded your current quota|out of credits|billing/i,
  quota: /quota|billing|credit balance|insufficient.?(credit|funds|balance)/i,
  contextLength:
    /context.?(length|size|window)|maximum context|too many (input )?tokens|string_above_max_length|prompt is too long|input token count|reduce the length/i,
  policy: /content.?(policy|filter|management)|moderation|safety system|flagged/i,
  unknownModel: /^model_not_found$/,
  /** The provider is another Parlance that is itself misconfigured, or has detected a loop. */
  misconfigured: /^provider[-_]misconfigured$/,
};

/** Matches what nginx, Apache, and Go servers such as Caddy return for plain HTTP on a TLS port. */
const expectsTls =
  /plain HTTP request was sent to HTTPS port|HTTP request to an HTTPS server|plain HTTP to an SSL-enabled/;

/** Thrown if the base URL needs the other scheme (http or https). */
export class SchemeError extends EngineError {}

/** `scheme` is the one that `url` needs. */
export function schemeError(scheme: 'http' | 'https', url: string, cause?: unknown): EngineError {
  const spoken = scheme === 'http' ? 'HTTP, not TLS' : 'TLS, not plain HTTP';
  const { protocol, host } = new URL(url);
  const message = `The provider speaks ${spoken}: its base URL must begin with ${scheme}://.`;
  const forOperator = `Use ${scheme}://${host} instead of ${protocol}//${host}.`;
  return new SchemeError('provider-misconfigured', message, { cause, forOperator });
}

/** Returns whether the text is an HTML page instead of an API response: from a web interface, a proxy or a login. */
export function isPage(text: string): boolean {
  return /^[\s\ufeff]*(?:<(?:\?xml|!--)[^>]*>\s*)*<(?:!doctype\s+html|html|head|body)\b/i.test(text);
}

/** `why` is only logged. */
export function badResponse(message: string, why: string, forOperator?: string): EngineError {
  return new EngineError('provider-bad-response', message, { cause: new Error(why), forOperator });
}

/** The provider answered with an HTML page. */
export class PageError extends EngineError {
  constructor(why: string, forOperator?: string) {
    const message = 'The provider answered with an HTML page: its base URL may be wrong.';
    super('provider-bad-response', message, { cause: new Error(why), forOperator });
  }
}

/** Returns the error for a response with the status 200 that begins with `text` and is not the requested content. */
export function unexpected(message: string, text: string, why: string, forOperator?: string): EngineError {
  return isPage(text) ? new PageError(why, forOperator) : badResponse(message, why, forOperator);
}

/** Public message per code. */
const messages = {
  'provider-quota-exhausted': 'The provider quota of this service is exhausted.',
  'provider-rate-limited': 'The rate limit of the provider is reached.',
  'provider-auth-failed': 'The provider rejected the API key of this service.',
  'provider-misconfigured': 'The provider does not know the requested model or URL.',
  'provider-timeout': 'The provider did not answer in time.',
  'provider-overloaded': 'The provider is overloaded.',
  'provider-error': 'The provider failed.',
  'provider-rejected-request': 'The provider rejected the request.',
  'context-length-exceeded': 'The request exceeds the context length of the model.',
  'content-rejected': 'The provider rejected the content of the request.',
} as const satisfies Partial<Record<EngineErrorCode, string>>;

type FailureCode = keyof typeof messages;

export interface RefusedRequest {
  readonly url: string;
  /** The log's description of the refusal. */
  readonly cause: Error;
  readonly forOperator?: string | undefined;
}

export function refusalError(refusal: Refusal, { url, cause, forOperator }: RefusedRequest): EngineError {
  if (refusal.status === 400 && refusal.isBare && expectsTls.test(refusal.text))
    return schemeError('https', url, cause);
  const code = failureCode(refusal);
  const { retryAfter } = refusal;
  const mayRetry = /^provider-(quota-exhausted|rate-limited|overloaded)$/.test(code);
  return new EngineError(code, messageOf(code, refusal), {
    ...{ cause, forOperator },
    ...(mayRetry && retryAfter !== undefined && { retryAfter }),
  });
}

/** Names the field that the provider rejected, since the client can change it. Only plain field names are repeated. */
function messageOf(code: FailureCode, { param }: Refusal): string {
  const isNamed = code === 'provider-rejected-request' && /^[a-z][a-z_]{0,40}$/.test(param);
  return isNamed ? `The provider rejected the request field "${param}".` : messages[code];
}

function failureCode({ status, complaint, code, type }: Refusal): FailureCode {
  switch (status) {
    case 402:
      return 'provider-quota-exhausted';
    case 429:
      return patterns.exhausted.test(complaint) ? 'provider-quota-exhausted' : 'provider-rate-limited';
    case 401:
      return 'provider-auth-failed';
    case 403:
      return patterns.quota.test(complaint) ? 'provider-quota-exhausted' : 'provider-auth-failed';
    case 400:
    case 413:
    case 415:
    case 422:
      if (status === 400 && patterns.quota.test(complaint)) return 'provider-quota-exhausted';
      if (patterns.unknownModel.test(code) || patterns.unknownModel.test(type)) return 'provider-misconfigured';
      if (patterns.contextLength.test(complaint)) return 'context-length-exceeded';
      return patterns.policy.test(complaint) ? 'content-rejected' : 'provider-rejected-request';
    case 408:
    case 504:
      return 'provider-timeout';
    case 503:
    case 529:
      return 'provider-overloaded';
    default:
      if (patterns.misconfigured.test(code)) return 'provider-misconfigured';
      // Redirects are not followed: keys and recordings are sent only to the configured URL.
      return (status >= 300 && status < 400) || status === 404 || status === 405 || status === 410
        ? 'provider-misconfigured'
        : 'provider-error';
  }
}
