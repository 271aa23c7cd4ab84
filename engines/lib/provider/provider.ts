/** Client for an OpenAI-compatible provider: sends requests, retries, maps failures and tracks availability. */
import { EngineError, type Availability, type EngineContext } from '../../contract/index.ts';
import { readRetryAfter } from '../../../lib/retry-after.ts';
import { baseUrlFix } from './base-url.ts';
import { refusalError, isWorthRetry, readRefusal, type Refusal } from './failures.ts';
import { createHealth } from './health.ts';
import { pause } from '../../../lib/abort.ts';
import type { ProviderOptions } from './options.ts';
import { complaintOf, createRedactor, outlineOf, quoteProvider } from './redact.ts';
import { isTransient } from './connection-failures.ts';
import { createTransport, readErrorText, type HttpAnswer, type HttpBody } from './transport.ts';

export interface ProviderRequest {
  readonly method: 'GET' | 'POST';
  /** Appended to the base URL; starts with a slash. */
  readonly path: string;
  /** Id, in the settings, of the model whose availability the result updates; absent for requests without a model. */
  readonly model?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called for every attempt. */
  readonly body?: () => HttpBody;
  /** Defaults to true if not specified. */
  readonly retry?: boolean;
  /** Whether the result changes the availability of models. Defaults to true if not specified. */
  readonly countsForHealth?: boolean;
  /** Endpoint-specific mapping of an error response; undefined falls back to the table in failures.ts. */
  readonly explain?: (refusal: Refusal, cause: Error) => Error | undefined;
}

export interface Provider extends AsyncDisposable {
  /**
   * Resolves when the response headers arrive with a 2xx status; the caller reads the body. Retries failed connections,
   * 503, and 502 and 504 of a proxy, but never after a 2xx response has started. Rejects with an `EngineError`, with
   * the error from `explain`, or with the signal's reason.
   */
  send(request: ProviderRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /**
   * Returns the availability according to past calls, without a request; undefined if no problem with the model is
   * known.
   */
  availability(model: string): Availability | undefined;
  /** Throws `model-unavailable` when the settings have no key: the provider would reject every call. */
  expectKey(model: string): void;
  readonly baseUrl: string;
  /** Removes secrets from a provider's text and truncates it, for the log. */
  readonly redact: (text: string) => string;
  /** Describes an unusable response for the log: without its content, unless that is an error. */
  readonly outline: (text: string) => string;
  /** Returns a sentence that explains how to fix the base URL for requests to `path`; undefined if it looks right. */
  readonly baseUrlHint: (path: string) => string | undefined;
}

const attempts = 3;
/** Backoff before the second and the third attempt. */
const waitsMs = [250, 1_000];
/** With a longer Retry-After, the caller decides about a retry. */
const maxWaitMs = 2_000;

export function createProvider(options: ProviderOptions, context: EngineContext): Provider {
  const { instance, env, now, log } = context;
  const { apiKey, headers = {} } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const health = createHealth(instance, apiKey === '', now);
  const transport = createTransport(env);
  const redact = createRedactor([apiKey ?? '', ...Object.values(headers)]);
  const ownHeaders = {
    'user-agent': 'parlance',
    accept: 'application/json',
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
  };

  async function attempt(request: ProviderRequest, signal: AbortSignal): Promise<RequestOutcome> {
    const { method, path, model, body, explain, countsForHealth = true } = request;
    const url = `${baseUrl}${path}`;
    const http = {
      method,
      url,
      headers: { ...ownHeaders, ...request.headers, ...headers, ...context.providerHeaders(url) },
      ...(body && { body: body() }),
    };
    let answer: HttpAnswer;
    try {
      answer = await transport.send(http, signal);
    } catch (error) {
      if (signal.aborted || !EngineError.is(error)) throw error;
      if (countsForHealth) health.failed(model, error, undefined);
      return { error, retryAfterMs: isTransient(error) ? 0 : undefined };
    }
    if (answer.status >= 200 && answer.status < 300) {
      if (countsForHealth) health.succeeded(model);
      return answer;
    }
    const retryAfter = readRetryAfter(answer.headers['retry-after'], now());
    const refusal = readRefusal(answer.status, await readErrorText(answer), retryAfter);
    signal.throwIfAborted();
    const cause = new Error(`${instance} answered ${refusal.status}: ${redact(complaintOf(refusal.text))}`);
    const hints = [hintFor(refusal, path), quoteProvider(refusal, redact, url)].filter((hint) => hint !== undefined);
    const forOperator = hints.length > 0 ? hints.join(' ') : undefined;
    const failure = refusalError(refusal, { url, cause, forOperator });
    if (countsForHealth) health.failed(model, failure, refusal.status);
    const error = explain?.(refusal, cause) ?? failure;
    return { error, retryAfterMs: isWorthRetry(refusal) ? (retryAfter ?? 0) * 1000 : undefined };
  }

  function hintFor({ status, complaint }: Refusal, path: string): string | undefined {
    if (status === 401 || status === 403) return howToFixKey(options, context);
    // If the provider's error mentions a model, the URL is right.
    const isUnknownUrl = (status === 404 || status === 405) && !/\bmodel\b/i.test(complaint);
    return isUnknownUrl ? baseUrlHint(path) : undefined;
  }

  function baseUrlHint(path: string): string | undefined {
    const fix = baseUrlFix(baseUrl, path);
    const setting =
      env.OPENAI_BASE_URL === options.baseUrl ? 'OPENAI_BASE_URL' : `the baseUrl of the engine ${instance}`;
    return fix && `fix: ${fix.change} ${setting}.`;
  }

  return {
    baseUrl,
    redact,
    baseUrlHint,
    outline: (text) => redact(outlineOf(text)),
    availability: (model) => health.availability(model),
    expectKey(model) {
      const known = health.availability(model);
      if (known?.code === 'key-missing') throw new EngineError('model-unavailable', known.reason);
    },
    async send(request, signal) {
      for (let count = 1; ; count += 1) {
        const outcome = await attempt(request, signal);
        if ('status' in outcome) return outcome;
        const { error, retryAfterMs = Infinity } = outcome;
        if (request.retry === false || count === attempts || retryAfterMs > maxWaitMs) throw error;
        log.debug({ err: error, attempt: count }, 'retrying a request to the provider');
        await pause(Math.max(retryAfterMs, waitsMs[count - 1] ?? 0), signal);
      }
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}

/** Returns a hint for the operator: which setting contains the rejected key. */
function howToFixKey({ apiKey, baseUrl }: ProviderOptions, { instance, env }: EngineContext): string {
  const { OPENAI_API_KEY: key, OPENAI_BASE_URL: url } = env;
  const isOfEnvironment = apiKey === undefined ? url === baseUrl : key === apiKey;
  const setting = isOfEnvironment ? 'OPENAI_API_KEY' : `the apiKey of the engine ${instance}`;
  return `Set ${setting} to a key that ${new URL(baseUrl).host} accepts.`;
}

type RequestOutcome =
  | HttpAnswer
  | {
      readonly error: Error;
      /** Undefined if a retry would not help. */
      readonly retryAfterMs: number | undefined;
    };
