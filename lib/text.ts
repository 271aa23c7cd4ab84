/** Truncates a text to `limit` UTF-16 units without splitting a surrogate pair. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

const maxLineLength = 200;

/**
 * Returns the last line of a program's output, for the log. Earlier lines may repeat source code or the program's
 * input. A line with JSON may be a request or a response, and is replaced with a placeholder.
 */
export function lastLine(output: string): string {
  const line =
    output
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1)
      ?.trim() ?? '';
  return /[{[]\s*["{[]/.test(line) ? '[a line with JSON]' : shorten(line, maxLineLength);
}

/** Candidates for keys, found in linear time: a match takes the whole word. */
const keyLike = /\b(?:sk|pk|rk|gsk|hf|xai|key|bearer|token)[-_: ]+[\w*.-]{8,}/gi;

/** Number of characters that are examined; the rest is dropped. */
const examined = 65_536;

/** Replaces what looks like a key and has a digit or an asterisk, including masked keys such as "sk-ab12****wxyz". */
export function maskKeys(text: string): string {
  return text.slice(0, examined).replace(keyLike, (word) => (/[\d*]/.test(word) ? '[key]' : word));
}

/**
 * Adds keywords to a prompt, for models that support only prompts. They come last, because models truncate the
 * beginning of a long prompt.
 */
export function promptWithKeywords(prompt: string | undefined, keywords: readonly string[]): string {
  return [prompt ?? '', keywords.join(', ')].filter((text) => text !== '').join(' ');
}
