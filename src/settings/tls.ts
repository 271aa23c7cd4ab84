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
  /** The names in the certificate, and the end of its validity, for the operator. */
  readonly names: string;
  readonly validTo: Date;
}

/** Resolves with undefined if neither is set. Throws a `SettingsError` for files that cannot serve together. */
export async function readTls({ tlsCert, tlsKey }: Pick<Settings, 'tlsCert' | 'tlsKey'>): Promise<Tls | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsKey === undefined) throw new SettingsError('TLS_KEY: not set; set it to the private key of TLS_CERT');
  if (tlsCert === undefined) throw new SettingsError('TLS_CERT: not set; set it to the certificate of TLS_KEY');
  const cert = await read('TLS_CERT', tlsCert);
  const key = await read('TLS_KEY', tlsKey);
  // Loaded here, because most services have no TLS.
  const { createPrivateKey, X509Certificate } = await import('node:crypto');
  const { createSecureContext } = await import('node:tls');
  const parsed = check('TLS_CERT', tlsCert, 'is not a certificate in PEM', () => new X509Certificate(cert));
  const privateKey = check('TLS_KEY', tlsKey, 'is not a private key in PEM without a passphrase', () =>
    createPrivateKey(key),
  );
  if (!parsed.checkPrivateKey(privateKey)) {
    throw new SettingsError(
      `TLS_KEY: ${tlsKey} is not the private key of the certificate in ${tlsCert}; its first certificate must be that of the service`,
    );
  }
  check('TLS_CERT', tlsCert, 'cannot be used', () => createSecureContext({ cert, key }));
  return { cert, key, names: parsed.subjectAltName ?? parsed.subject, validTo: new Date(parsed.validTo) };
}

async function read(setting: string, path: string): Promise<string> {
  try {
    return (await readOperatorFile(path)).text;
  } catch (error) {
    throw new SettingsError(`${setting}: ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function check<T>(setting: string, path: string, problem: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw new SettingsError(`${setting}: ${path} ${problem}: ${messageOf(error)}`, { cause: error });
  }
}
