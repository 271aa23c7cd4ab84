/** The API key, kept in this tab, or on this device if the user chooses to. Never in a URL. */
import { signal } from '@preact/signals';
import { isKeyRefused } from './failure.ts';

const name = 'parlance-key';

export const key = signal(read());
export const isKeyAsked = signal(false);

function read(): string | undefined {
  return attempt(() => sessionStorage.getItem(name) ?? localStorage.getItem(name)) ?? undefined;
}

export function keepKey(value: string, remember: boolean): void {
  attempt(() => {
    sessionStorage.removeItem(name);
    localStorage.removeItem(name);
    (remember ? localStorage : sessionStorage).setItem(name, value);
  });
  key.value = value;
  isKeyAsked.value = false;
}

/** Asks for a key if the service has refused the current one. Returns whether it was refused. */
export function askIfRefused(error: unknown): boolean {
  const isRefused = isKeyRefused(error);
  if (isRefused) isKeyAsked.value = true;
  return isRefused;
}

export function forgetKey(): void {
  attempt(() => {
    sessionStorage.removeItem(name);
    localStorage.removeItem(name);
  });
  key.value = undefined;
}

/** A browser that blocks storage throws at every access: the key then lasts as long as the page. */
export function attempt<T>(access: () => T): T | undefined {
  try {
    return access();
  } catch {
    return undefined;
  }
}
