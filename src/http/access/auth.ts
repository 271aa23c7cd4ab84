/** Authentication by bearer token; in open mode, checks of Host and Origin instead. */
import { isIP } from 'node:net';
import { isLoopback, withoutBrackets } from '../../../lib/loopback.ts';
import { ProblemError } from '../../contract/problems.ts';
import type { Key } from '../../request-scope.ts';
import type { ClientSecrets, SessionAccess } from '../../keys/client-secrets.ts';
import type { Credential, KeyRing } from '../../keys/key-ring.ts';
import type { FailedLogins } from './failed-logins.ts';

export interface AccessOptions {
  /** Undefined in open mode. */
  readonly keys: Pick<KeyRing, 'find' | 'keyOf'> | undefined;
  readonly clientSecrets: Pick<ClientSecrets, 'find'>;
  readonly failedLogins: FailedLogins;
  readonly allowOpen: boolean;
  readonly corsOrigins: readonly string[];
  readonly publicUrl?: string | undefined;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface Access {
  /**
   * Returns the API key and the digest of its token; undefined in open mode. Throws `unauthorized` for a missing, unknown
   * or expired key, and `rate-limited` after too many unknown keys from one address.
   */
  authorize(headers: Headers, address: string): Credential | undefined;
  /** Like `authorize`, but also accepts client secrets. In open mode, a client secret only determines its session. */
  authorizeSession(headers: Headers, address: string): Promise<SessionAccess>;
  /** Returns the current key of a token; undefined if the token has been removed or has expired. */
  keyOf(tokenDigest: string): Key | undefined;
  /** In open mode, throws for a Host or Origin that is not allowed. */
  checkSource(headers: Headers): void;
  /** Returns the CORS headers for this origin; at most `Vary` unless it is listed. */
  corsHeaders(origin: string | undefined): Record<string, string>;
  /**
   * Returns the additional headers for a preflight (`asked`: Access-Control-Request-Headers). Throws for an unlisted
   * origin.
   */
  preflightHeaders(origin: string | undefined, asked: string | undefined): Record<string, string>;
}

export function createAccess(options: AccessOptions): Access {
  const { keys, clientSecrets, failedLogins, allowOpen, corsOrigins, publicUrl } = options;
  const ours = publicUrl === undefined ? undefined : new URL(publicUrl);
  const isOpen = keys === undefined;
  const isListed = (origin: string) => {
    if (isOpaque(origin)) return !isOpen && corsOrigins.includes(origin);
    return corsOrigins.includes('*') || corsOrigins.includes(origin);
  };

  function admitHost(host: string): void {
    const name = host.replace(/:\d+$/, '').toLowerCase();
    const known = name === ours?.hostname || isLoopback(name) || (allowOpen && isIP(withoutBrackets(name)) !== 0);
    if (known) return;
    const remedy = `set API_KEYS, and HOST for requests from containers or other machines, or start it with ALLOW_OPEN=true PUBLIC_URL=http://${host}`;
    const detail = `Without API keys only loopback host names and the host of PUBLIC_URL are allowed; got "${host}": ${remedy}.`;
    throw new ProblemError('host-not-allowed', detail);
  }

  function admitOrigin(origin: string, host: string): void {
    if (isListed(origin) || origin === ours?.origin) return;
    if (origin === `http://${host}` || origin === `https://${host}`) return;
    throw originNotAllowed(origin);
  }

  function authorize(headers: Headers, address: string): Credential | undefined {
    if (isOpen) return undefined;
    const token = tokenOf(headers);
    if (token === undefined) throw unauthorized('Send an API key as "Authorization: Bearer <key>".');
    const found = keys.find(token);
    if (found?.isExpired === false) return found;
    // An expired token was not guessed, so its owner may see why it fails.
    if (found) throw unauthorized('The API key has expired.', invalidToken);
    failedLogins.count(address);
    throw unauthorized('Unknown API key.', invalidToken);
  }

  return {
    authorize,
    async authorizeSession(headers, address) {
      const secret = await clientSecrets.find(tokenOf(headers) ?? '');
      return secret ?? { credential: authorize(headers, address) };
    },
    keyOf: (tokenDigest) => keys?.keyOf(tokenDigest),
    checkSource({ host = '', origin }) {
      if (!isOpen) return;
      admitHost(String(host));
      if (origin !== undefined) admitOrigin(String(origin), String(host));
    },
    corsHeaders(origin) {
      // Vary keeps caches from serving the response for one origin to another.
      const varies: Record<string, string> = corsOrigins.length > 0 ? { Vary: 'Origin' } : {};
      if (origin === undefined || !isListed(origin)) return varies;
      return {
        ...varies,
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': exposedHeaders,
      };
    },
    preflightHeaders(origin, asked = '') {
      if (origin === undefined || !isListed(origin)) throw originNotAllowed(String(origin));
      return {
        'Access-Control-Allow-Methods': 'GET, HEAD, POST, DELETE',
        // SDKs send their own headers, such as X-Stainless-Lang. `*` is not used because it does not cover
        // Authorization.
        'Access-Control-Allow-Headers': isHeaderList(asked) ? `${usedHeaders}, ${asked}` : usedHeaders,
        'Access-Control-Max-Age': '7200',
      };
    },
  };
}

function tokenOf({ authorization }: Headers): string | undefined {
  return /^bearer +(\S+) *$/i.exec(String(authorization ?? ''))?.[1];
}

/**
 * Development proxies such as Vite's forward the origin of the page. Same-origin GET requests have no Origin header, so
 * only POST requests fail.
 */
function originNotAllowed(origin: string): ProblemError {
  const remedy = isOpaque(origin)
    ? `set API_KEYS and list ${origin} by name in CORS_ORIGINS; any local file and any sandboxed page has this origin`
    : /^https?:/.test(origin)
      ? `start it with CORS_ORIGINS=${origin} (comma-separated with others), also when a development proxy such as Vite's is between`
      : 'list its origin in CORS_ORIGINS';
  return new ProblemError('origin-not-allowed', `Pages of ${origin} may not use this service: ${remedy}.`);
}

/**
 * Whether any page can have this origin, such as `null` for files and sandboxed frames. Packaged apps also use these
 * origins.
 */
function isOpaque(origin: string): boolean {
  return origin === 'null' || origin === 'file://';
}

const exposedHeaders = [
  ...['Link', 'X-Request-Id', 'Retry-After', 'Accept-Ranges', 'Content-Range', 'ETag'],
  ...['RateLimit', 'RateLimit-Policy', 'X-Should-Retry'],
  ...['X-Parlance-Model', 'X-Parlance-Ignored', 'X-Parlance-Synthetic'],
].join(', ');

const usedHeaders = 'Authorization, Content-Type, Range, If-Range, Prefer, traceparent, tracestate';

const maxHeaderListLength = 2048;

function isHeaderList(text: string): boolean {
  return text.length <= maxHeaderListLength && /^[\w!#$%&'*+.^`|~-]+(?: *, *[\w!#$%&'*+.^`|~-]+)*$/.test(text);
}

/** Parameter of the WWW-Authenticate challenge for a rejected token (RFC 6750). */
const invalidToken = ', error="invalid_token"';

function unauthorized(detail: string, error = ''): ProblemError {
  return new ProblemError('unauthorized', detail, {
    headers: { 'WWW-Authenticate': `Bearer realm="parlance"${error}` },
  });
}
