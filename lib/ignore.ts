/** A listener or handler that does nothing. Its use says why: mostly because the failure is reported elsewhere. */
export function ignore(): void {}
