/** Explains why no response arrived from a provider, from the error codes of Node.js and undici. */
import { EngineError } from '../../contract/index.ts';
import { messageOf } from '../../../lib/errors.ts';
import { schemeError } from './failures.ts';

/** Error codes for a malformed HTTP response, headers that exceed the limit, and lengths that contradict each other. */
const unreadable = /^(HPE_|HTTPParserError$|UND_ERR_HEADERS_OVERFLOW$|UND_ERR_RES|ERR_TOO_MANY_INFORMATIONAL$)/;

/** Messages of undici for a 100 or a 101 that was not requested. These errors have the code of a broken connection. */
const unexpected = /^bad (response|upgrade)$/;

function isUnreadable(error: unknown): boolean {
  const code = failureCodeOf(error);
  return unreadable.test(code) || (code === 'UND_ERR_SOCKET' && unexpected.test(messageOf(error)));
}

/** Error codes of OpenSSL for an answer that is not TLS. */
const withoutTls = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

const untrusted = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_)/;

/** Maps an error that occurred before the response. An `EngineError` from the request body passes through. */
export function connectionError(error: unknown, url: string): EngineError {
  if (EngineError.is(error)) return error;
  const code = failureCodeOf(error);
  if (code.startsWith('UND_ERR_REQ_')) {
    return new EngineError('engine-failed', 'The request could not be sent to the provider.', { cause: error });
  }
  if (isUnreadable(error)) {
    const forOperator = `${addressOf(url)} does not speak HTTP as it should (${code}): check the base URL.`;
    return new EngineError('provider-bad-response', 'The provider sent an invalid HTTP response.', {
      ...{ cause: error, forOperator },
    });
  }
  if (withoutTls.has(code)) return schemeError('http', url, error);
  const what = isUntrusted(code) ? 'The certificate of the provider is not accepted.' : 'The provider is unreachable.';
  return new EngineError('provider-unreachable', what, { cause: error, forOperator: explain(error, url) });
}

const isUntrusted = (code: string) => untrusted.test(code) || code === 'ERR_TLS_CERT_ALTNAME_INVALID';

function explain(error: unknown, url: string): string {
  const code = failureCodeOf(error);
  const { hostname, port } = (error ?? {}) as { readonly hostname?: string; readonly port?: number };
  const address = addressOf(url);
  // With a proxy, the address that failed is the proxy's, not the provider's.
  const isOfProxy = port !== undefined && !address.endsWith(`:${port}`);
  const where = isOfProxy ? `the proxy at port ${port}` : address;
  switch (code) {
    case 'ECONNREFUSED':
      return `Nothing listens at ${where}: ${code}. Start the server there, or change the base URL.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The name ${hostname ?? where} cannot be resolved: ${code}. Check the base URL and the network.`;
    case 'CERT_HAS_EXPIRED':
      return `That of ${where} has expired.`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `That of ${where} is for another name, which the base URL must have.`;
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return `${where} closes the connection: ${code}. ${url.startsWith('http:') ? 'If it speaks TLS, the base URL must begin with https://.' : 'Check the base URL.'}`;
    default:
      return isUntrusted(code)
        ? `${where} has one of an unknown authority: ${code}. If you trust it, set NODE_EXTRA_CA_CERTS to the authority's file.`
        : `${where} cannot be reached: ${code}. Check the base URL and the network.`;
  }
}

/** Host and port. The path and the query of a base URL may be secret. */
export function addressOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

/** Connection failures that are worth a retry. */
const transientCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'],
  ...['UND_ERR_SOCKET', 'UND_ERR_PRX_CONN'],
]);

/**
 * True for a failure to connect and for a connection that broke before the response headers; false for an unknown host or
 * an invalid certificate, which a retry does not fix.
 */
export function isTransient(error: EngineError): boolean {
  return error.code === 'provider-unreachable' && transientCodes.has(failureCodeOf(error.cause));
}

/** True if the server accepted the connection and closed it before its response. */
export function isClosedEarly(error: EngineError): boolean {
  return isTransient(error) && ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(failureCodeOf(error.cause));
}

function failureCodeOf(error: unknown): string {
  // Errors of undici's parser do not always have a code.
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return String(code ?? name);
}
