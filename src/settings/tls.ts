/** Reads the certificate and the private key of TLS_CERT and TLS_KEY. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { messageOf } from '../../lib/errors.ts';
import { certificatesIn, privateKeyIn } from './pem.ts';
import { readSettled } from './settled-files.ts';
import type { Settings } from './table.ts';
import { SettingsError } from './yaml.ts';

export interface Tls {
  /** The certificate with its chain, in PEM. */
  readonly cert: string;
  /** The private key, in PEM. */
  readonly key: string;
  /** The certificate, followed by the rest of its chain. */
  readonly chain: readonly X509Certificate[];
}

/**
 * Resolves with undefined if neither is set. Throws a `SettingsError` for files with which no handshake would succeed.
 * `wait` delays each further read of the files.
 */
export async function readTls(
  { tlsCert, tlsKey }: Pick<Settings, 'tlsCert' | 'tlsKey'>,
  wait?: () => Promise<void>,
): Promise<Tls | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsKey === undefined) throw new SettingsError('TLS_KEY: not set; set it to the private key of TLS_CERT');
  if (tlsCert === undefined) throw new SettingsError('TLS_CERT: not set; set it to the certificate of TLS_KEY');
  const files = [
    { setting: 'TLS_CERT', path: tlsCert },
    { setting: 'TLS_KEY', path: tlsKey },
  ];
  const [certText = '', keyText = ''] = await readSettled(files, wait);
  const chain = explained(`TLS_CERT: ${tlsCert}`, () => readChain(tlsCert, certText));
  const key = explained(`TLS_KEY: ${tlsKey}`, () => readKey(tlsKey, keyText, chain[0]));
  const cert = chain.join('');
  const { createSecureContext } = await import('node:tls'); // loaded lazily, because most services do not use TLS
  explained(`TLS_CERT: ${tlsCert}`, () => orDamaged(() => createSecureContext({ cert, key })));
  return { cert, key, chain };
}

/**
 * An expired intermediate certificate is accepted, because many clients need no intermediate certificate or find
 * another chain.
 */
function readChain(path: string, text: string): readonly X509Certificate[] {
  const chain = certificatesIn(path, text).map((block) => orDamaged(() => new X509Certificate(block)));
  const [{ validFromDate: from, validToDate: to } = {}] = chain;
  const now = new Date();
  if (to && to <= now) throw new Error(`expired on ${dayOf(to)}; fix: renew the certificate`);
  if (from && from > now) throw new Error(`is not valid before ${dayOf(from)}; fix: check the clock of this machine`);
  return chain;
}

function readKey(path: string, text: string, certificate: X509Certificate | undefined): string {
  const key = privateKeyIn(path, text);
  const isItsKey = orDamaged(() => certificate?.checkPrivateKey(createPrivateKey(key)));
  if (isItsKey) return key;
  throw new Error('is not the private key of the first certificate in TLS_CERT; fix: copy both from one renewal');
}

function orDamaged<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`cannot be used: ${messageOf(cause)}; fix: renew the certificate`, { cause });
  }
}

/** Prefixes the error messages of `read` with the file. */
function explained<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new SettingsError(`${file} ${messageOf(cause)}`, { cause });
  }
}

const noticeMs = 14 * 86_400_000;

export interface EndingCertificate {
  /** The subject of the certificate or, if it has none, its alternative names. */
  readonly subject: string;
  /** The day on which the certificate expires, such as 2027-03-01. */
  readonly ends: string;
}

/** Returns the certificates of the chain that have expired or expire within 14 days. */
export function endingCertificates({ chain }: Tls, now = Date.now()): EndingCertificate[] {
  return chain
    .filter(({ validToDate }) => validToDate.getTime() - now < noticeMs)
    .map((certificate) => ({ subject: nameOf(certificate), ends: dayOf(certificate.validToDate) }));
}

/** Some authorities issue certificates without a subject, which Node.js's types do not reflect. */
function nameOf({ subject, subjectAltName }: { subject?: string; subjectAltName: string | undefined }): string {
  return (subject ?? subjectAltName ?? 'a certificate without a name').replaceAll('\n', ', ');
}

const dayOf = (date: Date): string => date.toISOString().slice(0, 10);
