/** Validates the option `baseUrl` when the client is created. */

const example = 'such as http://127.0.0.1:8484';

/**
 * The URL of the service, without `/api/v1` and with a trailing slash. On a web page, a path is relative to its origin.
 */
export function rootOf(baseUrl: string | URL | undefined): string {
  const { location } = globalThis as { location?: { readonly origin: string } };
  if (baseUrl === undefined && location === undefined) {
    throw new TypeError(`baseUrl is required outside of a web page, ${example}.`);
  }
  const text = String(baseUrl ?? '/');
  const url = parse(text, location?.origin);
  if (!url || !/^https?:$/.test(url.protocol) || url.username + url.password + url.search + url.hash !== '') {
    throw new TypeError(
      `baseUrl must be an http or https URL without user, query and fragment, ${example}; it is ${JSON.stringify(text)}.`,
    );
  }
  return url.href.replace(/\/*$/, '').replace(/\/api\/v1$/, '') + '/';
}

function parse(text: string, origin: string | undefined): URL | undefined {
  try {
    // A path starts with `.` or `/`; otherwise `127.0.0.1:8484` would be a path.
    return new URL(text, /^[./]/.test(text) ? origin : undefined);
  } catch {
    return undefined;
  }
}
