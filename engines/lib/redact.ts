/** What looks like a key, also where a provider has masked its middle: "sk-ab12****wxyz". */
const keyLike = /\b(?:sk|pk|rk|gsk|hf|xai|key|bearer|token)[-_: ]+(?=[\w*.-]*[\d*])[\w*.-]{8,}/gi;

/** Shorter ones would turn up in ordinary words. */
const shortestSecret = 5;

/** Makes a provider's text fit for the log: without keys, and not longer than a screen. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  // Of "Bearer abc" what is secret is abc, whatever a provider puts before it.
  const known = secrets
    .flatMap((secret) => [secret, secret.replace(/^\w+ +/, '')])
    .filter((secret) => secret.length >= shortestSecret);
  return (text) =>
    known
      .reduce((clean, secret) => clean.replaceAll(secret, '[key]'), text)
      .replace(keyLike, '[key]')
      .slice(0, 2000);
}
