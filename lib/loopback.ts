/** Returns the address in a bracketed IPv6 literal, and any other host unchanged. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

/** True for loopback names and addresses, which external DNS cannot redirect. */
export function isLoopback(name: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\]|::1)\.?$/i.test(name);
}
