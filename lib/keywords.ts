/**
 * Adds keywords to a prompt, for models that support prompts only. They come last, because models truncate the
 * beginning of a long prompt.
 */
export function promptWithKeywords(prompt: string | undefined, keywords: readonly string[]): string {
  return [prompt ?? '', keywords.join(', ')].filter((text) => text !== '').join(' ');
}
