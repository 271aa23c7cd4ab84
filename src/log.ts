/**
 * The service's log: pino, with the ids of the current request in every line. Callers must not log secrets or texts; in
 * case one does, values with the names of secrets are removed here. Texts of programs, providers and third-party engines
 * are cut, and what looks like a key in them is masked.
 */
import { pino, type DestinationStream, type Logger, type LogFn } from 'pino';
import { maskKeys, shorten } from '../lib/text.ts';
import { currentScope } from './request-scope.ts';

/** Writes to stdout by default. */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const serializers = { err: (err: unknown) => err }; // already described
  const formatters = { log: withoutSecrets };
  const options = { level, mixin: requestFacts, formatters, serializers, hooks: { logMethod: withMaskedMessage } };
  return destination ? pino(options, destination) : pino(options);
}

/** A new object each time: pino adds the facts of the line to it. */
function requestFacts(): object {
  const { id, trace } = currentScope() ?? {};
  if (trace === undefined) return {};
  return { id, trace_id: trace.traceId, span_id: trace.spanId };
}

/** Engines write messages as well. */
function withMaskedMessage(this: Logger, args: Parameters<LogFn>, write: LogFn): void {
  const [facts, message, ...rest] = args;
  write.call(this, typeof facts === 'string' ? foreignText(facts) : facts, message && foreignText(message), ...rest);
}

/** In lower case. pino's own `redact` knows no depth and no case, and costs 2 µs per line. */
const secretNames: ReadonlySet<string> = new Set([
  ...['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key'],
  ...['apikey', 'api_key', 'token', 'secret', 'password'],
]);
const censored = '[redacted]';

/** The service's own names, which may look like keys: of API keys and models. */
const ownNames: ReadonlySet<string> = new Set(['id', 'key', 'model', 'added', 'removed', 'changed', 'widened']);

/** Deeper values are left out. */
const deepest = 4;

/** Characters of the facts of a line, which repeat what files, programs and third-party engines say. */
const longestLine = 32_768;

/** What punctuation and a number take of it. */
const leastOfFact = 8;

type Facts = Record<string, unknown>;

/** The rest of a line. */
interface Room {
  left: number;
}

function withoutSecrets(facts: Facts): Facts {
  const room = { left: longestLine };
  for (const name in facts) {
    const value = facts[name];
    if (secretNames.has(name.toLowerCase())) facts[name] = censored;
    else facts[name] = ownNames.has(name) && isText(value) ? bounded(value, room) : readable(value, 1, room);
  }
  return facts;
}

/** A name or a list of names. */
function isText(value: unknown): value is string | readonly string[] {
  return [value].flat().every((item) => typeof item === 'string');
}

function bounded(names: string | readonly string[], room: Room): unknown {
  return typeof names === 'string' ? cut(names, room) : fitting(names, room).map((name) => cut(name, room));
}

/** A copy for the log. Third-party engines log as well: a getter of theirs may throw. */
function readable(value: unknown, depth: number, room: Room): unknown {
  if (typeof value === 'string') return cut(maskKeys(value), room);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > deepest || room.left <= 0) return '[...]';
  try {
    if (value instanceof Error) return describeError(value, room);
    if (Array.isArray(value)) return fitting(value, room).map((item) => readable(item, depth + 1, room));
    if ('toJSON' in value) return readable((value.toJSON as () => unknown).call(value), depth + 1, room);
    return Object.fromEntries(
      fitting(Object.entries(value), room).map(([name, inner]) => [
        cut(maskKeys(name), room),
        secretNames.has(name.toLowerCase()) ? censored : readable(inner, depth + 1, room),
      ]),
    );
  } catch {
    return '[unreadable]';
  }
}

function cut(text: string, room: Room): string {
  const shortened = shorten(text, Math.max(1, room.left));
  room.left -= shortened.length;
  return shortened;
}

/** As many as the line has room for. */
function fitting<T>(items: readonly T[], room: Room): readonly T[] {
  const kept = items.slice(0, Math.max(0, Math.floor(room.left / leastOfFact)));
  room.left -= kept.length * leastOfFact;
  return kept;
}

/** Characters of the messages and of the causes: they repeat what programs and providers said. */
const longestText = 2_048;
const longestStack = 4_096;
const mostCauses = 10;

/** Nothing else of an error: libraries attach whole requests to theirs. */
function describeError(error: Error, room: Room): object {
  const [first = error, ...causes] = chainOf(error);
  const message = messageOf([first, ...causes]);
  const because = causes.map((cause) => `\ncaused by: ${stackOf(cause, first.message)}`).join('');
  const { code } = error as { readonly code?: unknown };
  room.left -= longestText + longestStack; // each has its own bound
  return {
    type: foreignText(first.name),
    message: foreignText(message),
    ...(typeof code === 'number' && { code }),
    ...(typeof code === 'string' && { code: foreignText(code) }),
    stack: foreignText(stackOf(first), longestStack) + foreignText(because),
  };
}

function foreignText(text: unknown, limit = longestText): string {
  return shorten(maskKeys(String(text)), limit);
}

function chainOf(error: Error): Error[] {
  const chain: Error[] = [];
  for (let next: unknown = error; next instanceof Error && chain.length <= mostCauses; next = causeOf(next)) {
    chain.push(next);
  }
  return chain;
}

/** The first of several errors stands for them all: a host has several addresses. */
function causeOf(error: Error): unknown {
  return error.cause ?? (error instanceof AggregateError ? (error.errors as unknown[])[0] : undefined);
}

/** Many an error quotes its cause: what was said is not said again. */
function messageOf([first, ...causes]: readonly Error[]): string {
  return causes.reduce(
    (said, { message }) => (said.includes(message) ? said : `${said}: ${message}`),
    String(first?.message),
  );
}

/** Without the message, where that was `said`. */
function stackOf({ stack, name, message }: Error, said?: string): string {
  if (typeof stack !== 'string') return `${name}: ${message}`;
  return said !== undefined && message !== '' && said.includes(message) ? stack.replace(`: ${message}`, '') : stack;
}
