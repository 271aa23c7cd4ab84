/** TLS_CERT and TLS_KEY: which files are accepted, and what the start says about the others. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { watchCertificate } from '../../src/http/connection/certificate.ts';
import { SettingsError } from '../../src/settings/load.ts';
import { endingCertificates, readTls } from '../../src/settings/tls.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const fixture = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures/tls', name), 'utf8');
const [cert, key] = [fixture('localhost.pem'), fixture('localhost-key.pem')];
const chain = fixture('chain.pem');

interface Files {
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
}

/** Reads a pair; `wait` is called before the second read, with the paths. */
async function read(files: Files, wait?: (paths: { tlsCert: string; tlsKey: string }) => void) {
  const directory = await temporaryDirectory();
  const paths = { tlsCert: join(directory, 'cert.pem'), tlsKey: join(directory, 'key.pem') };
  writeFileSync(paths.tlsCert, files.cert ?? cert);
  writeFileSync(paths.tlsKey, files.key ?? key);
  return (await readTls(paths, () => Promise.resolve(wait?.(paths))))!;
}

async function refusal(files: Files): Promise<string> {
  const error: unknown = await read(files).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SettingsError);
  return (error as SettingsError).message.replaceAll(/\/\S*\//g, '');
}

const encrypted = (type: 'pkcs8' | 'sec1') =>
  createPrivateKey(key).export({ type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'hush' } as never) as string;
const areSwapped = 'fix: check whether TLS_CERT and TLS_KEY are swapped';

describe('a pair with which no handshake would succeed is refused', () => {
  it.each<[what: string, files: Files, message: string]>([
    ['an empty certificate', { cert: '' }, 'TLS_CERT: cert.pem is empty; fix: write the whole file'],
    ['an empty key', { key: '\n' }, 'TLS_KEY: key.pem is empty; fix: write the whole file'],
    ['a certificate that is cut off', { cert: cert.slice(0, 300) }, 'TLS_CERT: cert.pem is cut off; fix: write the whole file'], // prettier-ignore
    ['a key that is cut off', { key: key.slice(0, 100) }, 'TLS_KEY: key.pem is cut off; fix: write the whole file'],
    ['a chain that is cut off', { cert: chain.slice(0, -40) }, 'TLS_CERT: cert.pem is cut off; fix: write the whole file'], // prettier-ignore
    ['a chain that is cut within its first marker', { cert: `${cert}-----BEG` }, 'TLS_CERT: cert.pem is cut off; fix: write the whole file'], // prettier-ignore
    ['an expired certificate', { cert: fixture('expired.pem') }, 'TLS_CERT: cert.pem expired on 2021-03-01; fix: renew the certificate'], // prettier-ignore
    ['a certificate of the future', { cert: fixture('future.pem') }, 'TLS_CERT: cert.pem is not valid before 2118-01-01; fix: check the clock of this machine'], // prettier-ignore
    ['the key of another certificate', { key: fixture('key.pem') }, 'TLS_KEY: key.pem is not the private key of the first certificate in TLS_CERT; fix: copy both from one renewal'], // prettier-ignore
    ['a chain that begins with the root', { cert: fixture('root.pem') + chain }, 'TLS_KEY: key.pem is not the private key of the first certificate in TLS_CERT; fix: copy both from one renewal'], // prettier-ignore
    ['a key for the certificate', { cert: key }, `TLS_CERT: cert.pem is a private key, not a certificate; ${areSwapped}`], // prettier-ignore
    ['a certificate for the key', { key: cert }, `TLS_KEY: key.pem is a certificate, not a private key; ${areSwapped}`],
    ['a key with a passphrase', { key: encrypted('pkcs8') }, 'TLS_KEY: key.pem is protected by a passphrase; fix: openssl pkey -in key.pem -out NEW.pem'], // prettier-ignore
    ['an older key with a passphrase', { key: encrypted('sec1') }, 'TLS_KEY: key.pem is protected by a passphrase; fix: openssl pkey -in key.pem -out NEW.pem'], // prettier-ignore
    ['a certificate in DER', { cert: new X509Certificate(cert).raw }, 'TLS_CERT: cert.pem is DER or PKCS #12, not PEM; fix: openssl x509 -inform der -in cert.pem -out NEW.pem'], // prettier-ignore
    ['a key in DER', { key: createPrivateKey(key).export({ type: 'pkcs8', format: 'der' }) }, 'TLS_KEY: key.pem is DER or PKCS #12, not PEM; fix: openssl pkey -inform der -in key.pem -out NEW.pem'], // prettier-ignore
    ['a text', { cert: 'hello' }, 'TLS_CERT: cert.pem contains no certificate; fix: write the certificate and its chain there, in PEM'], // prettier-ignore
    ['a text for the key', { key: 'hello' }, 'TLS_KEY: key.pem contains no private key; fix: write the private key of TLS_CERT there, in PEM'], // prettier-ignore
  ])('%s', async (_what, files, message) => {
    expect(await refusal(files)).toBe(message);
  });

  it('a certificate with a wrong character', async () => {
    expect(await refusal({ cert: cert.replaceAll('M', 'A') })).toMatch(/^TLS_CERT: cert.pem cannot be used: .*; fix: /);
    expect(await refusal({ cert: chain.replaceAll('MIIB', 'AIIB') })).toMatch(/^TLS_CERT: cert.pem cannot be used: /);
  });
});

describe('a pair is accepted', () => {
  it.each<[what: string, files: Files, certificates: number]>([
    ['of a certificate alone', {}, 1],
    ['with the chain of the certificate', { cert: chain }, 2],
    ['with text around the blocks', { cert: `Certificate:\n  Version: 3\n${cert}\nend`, key: `a key\n${key}` }, 1],
    ['with Windows line ends', { cert: cert.replaceAll('\n', '\r\n'), key: key.replaceAll('\n', '\r\n') }, 1],
    ['in one file', { cert: cert + key, key: cert + key }, 1],
    ['with an expired intermediate certificate', { cert: leaf() + fixture('expired-intermediate.pem') }, 2],
  ])('%s', async (_what, files, certificates) => {
    const tls = await read(files);
    expect(tls.chain).toHaveLength(certificates);
    expect(tls.cert.match(/BEGIN CERTIFICATE/g)).toHaveLength(certificates);
  });

  it('only when both files are settled: the key may be written after the certificate', async () => {
    const writes = [
      ({ tlsCert }: { tlsCert: string }) => writeFileSync(tlsCert, cert),
      ({ tlsKey }: { tlsKey: string }) => writeFileSync(tlsKey, key),
    ];
    const tls = await read({ cert: cert.slice(0, 300), key: '' }, (paths) => writes.shift()?.(paths));
    expect(new X509Certificate(tls.cert).subject).toBe('CN=localhost');
  });
});

const day = (text: string) => Date.parse(text);

describe('a certificate that ends soon', () => {
  it('is named with its last day, from 14 days before', async () => {
    const tls = await read({});
    expect(endingCertificates(tls)).toEqual([]);
    expect(endingCertificates(tls, day('2119-12-15T23:16:25Z'))).toEqual([]);
    expect(endingCertificates(tls, day('2119-12-15T23:16:26Z'))).toEqual([{ subject: 'CN=localhost', ends: '2119-12-29' }]); // prettier-ignore
  });

  it('is named with its alternative names if it has no subject', async () => {
    const tls = await read({ cert: chain });
    const own = { subject: 'DNS:localhost, IP Address:127.0.0.1', ends: '2119-12-29' };
    expect(endingCertificates(tls, day('2119-12-16T12:00:00Z'))).toEqual([own]);
  });

  it('is also named if it is an intermediate one, which may have ended', async () => {
    const tls = await read({ cert: leaf() + fixture('expired-intermediate.pem') });
    expect(endingCertificates(tls)).toEqual([{ subject: 'CN=intermediate.test', ends: '2021-09-30' }]);
  });
});

it('a running service warns every day from 14 days before the end', async () => {
  const tls = await read({});
  vi.useFakeTimers({ now: day('2119-12-14T12:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const warned: object[] = [];
  const log = { ...console, warn: (facts: object) => void warned.push(facts) };
  using _watch = watchCertificate(tls, { settings: {}, log, server: { setCertificate: () => undefined } });
  expect(warned).toEqual([]);
  vi.advanceTimersByTime(3 * 86_400_000);
  expect(warned).toEqual([{ subject: 'CN=localhost', ends: '2119-12-29' }, { subject: 'CN=localhost', ends: '2119-12-29' }]); // prettier-ignore
});

/** The first certificate of the chain. */
function leaf(): string {
  return new X509Certificate(chain).toString();
}
