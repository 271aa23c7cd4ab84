/**
 * The service's log: pino, with the ids of the current request in every line. Callers must not log secrets or texts; in
 * case one does, values with the names of secrets are removed here, and what errors say is cut.
 */
import { pino, type DestinationStream, type Logger } from 'pino';
import { shorten } from '../lib/truncate.ts';
import { currentScope } from './caller.ts';

/** Writes to stdout by default. */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const serializers = { err: (err: unknown) => err }; // already described
  const options = { level, mixin: requestFacts, formatters: { log: withoutSecrets }, serializers };
  return destination ? pino(options, destination) : pino(options);
}

/** A new object each time: pino adds the facts of the line to it. */
function requestFacts(): object {
  const { id, trace } = currentScope() ?? {};
  if (trace === undefined) return {};
  return { id, trace_id: trace.traceId, span_id: trace.spanId };
}

/** In lower case. pino's own `redact` knows no depth and no case, and costs 2 µs per line. */
const secretNames: ReadonlySet<string> = new Set([
  ...['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key'],
  ...['apikey', 'api_key', 'token', 'secret', 'password'],
]);
const censored = '[redacted]';

/** Deeper values are left out. */
const deepest = 4;

/** Lines repeat what files, programs and third-party engines say: none of it may fill the disk. */
const longestFact = 4_096;
const longestName = 200;
const mostItems = 200;

type Facts = Record<string, unknown>;

function withoutSecrets(facts: Facts): Facts {
  for (const name in facts) {
    const value = facts[name];
    if (secretNames.has(name.toLowerCase())) facts[name] = censored;
    else facts[name] = readable(value, 1);
  }
  return facts;
}

/** A copy for the log. Third-party engines log as well: a getter of theirs may throw. */
function readable(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shorten(value, longestFact);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > deepest) return '[...]';
  try {
    if (value instanceof Error) return describeError(value);
    if (Array.isArray(value)) return value.slice(0, mostItems).map((item) => readable(item, depth + 1));
    if ('toJSON' in value) return value;
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, mostItems)
        .map(([name, inner]) => [
          shorten(name, longestName),
          secretNames.has(name.toLowerCase()) ? censored : readable(inner, depth + 1),
        ]),
    );
  } catch {
    return '[unreadable]';
  }
}

/** Characters of the messages and of the causes: they repeat what programs and providers said. */
const longestText = 2_048;
const longestStack = 4_096;
const mostCauses = 10;

/** Nothing else of an error: libraries attach whole requests to theirs. */
function describeError(error: Error): object {
  const [first = error, ...causes] = chainOf(error);
  const because = causes.map((cause) => `\ncaused by: ${stackOf(cause)}`).join('');
  const { code } = error as { readonly code?: unknown };
  return {
    type: first.name,
    message: shorten([first, ...causes].map(({ message }) => message).join(': '), longestText),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    stack: shorten(stackOf(first), longestStack) + shorten(because, longestText),
  };
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

function stackOf({ stack, name, message }: Error): string {
  return typeof stack === 'string' ? stack : `${name}: ${message}`;
}
