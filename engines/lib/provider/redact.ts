import { isObject } from '../../../lib/json.ts';
import { maskKeys, shorten } from '../../../lib/text.ts';
import { isPage, type Refusal } from './failures.ts';

/** Shorter secrets could be part of ordinary words. */
const shortestSecret = 5;

/** Maximum characters of the result and of the examined input. */
const shown = 2_000;
const examined = 2 * shown;

/** Fields of errors. Other fields may repeat the request or the model's output. */
const errorFields: ReadonlySet<string> = new Set([
  ...['error', 'errors', 'message', 'msg', 'detail', 'details', 'reason', 'title'],
  ...['code', 'type', 'status', 'param', 'loc', 'error_description'],
]);

/** Longer texts are not parsed. */
const maxErrorLength = 65_536;

/** Returns the fields of errors, as JSON; undefined if the text is too long or not JSON. */
function errorFieldsOf(text: string): string | undefined {
  if (text.length > maxErrorLength) return undefined;
  try {
    return JSON.stringify(onlyErrors(JSON.parse(text)));
  } catch {
    return undefined;
  }
}

function onlyErrors(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(onlyErrors);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => errorFields.has(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, onlyErrors(inner)]));
}

/**
 * Returns the part of an error response that is logged. Plain text is an error message; truncated JSON may be anything.
 */
export function complaintOf(text: string): string {
  return errorFieldsOf(text) ?? (/^\s*[[{]/.test(text) ? outlineOf(text) : text);
}

/** Returns the part of a malformed result that is logged: never its text, which may be personal. */
export function outlineOf(text: string): string {
  return errorFieldsOf(text) ?? `${isPage(text) ? 'HTML' : 'no JSON'}, ${text.length} characters`;
}

/** Maximum characters of a reason in a sentence. */
const maxReasonLength = 300;

/** Words with letters and digits that are long enough to be a key. */
const tokenLike = /(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])[\w+/=-]{20,}/gi;

/**
 * Returns a sentence with the provider's own reason, on one line; undefined if the response has none. `url`: the URL of
 * the request, which the provider may repeat.
 */
export function quoteProvider(
  { message, complaint }: Pick<Refusal, 'message' | 'complaint'>,
  redact: Redactor,
  url = '',
): string | undefined {
  if (isPage(message)) return 'The provider answered with an HTML page.';
  if (/^\s*</.test(message)) return undefined;
  const text = /^\s*[[{]/.test(message) ? errorFieldsOf(complaint) : message;
  if (text === undefined) return undefined;
  const line = redact(text)
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .replace(tokenLike, (word) => (isPartOf(url, word) ? word : '[key]'))
    .trim();
  return /^([[{][\]}])?$/.test(line) ? undefined : `The provider said: "${shorten(line, maxReasonLength)}".`;
}

/** A part of a URL that looks like a key is treated as a key. */
function isPartOf(url: string, word: string): boolean {
  return url.includes(word) && word.split('/').every((part) => part.search(tokenLike) < 0);
}

export type Redactor = (text: string) => string;

/**
 * Returns a function that prepares a provider's text for the log: it removes keys and truncates the text to `shown`
 * characters.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  // In "Bearer abc", only abc is secret: a provider may repeat it with another prefix.
  const known = secrets
    .flatMap((secret) => [secret, secret.replace(/^\w+ +/, '')])
    .filter((secret) => secret.length >= shortestSecret);
  const longest = known.reduce((most, { length }) => Math.max(most, length), 0);
  return (text) => {
    const head = text.slice(0, examined);
    const clean = maskKeys(known.reduce((part, secret) => part.replaceAll(secret, '[key]'), head));
    // The truncated input may end in the middle of a secret.
    const end = head.length < text.length ? clean.length - longest : clean.length;
    return clean.slice(0, Math.max(0, Math.min(shown, end)));
  };
}
