/** Serves the requests that another front of the fleet has received, admitted and forwarded to this one. */
import { keyHeader } from '../contract/forwarding.ts';
import { ProblemError } from '../contract/problems.ts';
import type { Access } from './access/auth.ts';
import { createApp, type AppOptions, type RequestListener } from './app.ts';
import type { Api } from './incoming-request.ts';

/**
 * The other front has checked the API key's token, permissions and limits, and has signed its name. The token therefore
 * stays with the other front, and a temporarily different keys file on this front cannot lead to a different decision.
 */
export const forwardedAccess: Access = {
  authorize({ [keyHeader]: name }) {
    if (name === undefined) return undefined;
    const may = () => true;
    const key = { name: String(name), weight: 1, limits: {}, mayCall: may, mayUseModel: may, mayUseTool: may };
    return { key, tokenDigest: '' };
  },
  authorizeSession: () => Promise.reject(new ProblemError('not-found', 'A session stays at its front.')),
  keyOf: () => undefined,
  checkSource: () => undefined,
  corsHeaders: () => ({}),
  preflightHeaders: () => ({}),
};

/** The other front also logs and counts the requests. The router of `api` must use `forwardedAccess`. */
export function createForwardedListener(options: AppOptions, api: Api): RequestListener {
  const own = { apiFor: () => api, access: forwardedAccess, areForwarded: true, servesThisMachineOnly: false };
  return createApp({ ...options, ...own, page: new Map(), interimMs: undefined, metrics: undefined }).listener;
}
