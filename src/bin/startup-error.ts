import { RegistryError } from '../engine-host/registry/registry-error.ts';
import { SettingsError } from '../settings/load.ts';
import { messageOf } from '../../lib/errors.ts';

/**
 * Prints errors of the settings, of loading engines and of listening without a stack; rethrows any other error, which
 * is a bug.
 */
export function explainStartFailure(error: unknown): void {
  const isListen = ['listen', 'getaddrinfo'].includes((error as NodeJS.ErrnoException).syscall ?? '');
  const isMistake = error instanceof SettingsError || error instanceof RegistryError || isListen;
  if (!isMistake) throw error;
  const message = isListen ? describeListen(error as ListenError) : messageOf(error);
  process.stderr.write(`Parlance cannot start.\n${message.replace(/^/gm, '  ')}\n`);
  process.exitCode = 1;
}

interface ListenError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
  /** Set by `getaddrinfo`. */
  readonly hostname?: string;
}

function describeListen({ code, message, address, port, hostname }: ListenError): string {
  const at = `${String(address)}:${String(port)}`;
  switch (code) {
    case 'EADDRINUSE':
      return `PORT: another process listens on ${at} (EADDRINUSE); stop it, or set PORT (--port) to a different port, or to 0 for any free port`;
    case 'EACCES':
      return `PORT: this user may not listen on ${at} (EACCES); set PORT to 1024 or above`;
    case 'EADDRNOTAVAIL':
      return `HOST: this machine has no address ${String(address)} (EADDRNOTAVAIL); set HOST to an address of this machine, such as 127.0.0.1`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST: the name ${String(hostname)} has no address (${code}); set HOST to an address of this machine, such as 127.0.0.1`;
    default:
      return `HOST and PORT: ${message}`;
  }
}
