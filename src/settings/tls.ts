/** Reads the certificate and the private key of TLS_CERT and TLS_KEY. */
import { messageOf } from '../../lib/errors.ts';
import type { Settings } from './table.ts';
import { readOperatorFile } from './read-file.ts';
import { SettingsError } from './yaml.ts';

export interface Tls {
  /** The certificate with its chain, in PEM. */
  readonly cert: string;
  /** The private key, in PEM. */
  readonly key: string;
}

/** Resolves with undefined if neither is set. Throws a `SettingsError` for files that cannot serve together. */
export async function readTls({ tlsCert, tlsKey }: Pick<Settings, 'tlsCert' | 'tlsKey'>): Promise<Tls | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsKey === undefined) throw new SettingsError('TLS_KEY: not set; set it to the private key of TLS_CERT');
  if (tlsCert === undefined) throw new SettingsError('TLS_CERT: not set; set it to the certificate of TLS_KEY');
  const [cert, key] = [await read('TLS_CERT', tlsCert), await read('TLS_KEY', tlsKey)];
  const { createSecureContext } = await import('node:tls'); // loaded here, because most services have no TLS
  try {
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    const rule = `${tlsCert} must be a certificate and ${tlsKey} its private key, both in PEM, without a passphrase`;
    throw new SettingsError(`TLS_CERT, TLS_KEY: ${rule}: ${messageOf(error)}`, { cause: error });
  }
}

async function read(setting: string, path: string): Promise<string> {
  try {
    return (await readOperatorFile(path)).text;
  } catch (error) {
    throw new SettingsError(`${setting}: ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
