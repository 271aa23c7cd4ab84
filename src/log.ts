/**
 * The service's log: pino, with the ids of the current request on every line. Code must not log secrets or user texts;
 * as a safeguard, values whose names suggest a secret are redacted here. Texts from programs, providers and third-party
 * engines are truncated, and anything in them that looks like a key is masked.
 */
import { pino, type DestinationStream, type Logger, type LogFn } from 'pino';
import { maskKeys, shorten } from '../lib/text.ts';
import { currentScope } from './request-scope.ts';

/**
 * Creates the service's log. `level`: `debug`, `info`, `warn`, `error` or `silent`. `destination` defaults to stdout if
 * not specified.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const serializers = { err: (err: unknown) => err }; // withoutSecrets has already converted it
  const formatters = { log: withoutSecrets };
  const options = { level, mixin: requestFacts, formatters, serializers, hooks: { logMethod: withMaskedMessage } };
  return destination ? pino(options, destination) : pino(options);
}

/** Returns a new object each time, because pino adds the line's own fields to the object. */
function requestFacts(): object {
  const { id, trace } = currentScope() ?? {};
  if (trace === undefined) return {};
  return { id, trace_id: trace.traceId, span_id: trace.spanId };
}

/** Masks keys in messages, because engines also write log messages. */
function withMaskedMessage(this: Logger, args: Parameters<LogFn>, write: LogFn): void {
  const [facts, message, ...rest] = args;
  write.call(this, typeof facts === 'string' ? foreignText(facts) : facts, message && foreignText(message), ...rest);
}

/**
 * Names in lower case. pino's own `redact` cannot match at any depth or regardless of case, and costs 2 µs per line.
 */
const secretNames: ReadonlySet<string> = new Set([
  ...['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key'],
  ...['apikey', 'api_key', 'token', 'secret', 'password'],
]);
const censored = '[redacted]';

/** Fields that hold names of API keys and models. Such names may look like secrets but are not masked. */
const ownNames: ReadonlySet<string> = new Set(['id', 'key', 'model', 'added', 'removed', 'changed']);

/** Maximum nesting depth of values; deeper values are omitted. */
const maxDepth = 4;

/** Maximum number of characters in the fields of a line. They may quote files, programs and third-party engines. */
const maxLineLength = 32_768;

/** Minimum number of characters counted per field, to allow for punctuation and a number. */
const minFactLength = 8;

type LogFields = Record<string, unknown>;

/** The number of characters that a line may still use. */
interface LineBudget {
  left: number;
}

function withoutSecrets(facts: LogFields): LogFields {
  const budget = { left: maxLineLength };
  for (const name in facts) {
    const value = facts[name];
    if (secretNames.has(name.toLowerCase())) facts[name] = censored;
    else facts[name] = ownNames.has(name) && isText(value) ? bounded(value, budget) : readable(value, 1, budget);
  }
  return facts;
}

/** Whether the value is a string or a list of strings. */
function isText(value: unknown): value is string | readonly string[] {
  return [value].flat().every((item) => typeof item === 'string');
}

function bounded(names: string | readonly string[], budget: LineBudget): unknown {
  return typeof names === 'string' ? cut(names, budget) : fitting(names, budget).map((name) => cut(name, budget));
}

/** Returns a loggable copy. Values from third-party engines may have getters that throw. */
function readable(value: unknown, depth: number, budget: LineBudget): unknown {
  if (typeof value === 'string') return cut(maskKeys(value), budget);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > maxDepth || budget.left <= 0) return '[...]';
  try {
    if (value instanceof Error) return describeError(value, budget);
    if (Array.isArray(value)) return fitting(value, budget).map((item) => readable(item, depth + 1, budget));
    if ('toJSON' in value) return readable((value.toJSON as () => unknown).call(value), depth + 1, budget);
    return Object.fromEntries(
      fitting(Object.entries(value), budget).map(([name, inner]) => [
        cut(maskKeys(name), budget),
        secretNames.has(name.toLowerCase()) ? censored : readable(inner, depth + 1, budget),
      ]),
    );
  } catch {
    return '[unreadable]';
  }
}

function cut(text: string, budget: LineBudget): string {
  const shortened = shorten(text, Math.max(1, budget.left));
  budget.left -= shortened.length;
  return shortened;
}

/** Returns as many items as fit in the line. */
function fitting<T>(items: readonly T[], budget: LineBudget): readonly T[] {
  const kept = items.slice(0, Math.max(0, Math.floor(budget.left / minFactLength)));
  budget.left -= kept.length * minFactLength;
  return kept;
}

/** Maximum number of characters in an error's message and causes, which may quote programs and providers. */
const maxTextLength = 2_048;
const maxStackLength = 4_096;
const maxCauses = 10;

/**
 * Error codes of rejections and failures by a provider. Their messages suffice: a stack would only show this service's
 * code.
 */
const isOfProvider = /^provider-(?!bad-response$)/;

/** Logs only these fields of an error, because libraries attach whole requests to their errors. */
function describeError(error: Error, budget: LineBudget): object {
  const [first = error, ...causes] = chainOf(error);
  const message = messageOf([first, ...causes]);
  const because = causes.map((cause) => `\ncaused by: ${stackOf(cause, first.message)}`).join('');
  const { code } = error as { readonly code?: unknown };
  const stack = isOfProvider.test(String(code)) ? undefined : foreignText(stackOf(first), maxStackLength);
  budget.left -= maxTextLength + maxStackLength; // message and stack have their own limits
  return {
    type: foreignText(first.name),
    message: foreignText(message),
    ...(typeof code === 'number' && { code }),
    ...(typeof code === 'string' && { code: foreignText(code) }),
    ...(stack !== undefined && { stack: stack + foreignText(because) }),
  };
}

function foreignText(text: unknown, limit = maxTextLength): string {
  return shorten(maskKeys(String(text)), limit);
}

function chainOf(error: Error): Error[] {
  const chain: Error[] = [];
  for (let next: unknown = error; next instanceof Error && chain.length <= maxCauses; next = causeOf(next)) {
    chain.push(next);
  }
  return chain;
}

/** Returns the cause; for an AggregateError (from a host with several addresses), returns its first error. */
function causeOf(error: Error): unknown {
  return error.cause ?? (error instanceof AggregateError ? (error.errors as unknown[])[0] : undefined);
}

/** Joins the messages of an error and its causes. Causes that an error already quotes are omitted. */
function messageOf([first, ...causes]: readonly Error[]): string {
  return causes.reduce(
    (said, { message }) => (said.includes(message) ? said : `${said.replace(/\.$/, '')}: ${message}`),
    String(first?.message),
  );
}

/** Returns the stack, without the message if `said` already contains it. */
function stackOf({ stack, name, message }: Error, said?: string): string {
  if (typeof stack !== 'string') return `${name}: ${message}`;
  return said !== undefined && message !== '' && said.includes(message) ? stack.replace(`: ${message}`, '') : stack;
}
