/**
 * The web page (`/`), the API reference (`/docs`), `/docs/errors` and `/docs/setup`: the files in generated/page/,
 * which are read once. No other paths exist.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';

const unpack = promisify(gunzip);

export interface PageFile {
  readonly mediaType: string;
  /** Headers of the response, including ETag and Cache-Control. */
  readonly headers: Readonly<Record<string, string>>;
  readonly gzipped: () => Buffer;
  readonly unpacked: () => Buffer | Promise<Buffer>;
}

export type PageFiles = ReadonlyMap<string, PageFile>;

const built = fileURLToPath(new URL('../../generated/page/', import.meta.url));

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Allows nothing from other origins, nothing inline, and no `eval`. Tested in Chromium without violations. */
const pagePolicy = [
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'",
  "media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "require-trusted-types-for 'script'; trusted-types 'none'",
].join('; ');

/** The API reference (Scalar) needs inline styles, and icons and fonts from data URLs. */
const referencePolicy = [
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'",
  "img-src 'self' data:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ');

const everywhere = { 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' } as const;

const documentHeaders = (policy: string) => ({
  ...everywhere,
  'Content-Security-Policy': policy,
  'Permissions-Policy': 'microphone=(self), screen-wake-lock=(self), camera=(), geolocation=()',
  'Cache-Control': 'no-cache',
});

/** Assets are immutable, because their names contain a hash of their content. */
const assetHeaders = { ...everywhere, 'Cache-Control': 'public, max-age=31536000, immutable' };

const documents: ReadonlyMap<string, readonly [path: string, headers: Readonly<Record<string, string>>]> = new Map([
  ['index.html', ['/', documentHeaders(pagePolicy)]],
  ['docs.html', ['/docs', documentHeaders(referencePolicy)]],
  ['errors.html', ['/docs/errors', documentHeaders(pagePolicy)]],
  ['setup.html', ['/docs/setup', documentHeaders(pagePolicy)]],
]);

/** Returns the files by path; empty if the page has not been built. */
export function loadPage(directory = built): PageFiles {
  return new Map(
    filesIn(directory).map((name) => {
      const [path, headers] = documents.get(name) ?? [`/${name.replace(/\.gz$/, '')}`, assetHeaders];
      return [path, toFile(name, readFileSync(directory + name), headers)];
    }),
  );
}

function filesIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'LICENSES.txt')
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(directory.length).replace(/^\/+/, ''));
}

function toFile(name: string, stored: Buffer, headers: Readonly<Record<string, string>>): PageFile {
  const isPacked = name.endsWith('.gz');
  const extension = name.replace(/\.gz$/, '').split('.').at(-1) ?? '';
  let gzipped = isPacked ? stored : undefined;
  const etag = createHash('sha256').update(stored).digest('hex').slice(0, 16);
  return {
    mediaType: mediaTypes[extension] ?? 'application/octet-stream',
    headers: { ...headers, ETag: `"${etag}"`, Vary: 'Accept-Encoding' },
    gzipped: () => (gzipped ??= gzipSync(stored, { level: 9 })), // compressed on first use, not at startup
    unpacked: () => (isPacked ? unpack(stored) : stored),
  };
}
