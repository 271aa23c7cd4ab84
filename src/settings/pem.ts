/**
 * Reads PEM files. Each error message says what is wrong with the file and how to fix it; the caller prepends the path.
 */

/** Returns the certificates in a file, in order, in PEM. */
export function certificatesIn(path: string, text: string): readonly string[] {
  const blocks = blocksIn(text, `openssl x509 -inform der -in ${path} -out NEW.pem`);
  const found = blocks.filter(isCertificate);
  if (found.length > 0) return found;
  if (blocks.some(isKey)) throw new Error(`is a private key, not a certificate; ${areSwapped}`);
  throw new Error('contains no certificate; fix: write the certificate and its chain there, in PEM');
}

/** Returns the private key in a file, in PEM. */
export function privateKeyIn(path: string, text: string): string {
  const blocks = blocksIn(text, `openssl pkey -inform der -in ${path} -out NEW.pem`);
  const found = blocks.find(isKey);
  if (found?.includes('ENCRYPTED')) {
    throw new Error(`is protected by a passphrase; fix: openssl pkey -in ${path} -out NEW.pem`);
  }
  if (found !== undefined) return found;
  if (blocks.some(isCertificate)) throw new Error(`is a certificate, not a private key; ${areSwapped}`);
  throw new Error('contains no private key; fix: write the private key of TLS_CERT there, in PEM');
}

const areSwapped = 'fix: check whether TLS_CERT and TLS_KEY are swapped';

/** OpenSSL also accepts the names TRUSTED CERTIFICATE and X509 CERTIFICATE. */
const isCertificate = (block: string) => /^-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/.test(block);
const isKey = (block: string) => /^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(block);

const wholeBlock = /-----BEGIN ([A-Z0-9 ]+)-----[^]*?-----END \1-----/g;

/** DER begins with a sequence tag and its length. At least one of the next two bytes is not a printable character. */
const der = /^0.?[\p{Cc}\uFFFD]/su;

function blocksIn(text: string, fixForDer: string): readonly string[] {
  if (text.trim() === '') throw new Error('is empty; fix: write the whole file');
  if (der.test(text)) throw new Error(`is DER or PKCS #12, not PEM; fix: ${fixForDer}`);
  if (text.replace(wholeBlock, '').includes('-----')) throw new Error('is cut off; fix: write the whole file');
  return text.match(wholeBlock) ?? [];
}
