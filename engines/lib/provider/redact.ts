/** What looks like a key, also where a provider has masked its middle: "sk-ab12****wxyz". */
const keyLike = /\b(?:sk|pk|rk|gsk|hf|xai|key|bearer|token)[-_: ]+(?=[\w*.-]*[\d*])[\w*.-]{8,}/gi;

/** Shorter ones would turn up in ordinary words. */
const shortestSecret = 5;

/** Characters that are shown, and that are examined: on `sk-sk-sk-...` the pattern takes quadratic time. */
const shown = 2_000;
const examined = 2 * shown;

/** Makes a provider's text fit for the log: without keys, and not longer than a screen. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  // Of "Bearer abc" what is secret is abc, whatever a provider puts before it.
  const known = secrets
    .flatMap((secret) => [secret, secret.replace(/^\w+ +/, '')])
    .filter((secret) => secret.length >= shortestSecret);
  const longest = known.reduce((most, { length }) => Math.max(most, length), 0);
  return (text) => {
    const head = text.slice(0, examined);
    const clean = known.reduce((part, secret) => part.replaceAll(secret, '[key]'), head).replace(keyLike, '[key]');
    // Where the text was cut, half a secret may be left.
    const end = head.length < text.length ? clean.length - longest : clean.length;
    return clean.slice(0, Math.max(0, Math.min(shown, end)));
  };
}
