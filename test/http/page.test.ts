/** The web page, the API reference and their assets, as they are served. */
import { readdirSync, readFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { echo } from '../api/support/engines.ts';
import { startTestService } from '../support/service.ts';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  /** As sent: `fetch` would unpack them, and would not send another Host. */
  readonly bytes: Buffer;
  readonly text: string;
}

type Send = (method: string, path: string, call?: { headers?: Record<string, string> }) => Promise<Answer>;

async function start(env: Readonly<Record<string, string>> = {}): Promise<{ readonly send: Send }> {
  const service = await startTestService({ ...echo, env });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return {
    send: (method, path, { headers = {} } = {}) =>
      new Promise((resolve, reject) => {
        request(service.url, { method, path, headers })
          .on('error', reject)
          .on('response', (answer) => {
            const { statusCode: status, headers } = answer;
            buffer(answer).then((bytes) => resolve({ status, headers, bytes, text: bytes.toString() }), reject);
          })
          .end();
      }),
  };
}

const written = (name: string) => readFileSync(new URL(`../../generated/page/${name}`, import.meta.url));
const assetsOf = (html: string) => [...html.matchAll(/(?:href|src)="(assets\/[^"]+)"/g)].map(([, path]) => `/${path!}`);

describe.each([
  ['/', 'index.html', "style-src 'self';", "require-trusted-types-for 'script'; trusted-types 'none'"],
  ['/docs', 'docs.html', "style-src 'self' 'unsafe-inline';", "frame-ancestors 'none'"],
])('%s', (path, file, styles, end) => {
  test('is the built file, revalidated at each visit', async () => {
    const api = await start();
    const answer = await api.send('GET', path, { headers: { 'Accept-Encoding': 'identity' } });
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(written(file).toString());
    expect(answer.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
    const again = await api.send('GET', path, { headers: { 'If-None-Match': String(answer.headers.etag) } });
    expect(again).toMatchObject({ status: 304, text: '' });
  });

  test('allows nothing from other origins and no inline scripts', async () => {
    const api = await start();
    const { headers } = await api.send('GET', path);
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain(styles);
    expect(policy).toContain("base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    expect(policy.endsWith(end)).toBe(true);
    expect(policy).not.toMatch(/https?:|\*/);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    expect(headers['permissions-policy']).toBe('microphone=(self), screen-wake-lock=(self), camera=(), geolocation=()');
  });

  test('references existing assets, which browsers cache forever', async () => {
    const api = await start();
    const assets = assetsOf(written(file).toString());
    expect(assets.length).toBeGreaterThan(2);
    for (const asset of assets) {
      const answer = await api.send('GET', asset);
      expect(answer.status, asset).toBe(200);
      expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    }
  });

  test('is answered to HEAD without a body', async () => {
    const api = await start();
    expect(await api.send('HEAD', path)).toMatchObject({ status: 200, text: '' });
  });

  test('rejects other methods than GET and HEAD', async () => {
    const api = await start();
    const answer = await api.send('POST', path);
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  test('needs no key', async () => {
    const api = await start({ API_KEYS: 'secret' });
    expect((await api.send('GET', path)).status).toBe(200);
  });

  test('is refused under the name of another host', async () => {
    const api = await start();
    const answer = await api.send('GET', path, { headers: { Host: 'rebound.example' } });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('host-not-allowed');
  });

  test('does not exist with PAGE=off', async () => {
    const api = await start({ PAGE: 'off' });
    const answer = await api.send('GET', path);
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('"code":"not-found"');
  });
});

test('an asset is compressed for callers that take gzip, and only for them', async () => {
  const api = await start();
  const scalar = assetsOf(written('docs.html').toString()).find((path) => path.includes('/scalar-'))!;
  const unpacked = gunzipSync(written(`${scalar.slice(1)}.gz`));
  const packed = await api.send('GET', scalar, { headers: { 'Accept-Encoding': 'gzip' } });
  expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  expect(gunzipSync(packed.bytes)).toEqual(unpacked);
  const plain = await api.send('GET', scalar, { headers: { 'Accept-Encoding': 'gzip;q=0' } });
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.bytes).toEqual(unpacked);
});

test('files that no page references are not served', async () => {
  const api = await start();
  for (const path of ['/index.html', '/LICENSES.txt', '/assets/', '/assets/main.js', '/../package.json']) {
    expect((await api.send('GET', path)).status, path).toBe(404);
  }
});

test('the scripts of the page fit into 61 KB, compressed', async () => {
  const api = await start();
  const names = readdirSync(new URL('../../generated/page/assets/', import.meta.url));
  const scripts = names.filter((name) => name.endsWith('.js') && !name.startsWith('docs-'));
  expect(scripts).toHaveLength(4); // those of the first view, of later views, and of the microphone
  const sizes = await Promise.all(
    scripts.map(async (name) => {
      const { bytes } = await api.send('GET', `/assets/${name}`, { headers: { 'Accept-Encoding': 'gzip' } });
      return bytes.length;
    }),
  );
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(61 * 1024);
});
