/**
 * `Prefer: code=429` (RFC 7240, with Prism's preferences): in sandbox mode a client can request any declared answer of
 * any operation, regardless of the rest of the request. Answers are the examples of the contract, except audio, which
 * is created here.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { sampleRate, wavHeader } from '../../lib/wav.ts';
import { syntheticHeader } from './audio.ts';
import type { AnyAnswer } from './operations.ts';
import { problems } from './problem-table.ts';
import { invalid, type ProblemError } from './problems.ts';
import { nativeContract, type MediaTypeObject, type ResponseObject } from './document.ts';

interface Preferring {
  /** The request id, part of problems and streams. */
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Returns undefined without a preference. `example` selects one of several named examples. Throws `invalid-request`
 * with the declared codes or examples. Operations that do not declare the status of `invalid-request` ignore unknown
 * codes (RFC 7240, section 2) and `example`.
 */
export function preferredAnswer(operation: string, { id, headers }: Preferring): AnyAnswer | undefined {
  const { code, example } = readPreferences(headers.prefer);
  if (code === undefined) return undefined;
  const declared = nativeContract.operations.get(operation)?.responses ?? {};
  const response = Object.hasOwn(declared, code) ? declared[code] : undefined;
  const refuses = Object.hasOwn(declared, problems['invalid-request'].status);
  if (!response) {
    if (!refuses) return undefined;
    throw unknownPreference(`code ${code}; ${operation} declares ${Object.keys(declared).join(', ')}`);
  }
  const status = Number(code);
  const head = { status, headers: exampleHeaders(response) };
  const [[mediaType, object] = ['', undefined]] = Object.entries(response.content ?? {});
  if (mediaType === 'text/event-stream') return { ...head, mediaType, body: inTurn(...exampleEvents(object, id)) };
  if (mediaType.startsWith('audio/')) return { ...head, ...exampleSound(status) };
  const body = exampleOf(object, code, refuses ? example : undefined);
  return { ...head, mediaType, body: mediaType === 'application/problem+json' ? { ...body, instance: id } : body };
}

/** Returns the preferences by lower-case name. The first of duplicates wins, and syntax errors are ignored. */
function readPreferences(header: string | string[] | undefined): Partial<Record<string, string>> {
  const preferences = String(header ?? '').matchAll(/(?<=^|[\s,;])([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]+))/g);
  const pairs = [...preferences].map(([, name = '', quoted, token = '']) => {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? token;
    return [name.toLowerCase(), value] as const;
  });
  return Object.fromEntries(pairs.reverse());
}

function exampleOf({ example, examples = {} }: Partial<MediaTypeObject> = {}, code: string, name?: string): object {
  const names = Object.keys(examples);
  if (name !== undefined && !names.includes(name)) {
    const known = names.length > 0 ? names.map((known) => `"${known}"`).join(', ') : 'none';
    throw unknownPreference(`example "${name}"; named examples of ${code}: ${known}`);
  }
  return (examples[name ?? names[0] ?? '']?.value ?? example) as object;
}

function exampleHeaders({ headers = {} }: ResponseObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, { example }]) => (example === undefined ? [] : [[name, example]])),
  );
}

/** The examples of a stream are its events. The first one has the request id. */
function exampleEvents({ examples = {} }: Partial<MediaTypeObject> = {}, id: string): object[] {
  const [started, ...others] = Object.values(examples).map(({ value }) => value as object);
  return [{ ...started, id }, ...others];
}

/** Length of the 206 example, in bytes. */
const rangeBytes = 1024;

/** Returns a beep of 250 ms, or its first bytes for a 206. */
function exampleSound(status: number): Pick<AnyAnswer, 'mediaType' | 'headers' | 'body'> {
  const samples = Int16Array.from(
    { length: sampleRate / 4 },
    (_, i) => 8000 * Math.sin((2 * Math.PI * 440 * i) / sampleRate),
  );
  const sound = Buffer.concat([wavHeader(samples.byteLength), new Uint8Array(samples.buffer)]);
  if (status !== 206) return { mediaType: 'audio/wav', headers: syntheticHeader, body: inTurn(sound) };
  return {
    mediaType: 'audio/wav',
    headers: { ...syntheticHeader, 'Content-Range': `bytes 0-${rangeBytes - 1}/${sound.length}` },
    body: inTurn(sound.subarray(0, rangeBytes)),
  };
}

// eslint-disable-next-line @typescript-eslint/require-await -- answers take async iterables
async function* inTurn<T>(...items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

function unknownPreference(what: string): ProblemError {
  return invalid('header', '/Prefer', `has the unknown ${what}.`);
}
