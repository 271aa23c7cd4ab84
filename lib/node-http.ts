/**
 * Provides node:http without the modules that an `import` would also load: the fetch of Node.js, for http.WebSocket (15
 * ms of each startup).
 */
import type { Server as SecureServer, ServerOptions as SecureServerOptions } from 'node:https';

export const { createServer, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http');

/** Loads node:https on the first call. */
export function createSecureServer(options: SecureServerOptions): SecureServer {
  return process.getBuiltinModule('node:https').createServer(options);
}
