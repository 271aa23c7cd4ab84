/** What no client sends by intent: bodies and addresses to which the service has an answer all the same. */
import fc, { type Arbitrary } from '../../support/fast-check.ts';
import { root, type Operation } from './document.ts';
import { encode, isForm, type Parts } from './requests.ts';

export interface HostileBody {
  readonly type: string | undefined;
  readonly body: Buffer;
  /** Nested deeper than the service takes, in whichever property. */
  readonly isTooDeep?: true;
}

export function hostileBodies(operation: Operation, valid: Arbitrary<Parts>): Record<string, Arbitrary<HostileBody>> {
  const whole = valid.map((parts) => Buffer.from(encode(operation, parts).body as Buffer));
  const type = encode(operation, { body: {} }).headers?.['content-type'];
  const sent = (bodies: Arbitrary<Buffer | string>) =>
    bodies.map((body) => ({ type, body: Buffer.from(body as string) }));
  return {
    'any bytes': sent(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))),
    'a body that is cut off': sent(fc.tuple(whole, fc.nat()).map(([body, cut]) => body.subarray(0, cut % body.length))),
    'a body of which one byte is another': sent(fc.tuple(whole, fc.nat(), fc.nat(255)).map(withByte)),
    'another content type': fc.record({ type: otherTypes, body: whole }),
    ...(isForm(operation) ? {} : hostileJson(whole, sent)),
  };
}

function withByte([body, place, byte]: [Buffer, number, number]): Buffer {
  body[place % body.length] = byte;
  return body;
}

const otherTypes = fc.oneof(
  fc.constantFrom(
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/problem+json',
    'json',
    '*/*',
  ),
  fc.stringMatching(/^[a-z]{1,9}\/[a-z.+-]{1,9}(; ?[a-z]{1,5}=[a-z]{1,5})?$/),
);

type Send = (bodies: Arbitrary<Buffer | string>) => Arbitrary<HostileBody>;

function hostileJson(whole: Arbitrary<Buffer>, sent: Send): Record<string, Arbitrary<HostileBody>> {
  const text = whole.map(String);
  /** What stands for a property that the contract may or may not know. */
  const name = fc.oneof(
    text.chain((json) => fc.constantFrom(...Object.keys(JSON.parse(json) as object))),
    fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '$ref', ''),
    fc.string({ unit: 'binary', maxLength: 5 }),
  );
  /** A property before all others, which a later one of the same name takes the place of, or behind them. */
  const withProperty = (value: Arbitrary<string>) =>
    fc.tuple(text, name, value, fc.boolean()).map(([json, key, inner, isFirst]) => {
      const property = `${JSON.stringify(key)}:${inner}`;
      return isFirst ? json.replace('{', () => `{${property},`) : json.replace(/\}$/, () => `,${property}}`);
    });
  return {
    'any JSON': sent(fc.json()),
    'JSON that is encoded twice': sent(text.map((json) => JSON.stringify(json))),
    'any value in any property': sent(withProperty(fc.json({ maxDepth: 2 }))),
    'names of the prototype': sent(
      fc
        .tuple(text, fc.constantFrom('__proto__', 'constructor', 'prototype'))
        .map(([json, key]) => `{"${key}":${json}}`),
    ),
    'nesting that is allowed': sent(withProperty(fc.integer({ min: 1, max: 31 }).map(nested))),
    'deep nesting': sent(withProperty(fc.integer({ min: 32, max: 15_000 }).map(nested))).map((body) => ({
      ...body,
      isTooDeep: true,
    })),
    'huge numbers': sent(withProperty(hugeNumbers)),
    'halves of surrogate pairs': sent(
      withProperty(fc.string({ unit: loneSurrogates, minLength: 1 }).map((s) => JSON.stringify(s))),
    ),
  };
}

const nested = (depth: number) =>
  depth % 2 === 0 ? '['.repeat(depth) + ']'.repeat(depth) : '{"a":'.repeat(depth) + '0' + '}'.repeat(depth);

const hugeNumbers = fc.oneof(
  fc.constantFrom('1e400', '-1e400', '1e-400', '9007199254740993', '-0', '0.0'),
  fc.integer({ min: 20, max: 5000 }).map((digits) => '9'.repeat(digits)),
);

const loneSurrogates = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));

/** Paths with queries, as far as an HTTP client can send them. */
export function hostilePaths({ template }: Operation): Record<string, Arbitrary<string>> {
  const place = root + template.replace(/\{\w+\}/g, 'x');
  const visible = fc.stringMatching(/^[!-"$-~]{0,40}$/);
  const paths = {
    'any query': fc.oneof(visible, fc.webQueryParameters()).map((query) => `${place}?${query}`),
    'a declared parameter with anything in it': visible.map((value) => `${place}?model=${value}&model=${value}`),
  };
  if (!template.includes('{')) return paths;
  // Clients resolve `.` and `..` themselves.
  const resolves = /(^|[/\\])(\.|%2e){1,2}([/\\]|$)/i;
  const segment = fc.stringMatching(/^[!-"$->@-~]{1,40}$/).filter((text) => !resolves.test(text));
  const withSegment = (text: string) => root + template.replace(/\{\w+\}/g, () => text);
  return {
    ...paths,
    'any segment': segment.map(withSegment),
    'empty segments': fc.constantFrom('/', '//', '/x', 'x//').map(withSegment),
  };
}
