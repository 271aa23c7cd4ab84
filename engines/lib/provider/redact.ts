/** Matches what looks like a key, including masked keys such as "sk-ab12****wxyz". */
const keyLike = /\b(?:sk|pk|rk|gsk|hf|xai|key|bearer|token)[-_: ]+(?=[\w*.-]*[\d*])[\w*.-]{8,}/gi;

/** Shorter secrets could be part of ordinary words. */
const shortestSecret = 5;

/** Maximum characters of the result and of the examined input: on `sk-sk-sk-...` the pattern takes quadratic time. */
const shown = 2_000;
const examined = 2 * shown;

/** Prepares a provider's text for the log: removes keys and truncates it to `shown` characters. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  // In "Bearer abc" only abc is secret: a provider may repeat it with another prefix.
  const known = secrets
    .flatMap((secret) => [secret, secret.replace(/^\w+ +/, '')])
    .filter((secret) => secret.length >= shortestSecret);
  const longest = known.reduce((most, { length }) => Math.max(most, length), 0);
  return (text) => {
    const head = text.slice(0, examined);
    const clean = known.reduce((part, secret) => part.replaceAll(secret, '[key]'), head).replace(keyLike, '[key]');
    // The truncated input may end in the middle of a secret.
    const end = head.length < text.length ? clean.length - longest : clean.length;
    return clean.slice(0, Math.max(0, Math.min(shown, end)));
  };
}
