/**
 * The header `Prefer` in sandbox mode (RFC 7240). As in Prism, `code=NNN` requests any answer that the operation
 * declares, regardless of the rest of the request. The faults change how an answer arrives. Answers are the examples of
 * the contract, except for audio, which this module generates.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { sampleRate, wavHeader } from '../../lib/wav.ts';
import { syntheticHeader } from './audio.ts';
import type { AnyAnswer } from './operations.ts';
import { problems } from './problem-table.ts';
import { invalid, type ProblemError } from './problems.ts';
import type { Contract, MediaTypeObject, ResponseObject } from './document.ts';

interface Preferring {
  /** The request id, which problems and streams contain. */
  readonly id: string;
  readonly api: { readonly contract: Contract };
  readonly headers: IncomingHttpHeaders;
  /** Set for an upgrade to a WebSocket. Browsers cannot set its headers, so the query may contain the preferences. */
  readonly upgraded?: unknown;
}

const faults = {
  /** Delay in seconds before an answer, and before each event on a WebSocket. */
  stall: { syntax: /^\d{1,3}(\.\d{1,3})?$/, rule: 'seconds below 1000' },
  /** Number of bytes of the answer's body, or of a WebSocket's events, after which the connection breaks. */
  cut: { syntax: /^\d{1,9}$/, rule: 'a number of bytes' },
  /** Closes a WebSocket with this code. */
  close: { syntax: /^(100[0-37-9]|101[0-4]|[34]\d{3})$/, rule: 'a code that may be sent, such as 1012' },
  /** Number of events before `close`. Default: 0. */
  after: { syntax: /^\d{1,9}$/, rule: 'a number of events' },
};

export type Faults = { readonly [Name in keyof typeof faults]?: number };

export interface Preferred {
  /** The requested answer; undefined for the ordinary one. */
  readonly answer?: AnyAnswer;
  readonly faults: Faults;
}

/**
 * `example` selects one of several named examples. Throws `invalid-request`, naming the declared codes or examples, or
 * the syntax of a fault. Operations that do not declare the status of `invalid-request` ignore unknown values (RFC
 * 7240, section 2) and `example`.
 */
export function readPreferred(operation: string, request: Preferring, query: string): Preferred {
  const { id, api, headers, upgraded } = request;
  const inQuery = upgraded === undefined ? null : new URLSearchParams(query).get('prefer');
  const { code, example, ...others } = readPreferences(headers.prefer ?? inQuery);
  const declared = api.contract.operations.get(operation)?.responses ?? {};
  const { status: native, openai } = problems['invalid-request'];
  const refuses = [native, openai.status].some((status) => Object.hasOwn(declared, status));
  const asked = { faults: readFaults(others, refuses) };
  if (code === undefined) return asked;
  const codes = Object.keys(declared).filter((status) => Number(status) >= 200);
  const response = codes.includes(code) ? declared[code] : undefined;
  if (!response) {
    if (!refuses) return asked;
    throw unknownPreference(`code ${code}; ${operation} declares ${codes.join(', ')}`);
  }
  const status = Number(code);
  const head = { status, headers: exampleHeaders(response) };
  const [[mediaType, object] = ['', undefined]] = Object.entries(response.content ?? {});
  const answerWith = ({ headers: own, ...answer }: Omit<AnyAnswer, 'status'>) => ({
    ...{ ...asked, answer: { ...head, ...answer, headers: { ...head.headers, ...own } } },
  });
  if (mediaType === 'text/event-stream') return answerWith({ mediaType, body: inTurn(...exampleEvents(object, id)) });
  if (mediaType.startsWith('audio/')) return answerWith(exampleSound(status));
  const body = exampleOf(object, code, refuses ? example : undefined);
  return answerWith({ mediaType, body: mediaType === 'application/problem+json' ? { ...body, instance: id } : body });
}

/** `refuses`: throws `invalid-request` for a malformed value; otherwise, one malformed value disables all faults. */
export function readFaults(preferences: Preferences, refuses: boolean): Faults {
  const given = Object.entries(faults).filter(([name]) => preferences[name] !== undefined);
  const wrong = given.find(([name, { syntax }]) => !syntax.test(preferences[name] ?? ''));
  if (wrong && refuses) throw invalid('header', '/Prefer', `must have ${wrong[1].rule} as ${wrong[0]}.`);
  return Object.fromEntries(wrong ? [] : given.map(([name]) => [name, Number(preferences[name])]));
}

type Preferences = Partial<Record<string, string>>;

/** Returns the preferences by lower-case name. The first of several duplicates wins, and syntax errors are ignored. */
function readPreferences(header: string | string[] | null): Preferences {
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

/** Returns the headers with an example. Only failures that a retry may resolve declare Retry-After. */
function exampleHeaders({ headers = {} }: ResponseObject): Record<string, string> {
  const shown = Object.entries(headers).filter(([, { example }]) => example !== undefined);
  const retry = headers['X-Should-Retry'] && { 'X-Should-Retry': String(headers['Retry-After'] !== undefined) };
  return { ...Object.fromEntries(shown.map(([name, { example = '' }]) => [name, example])), ...retry };
}

/** The examples of a stream are its events. The first event contains the request id. */
function exampleEvents({ examples = {} }: Partial<MediaTypeObject> = {}, id: string): object[] {
  const [started, ...others] = Object.values(examples).map(({ value }) => value as object);
  return [{ ...started, id }, ...others];
}

/** Length of the 206 example, in bytes. */
const rangeBytes = 1024;

/** Returns a 250 ms beep, or its first bytes for a 206. */
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
