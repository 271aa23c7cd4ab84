/** True for names and addresses that stay on this machine, and that no stranger's DNS can claim. */
export function isLoopback(name: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\]|::1)\.?$/i.test(name);
}
