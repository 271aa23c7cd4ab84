/** The one table of what a provider's failure is to our callers. Its own text is for the log alone. */
import { EngineError, type EngineErrorCode } from '../../contract/index.ts';

/** An answer that is a failure, as the provider words it. */
export interface Refusal {
  readonly status: number;
  /** The whole text. */
  readonly text: string;
  /** The same without what it repeats of the request or the answer, whose words say nothing of the failure. */
  readonly complaint: string;
  /** Its message, or the whole text when it has none. */
  readonly message: string;
  /** OpenAI's `error.code` and `error.type`, or "". */
  readonly code: string;
  readonly type: string;
  /** The parameter that OpenAI blames (`error.param`), or "". */
  readonly param: string;
  /** Seconds, where the provider names them. */
  readonly retryAfter: number | undefined;
}

/** Providers put the details into `error`, or beside their message. */
export function readRefusal(status: number, text: string, retryAfter: number | undefined): Refusal {
  const parsed = parse(text);
  const error = isRecord(parsed) && isRecord(parsed.error) ? parsed.error : parsed;
  const field = (name: string) => {
    const value = isRecord(error) ? error[name] : undefined;
    return typeof value === 'string' ? value : '';
  };
  const message = field('message');
  return {
    ...{ status, text, message: message === '' ? text : message },
    complaint: parsed === undefined ? text : JSON.stringify(parsed, withoutEchoes),
    ...{ code: field('code'), type: field('type'), param: field('param'), retryAfter },
  };
}

/** Pydantic (FastAPI, vLLM) repeats the input, Groq what its model wrote. */
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const words = {
  /** Of a 429, which is mostly a rate: only what waiting does not cure. */
  exhausted: /insufficient.?(quota|credit|funds|balance)|exceeded your current quota|out of credits|billing/i,
  quota: /quota|billing|credit balance|insufficient.?(credit|funds|balance)/i,
  contextLength:
    /context.?(length|size|window)|maximum context|too many (input )?tokens|string_above_max_length|prompt is too long|input token count|reduce the length/i,
  policy: /content.?(policy|filter|management)|moderation|safety system|flagged/i,
  unknownModel: /^model_not_found$/,
};

/** What each code says to the caller. */
const messages = {
  'provider-quota-exhausted': 'The quota of the service at the provider is exhausted.',
  'provider-rate-limited': 'The provider takes no more requests for the moment.',
  'provider-auth-failed': 'The provider refuses the key of the service.',
  'provider-misconfigured': 'The provider does not know the model or the address that it was asked for.',
  'provider-timeout': 'The provider did not answer in time.',
  'provider-overloaded': 'The provider is overloaded.',
  'provider-error': 'The provider failed.',
  'provider-rejected-request': 'The provider rejects the request.',
  'context-length-exceeded': 'The request is longer than the model can take.',
  'content-rejected': 'The provider rejects the content of the request.',
} as const satisfies Partial<Record<EngineErrorCode, string>>;

type FailureCode = keyof typeof messages;

export function failureOf(refusal: Refusal, cause: Error): EngineError {
  const code = failureCode(refusal);
  const { retryAfter } = refusal;
  const mayRetry = /^provider-(quota-exhausted|rate-limited|overloaded)$/.test(code);
  return new EngineError(code, messageOf(code, refusal), {
    cause,
    ...(mayRetry && retryAfter !== undefined && { retryAfter }),
  });
}

/** A field that the provider names is one that the caller can change; anything but a plain name is not repeated. */
function messageOf(code: FailureCode, { param }: Refusal): string {
  const isNamed = code === 'provider-rejected-request' && /^[a-z][a-z_]{0,40}$/.test(param);
  return isNamed ? `The provider rejects the request because of its field "${param}".` : messages[code];
}

function failureCode({ status, complaint, code, type }: Refusal): FailureCode {
  switch (status) {
    case 402:
      return 'provider-quota-exhausted';
    case 429:
      return words.exhausted.test(complaint) ? 'provider-quota-exhausted' : 'provider-rate-limited';
    case 401:
      return 'provider-auth-failed';
    case 403:
      return words.quota.test(complaint) ? 'provider-quota-exhausted' : 'provider-auth-failed';
    case 400:
    case 413:
    case 415:
    case 422:
      if (status === 400 && words.quota.test(complaint)) return 'provider-quota-exhausted';
      if (words.unknownModel.test(code) || words.unknownModel.test(type)) return 'provider-misconfigured';
      if (words.contextLength.test(complaint)) return 'context-length-exceeded';
      return words.policy.test(complaint) ? 'content-rejected' : 'provider-rejected-request';
    case 408:
    case 504:
      return 'provider-timeout';
    case 503:
    case 529:
      return 'provider-overloaded';
    default:
      // Redirects too: a key and a recording go where the settings say, and nowhere else.
      return (status >= 300 && status < 400) || status === 404 || status === 405 || status === 410
        ? 'provider-misconfigured'
        : 'provider-error';
  }
}

const longestRetryAfter = 86_400;

/** Retry-After, in seconds from now. */
export function readRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  const text = [header].flat()[0]?.trim() ?? '';
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), longestRetryAfter);
}
