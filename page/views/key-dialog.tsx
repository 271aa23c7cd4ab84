/** Asks for the API key. */
import { isKeyAsked, keepKey, key } from '../key.ts';
import { refreshListings } from '../listings.ts';
import { Dialog } from './dialog.tsx';

export function KeyDialog() {
  const wasRefused = key.value !== undefined;
  return (
    <Dialog id="key" title="API key required" isOpen={isKeyAsked.value} close={() => (isKeyAsked.value = false)}>
      <form onSubmit={submit}>
        {wasRefused ? (
          <p role="alert">This key was rejected. Check it and try again.</p>
        ) : (
          <p>Ask the operator for a key. It is sent only to this service.</p>
        )}
        <label for="key-value">API key</label>
        {/* The characters that a header can contain. */}
        <input id="key-value" name="key" type="password" required pattern="[!-~]+" autocomplete="off" autofocus />
        <label class="check">
          <input name="remember" type="checkbox" />
          <span>Remember on this device</span>
        </label>
        <div class="actions end">
          <button type="button" class="quiet" onClick={() => (isKeyAsked.value = false)}>
            Not now
          </button>
          <button type="submit" class="filled">
            Use this key
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function submit(event: SubmitEvent): void {
  event.preventDefault();
  if (!(event.currentTarget instanceof HTMLFormElement)) return;
  const fields = new FormData(event.currentTarget);
  const value = fields.get('key');
  if (typeof value !== 'string') return;
  keepKey(value, fields.has('remember'));
  void refreshListings(); // even if it is the same key again
}
