/** Requests as hostile clients send them: valid ones with their bytes changed, by a seeded generator. */

/** Numbers from 0 up to, but not including, 1: the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface SeedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface FuzzedRequest {
  readonly bytes: Buffer;
  /** A client that sends this has sent all of its request: the service must answer. */
  readonly isWhole: boolean;
}

/** What parsers of HTTP, of addresses, of JSON and of multipart bodies have stumbled over. */
const targets = [
  ...[
    'http://',
    'https://',
    'ftp://',
    'x://',
    'http://?x',
    'http://[/',
    'http://localhost',
    '*',
    '//',
    '///api/v1/chat',
  ],
  ...['/%', '/%zz', '/%00', '/..', '/../../etc/passwd', '/api/v1/%2e%2e/chat', '/api/v1/chat/', '/api/v1/chat?', '/?#'],
  ...['http://localhost/api/v1/models', 'http://user:pw@localhost/healthz', '/api/v1/tts/clips/', '/\u00e9', '/a b'],
  ...['/api/v1/transcribe?model=', '/api/v1/transcribe?model=a&model=b', `/${'a'.repeat(3_000)}`, 'localhost:443'],
];
const methods = [
  'GET',
  'POST',
  'HEAD',
  'PUT',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PROPFIND',
  'get',
  'G\u0000T',
  '',
];
const headerLines = [
  ...[
    'Content-Length: -1',
    'Content-Length: 5',
    'Content-Length: 99999999999',
    'Content-Length: 1, 1',
    'Content-Length: 0x10',
  ],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: identity', 'TE: trailers'],
  ...['Expect: 100-continue', 'Expect: nothing', 'Upgrade: websocket', 'Connection: upgrade', 'Connection: keep-alive'],
  ...['Host: evil.example', 'Host:', 'Host: localhost:x', 'Host: [::1', 'Origin: null', 'Origin: http://evil.example'],
  ...[
    'Content-Type: text/plain',
    'Content-Type: multipart/form-data',
    'Content-Type: application/json; charset=utf-16',
  ],
  ...['Range: bytes=0-', 'Range: bytes=9-1', 'Range: bytes=-0', 'If-Range: "x"', 'Prefer: code=401', 'Prefer: wait=5'],
  ...[
    'Content-Encoding: gzip',
    'Authorization: Bearer x',
    'X-Request-Id: a',
    `X-Long: ${'b'.repeat(4_000)}`,
    ' folded: line',
  ],
  ...['Access-Control-Request-Method: POST', 'Cookie: a=b; a=c', 'NoColon', ': empty', 'Na me: x', 'X-Null: \u0000'],
];
const fragments = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    '"',
    '\\',
    '\\u0000',
    '\\ud800',
    'null',
    'true',
    '1e999',
    '-0',
    '""',
    '[[[[[[[[[[',
    '{"a":',
  ],
  ...[
    '__proto__',
    '"messages":',
    '"model":null',
    '\u0000',
    '\r\n',
    '\r\n\r\n',
    '\n',
    '--',
    '\ufeff',
    '0\r\n\r\n',
    'ffff\r\n',
  ],
];

type Random = () => number;

/** One request out of the seeds; a third of them keep their frame, so that they are whole whatever is in them. */
export function fuzz(seeds: readonly SeedRequest[], random: Random): FuzzedRequest {
  const seed = pick(seeds, random);
  if (random() < 1 / 3) return { bytes: serialize(withOtherParts(seed, random)), isWhole: true };
  const bytes = serialize(random() < 0.5 ? withOtherParts(seed, random) : seed, lines(headerLines, random));
  return { bytes: times(random, 6, bytes, withOtherBytes), isWhole: false };
}

function serialize({ method, target, headers, body }: SeedRequest, more: readonly string[] = []): Buffer {
  const length = body.length > 0 ? [`Content-Length: ${body.length}`] : [];
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${target} HTTP/1.1`, ...own, ...length, ...more, 'Connection: close', '', ''];
  return Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), body]);
}

/** Another target, other values of headers, another body: all within the frame. */
function withOtherParts({ method, target, headers, body }: SeedRequest, random: Random): SeedRequest {
  const place = random() < 0.3 ? pick(targets.filter(isTarget), random) : target;
  const values = Object.entries(headers).map(([name, value]) => [
    name,
    random() < 0.1 ? scrambled(value, random) : value,
  ]);
  return {
    method: random() < 0.1 ? pick(['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'], random) : method,
    target: place,
    headers: Object.fromEntries(values) as Record<string, string>,
    body: times(random, 4, body, withOtherBytes),
  };
}

/** What fits between two spaces of a request line. */
const isTarget = (target: string) => /^[!-~]+$/.test(target);

/** Printable, so that it stays one header. */
function scrambled(value: string, random: Random): string {
  const at = Math.floor(random() * value.length);
  const character = String.fromCharCode(33 + Math.floor(random() * 94));
  return `${value.slice(0, at)}${character}${value.slice(at + Math.floor(random() * 3))}`;
}

function withOtherBytes(bytes: Buffer, random: Random): Buffer {
  const at = Math.floor(random() * (bytes.length + 1));
  const before = bytes.subarray(0, at);
  const rest = bytes.subarray(at);
  const insert = (text: string) => Buffer.concat([before, Buffer.from(text), rest]);
  switch (Math.floor(random() * 8)) {
    case 0: // another byte
      return Buffer.concat([before, Buffer.from([Math.floor(random() * 256)]), rest.subarray(1)]);
    case 1: // cut off
      return before;
    case 2: // a piece left out
      return Buffer.concat([before, rest.subarray(Math.floor(random() * 20))]);
    case 3: // a piece twice
      return Buffer.concat([before, rest.subarray(0, Math.floor(random() * 200)), rest]);
    case 4:
      return insert(pick(fragments, random));
    case 5:
      return insert(pick(fragments, random).repeat(Math.floor(random() * 500)));
    case 6:
      return insert(`${pick(methods, random)} ${pick(targets, random)} HTTP/1.${Math.floor(random() * 3)}\r\n`);
    default:
      return insert(`\r\n${pick(headerLines, random)}\r\n`);
  }
}

function lines(all: readonly string[], random: Random): string[] {
  return Array.from({ length: Math.floor(random() * 4) }, () => pick(all, random));
}

function times(random: Random, most: number, bytes: Buffer, change: (bytes: Buffer, random: Random) => Buffer): Buffer {
  let changed = bytes;
  for (let left = Math.floor(random() * most); left > 0; left -= 1) changed = change(changed, random);
  return changed;
}

function pick<T>(list: readonly T[], random: Random): T {
  return list[Math.floor(random() * list.length)]!;
}
