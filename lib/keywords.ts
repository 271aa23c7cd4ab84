/** For what takes a prompt and no keywords: behind the prompt, since of a long one the end counts. */
export function promptWithKeywords(prompt: string | undefined, keywords: readonly string[]): string {
  return [prompt ?? '', keywords.join(', ')].filter((text) => text !== '').join(' ');
}
