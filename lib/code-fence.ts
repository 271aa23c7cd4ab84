/** Recognizes Markdown code fences, including those in block quotes and lists. Pure; runs in linear time. */

export interface Fence {
  readonly mark: string;
  readonly length: number;
}

/** An unclosed fence lasts to the end of the text: apps send texts in pieces, and answers may be cut within code. */
export function fenceOf(line: string): Fence | undefined {
  const [, run] = /^\s*(?:(?:>|(?:[-*+]|\d{1,3}[.)])(?=\s))\s*)*(`{3,}(?=[^`]*$)|~{3,})/.exec(line) ?? [];
  return run === undefined ? undefined : { mark: run.charAt(0), length: run.length };
}

export function closes({ mark, length }: Fence, line: string): boolean {
  const [, run] = /^[\s>]*(`+|~+)\s*$/.exec(line) ?? [];
  return run !== undefined && run.startsWith(mark) && run.length >= length;
}
