/** Reads facts from a thrown value, which may be of any type. */

/** Returns the code of an error, such as ENOENT; undefined if it has none. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A listener or handler that does nothing. Used mostly where the failure is reported elsewhere. */
export function ignore(): void {}
