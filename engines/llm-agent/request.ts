/** One round with the provider: sends the request in a variant that the provider accepts, and streams the answer. */
import { EngineError, type Logger } from '../contract/index.ts';
import type { Delta } from '../lib/agent/delta.ts';
import type { Conversation, RoundEnd } from '../lib/agent/loop.ts';
import { startTimeout } from '../../lib/abort.ts';
import { readEvents, type StreamEvent } from '../lib/agent/event-stream.ts';
import { isObject, parseObject, type JsonObject } from '../../lib/json.ts';
import type { Provider } from '../lib/provider/provider.ts';
import type { HttpAnswer } from '../lib/provider/transport.ts';
import type { History, RoundReader } from './dialect.ts';
import { notSupported } from './caller-tools.ts';
import { badResponse, readRefusal, unexpected } from '../lib/provider/failures.ts';
import { quoteProvider } from '../lib/provider/redact.ts';
import type { Model } from './models.ts';
import { nextVariant, VariantRefused, takesTools, withoutDropped } from './request-variant.ts';

/** The size in bytes of about 200,000 tokens with the JSON around each. */
const maxAnswerLength = 64 * 2 ** 20;

export interface RequestOptions {
  readonly provider: Provider;
  /** Below the base URL. */
  readonly path: string;
  readonly model: Model;
  /** Timeouts in seconds: of a whole answer, and between two chunks. */
  readonly timeout: number;
  readonly idleTimeout: number;
  /** True if the tools are the caller's: they are never dropped, and calls to them are returned instead of run. */
  readonly returnsCalls: boolean;
  readonly log: Logger;
}

/** The conversation of a run: one request to the provider per round. */
export function converse(history: History, options: RequestOptions): Conversation {
  return {
    requestRound(isLast, signal) {
      const reader = history.read();
      return {
        deltas: streamRound(history, { reader, isLast }, options, signal),
        end() {
          const round = reader.end();
          warnOfUnknownReason(round, options);
          if (round.calls.some(({ name }) => name === '')) {
            throw badResponse('The provider sent a tool call without a name.', `${round.calls.length} calls`);
          }
          return round;
        },
      };
    },
    append: (round, outputs) => history.append(round, outputs),
  };
}

/** Logged once per model. */
const warnedOf = new WeakSet<Model>();

function warnOfUnknownReason({ unknownReason, finish }: RoundEnd, { model, provider, log }: RequestOptions): void {
  if (unknownReason === undefined || warnedOf.has(model)) return;
  warnedOf.add(model);
  const reason = provider.redact(unknownReason).slice(0, 100);
  log.warn({ model: model.id, reason, takenAs: finish }, 'the provider sent an unknown finish reason');
}

/** Reads the answer into `reader` and yields its deltas. Throws an `EngineError`, or the signal's reason. */
async function* streamRound(
  history: History,
  { reader, isLast }: { readonly reader: RoundReader; readonly isLast: boolean },
  options: RequestOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly Delta[]> {
  const { timeout, idleTimeout, provider } = options;
  const late = () => new EngineError('provider-timeout', `The provider did not answer within ${String(timeout)} s.`);
  using deadline = startTimeout(timeout * 1000, late, signal);
  let isDone = false;
  const limits = {
    bytes: maxAnswerLength,
    idleMs: idleTimeout * 1000,
    isComplete: () => isDone || reader.isComplete,
    isEnough: () => reader.isFinished,
  };

  function take(event: StreamEvent): readonly Delta[] {
    const { name, data, whole } = event;
    if (data.trim() === '[DONE]') isDone = true;
    if (limits.isComplete() || data === '') return [];
    const value = parseObject(data);
    if (value === undefined) {
      throw unexpected('The provider sent something that is not a JSON object.', data, provider.outline(data));
    }
    if (name === 'error') throw errorInside(value, provider);
    throwIfError(value, provider);
    return whole ? reader.takeWhole(value) : reader.take(value);
  }

  try {
    const { body } = await send(history, isLast, options, deadline.signal);
    for await (const batch of readEvents(body, limits)) yield batch.flatMap(take);
  } catch (error) {
    deadline.signal.throwIfAborted(); // an abort breaks the connection
    throw error;
  }
}

/** Retries without a field that the model rejects, and remembers what worked. */
async function send(
  history: History,
  isLast: boolean,
  { provider, path, model, returnsCalls, log }: RequestOptions,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const first = model.variant;
  for (let variant = first; ;) {
    const body = withoutDropped(history.request(variant, isLast), variant);
    const content = Buffer.from(JSON.stringify(body));
    try {
      const answer = await provider.send(
        {
          ...{ method: 'POST', path, model: model.id },
          headers: { 'content-type': 'application/json', accept: 'text/event-stream, application/json' },
          body: () => content,
          explain: (refusal, cause) => {
            const other = nextVariant(variant, first, body, refusal);
            if (returnsCalls && other && !takesTools(other)) return notSupported(model.id, 'tools', cause);
            return other && new VariantRefused(other, cause);
          },
        },
        signal,
      );
      // Only a new variant is stored, because another run may have stored one in the meantime.
      if (variant !== first) model.variant = variant;
      return answer;
    } catch (error) {
      if (!(error instanceof VariantRefused)) throw error;
      variant = error.other;
      if ('tools' in body && variant.dropped.includes('tools')) {
        log.warn({ model: model.id, err: error.cause }, 'the model does not support tools; they are left out');
      }
    }
  }
}

/**
 * For errors inside a response with status 200. Throws for `{error}`, with or without other fields, and for the error
 * event types of /responses.
 */
function throwIfError(event: JsonObject, provider: Redacting): void {
  const { error, type } = event;
  const isError = isObject(error) || (typeof error === 'string' && error !== '');
  if (isError || type === 'error' || type === 'response.failed') throw errorInside(event, provider);
}

type Redacting = Pick<Provider, 'outline' | 'redact'>;

function errorInside(event: JsonObject, { outline, redact }: Redacting): EngineError {
  const cause = new Error(`error inside the response: ${outline(JSON.stringify(event))}`);
  const { response = event } = event;
  const forOperator = quoteProvider(readRefusal(200, JSON.stringify(response), undefined), redact);
  return new EngineError('provider-error', 'The provider failed during its response.', { cause, forOperator });
}
