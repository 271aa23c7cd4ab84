/** Copies text to the clipboard. Over plain http there is no clipboard API; the old command also works there. */
import { announce } from './announcements.ts';

export async function copy(text: string): Promise<boolean> {
  const isCopied = (await copyByApi(text)) || copyByCommand(text);
  announce(isCopied ? 'Copied.' : 'The browser did not allow copying.');
  return isCopied;
}

async function copyByApi(text: string): Promise<boolean> {
  if (!('clipboard' in navigator)) return false;
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false, // refused
  );
}

function copyByCommand(text: string): boolean {
  const before = document.activeElement;
  const place = document.createElement('textarea');
  place.value = text;
  place.className = 'unseen';
  (document.querySelector('dialog[open]') ?? document.body).append(place);
  place.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way in an insecure context
  const isCopied = document.execCommand('copy');
  place.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
