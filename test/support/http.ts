/**
 * Requests over real sockets. Every answer is held against the generated document of its API before a test sees it:
 * declared status, media type, headers, body. It shares no code with the service's own check.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ajvOptions } from '../../lib/ajv-options.ts';
import { resolveAnswers, type WrittenDocument } from '../../src/contract/document.ts';
import type { Schemas } from '../../src/contract/operations.ts';
import type { Schemas as OpenAISchemas } from '../../src/openai/operations.ts';
import { readChunks, readEventStream } from './event-stream.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body, parsed when it is JSON. */
  readonly body: unknown;
  /** The body, which must be a problem document. */
  readonly problem: Schemas['Problem'];
  /** The same under /v1. */
  readonly error: OpenAISchemas['ErrorDetails'];
}

export interface Call {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | FormData;
}

/** Takes whole paths (`/api/v1/chat`), as the interface document writes them. */
export interface Api {
  get(path: string, headers?: Call['headers']): Promise<Answer>;
  /** Sends the value as JSON. */
  post(path: string, value: unknown, headers?: Call['headers']): Promise<Answer>;
  send(method: string, path: string, call?: Call): Promise<Answer>;
}

export function createApi(url: string): Api {
  const send = async (method: string, path: string, call: Call = {}) =>
    heldToContract({ method, path }, await exchange(url, { method, path }, call));
  return {
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: (path, value, headers = {}) =>
      send('POST', path, {
        headers: { 'content-type': 'application/json', ...headers },
        body: Buffer.from(JSON.stringify(value)),
      }),
    send,
  };
}

/** By node:http rather than fetch, which chooses its own Host and tidies the path. */
async function exchange(
  url: string,
  { method, path }: { method: string; path: string },
  { headers = {}, body }: Call,
): Promise<Unchecked> {
  const encoded = body instanceof FormData ? new Response(body) : undefined;
  const type = encoded?.headers.get('content-type');
  const sending = request(url, {
    method,
    path,
    headers: { ...(type != null && { 'content-type': type }), ...headers },
  });
  const answered = new Promise<Unchecked>((resolve, reject) => {
    sending.once('error', reject);
    sending.once('response', (response) => {
      buffer(response).then(
        (bytes) =>
          resolve({ status: response.statusCode ?? 0, headers: toHeaders(response.rawHeaders), text: String(bytes) }),
        reject,
      );
    });
  });
  sending.end(encoded ? await encoded.bytes() : body);
  return answered;
}

/** Names and values in turn. */
export function toHeaders(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < raw.length; i += 2) headers.append(raw[i]!, raw[i + 1]!);
  return headers;
}

// ------------------------------------------------------------------------------------------------- the contract

/** An answer as it came from a socket, curl or fetch. */
export type Unchecked = Pick<Answer, 'status' | 'headers' | 'text'>;

interface ResponseObject {
  readonly headers?: Readonly<
    Record<string, { readonly required?: boolean; readonly schema: { readonly $ref?: string } }>
  >;
  readonly content?: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface CheckedApi {
  readonly prefix: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly readStream: (text: string, complain: (what: string) => Error) => readonly unknown[];
  /** Throws when the answer of a failed request breaks what they all have in common. */
  readonly checkFailure: (failed: Failed, complain: (what: string) => Error) => void;
}

interface Failed {
  readonly status: number;
  readonly headers: Headers;
  readonly mediaType: string;
  readonly body: unknown;
}

const ajv = new Ajv2020(ajvOptions);
addFormats.default(ajv);

function readApi(prefix: string, file: string, parts: Pick<CheckedApi, 'readStream' | 'checkFailure'>): CheckedApi {
  const text = readFileSync(new URL(`../../generated/${file}`, import.meta.url), 'utf8');
  const document = resolveAnswers(JSON.parse(text) as WrittenDocument);
  ajv.addSchema(document, prefix);
  return { prefix, paths: document.paths, ...parts };
}

const native = readApi('/api/v1', 'openapi.json', { readStream: readEventStream, checkFailure: checkProblem });
const openai = readApi('/v1', 'openapi-compat.json', { readStream: readChunks, checkFailure: checkError });

function checkProblem({ status, headers, mediaType, body }: Failed, complain: (what: string) => Error): void {
  if (mediaType !== 'application/problem+json') throw complain(`its media type is "${mediaType}"`);
  const violations = violationsOf(`${native.prefix}#/components/schemas/Problem`, body);
  if (violations !== undefined) throw complain(`its problem document ${violations}`);
  const problem = body as Schemas['Problem'];
  if (problem.status !== status) throw complain('its problem document names another status');
  if (problem.instance !== headers.get('x-request-id')) throw complain('its problem document names another request');
  if (problem.type !== `urn:parlance:problem:${problem.code}`) throw complain('type and code differ');
}

function checkError({ headers, mediaType, body }: Failed, complain: (what: string) => Error): void {
  if (mediaType !== 'application/json') throw complain(`its media type is "${mediaType}"`);
  const violations = violationsOf(`${openai.prefix}#/components/schemas/ErrorResponse`, body);
  if (violations !== undefined) throw complain(`its error ${violations}`);
  if (!/^(true|false)$/.test(headers.get('x-should-retry') ?? '')) throw complain('it has no X-Should-Retry');
}

const jsonTypes = /^application\/(problem\+)?json$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The answer, read; throws when it breaks the contract. */
export function heldToContract(asked: { method: string; path: string }, answer: Unchecked): Answer {
  const complain = (what: string) =>
    new Error(`${asked.method} ${asked.path} answers ${answer.status}, but ${what}: ${answer.text.slice(0, 500)}`);
  const { status, headers, text } = answer;
  const mediaType = headers.get('content-type')?.split(';')[0] ?? '';
  const isEmpty = asked.method === 'HEAD' || status === 204;
  const body: unknown = jsonTypes.test(mediaType) && !isEmpty ? JSON.parse(text) : text;

  const requestId = headers.get('x-request-id') ?? '';
  if (!uuid.test(requestId)) throw complain(`X-Request-Id is "${requestId}"`);
  const api = /^\/+v1(?:[/?]|$)/.test(asked.path) ? openai : native;
  const place = findOperation(asked, api);
  const content = { mediaType, body: isEmpty ? undefined : body };
  if (place && status !== 204) checkOperation({ api, place }, answer, content, complain);
  if (status >= 400 && !isEmpty) api.checkFailure({ status, headers, mediaType, body }, complain);
  return {
    status,
    headers,
    text,
    body,
    get problem() {
      if (status < 400) throw complain('a problem was expected');
      return body as Schemas['Problem'];
    },
    get error() {
      if (status < 400) throw complain('an error was expected');
      return (body as OpenAISchemas['ErrorResponse']).error;
    },
  };
}

/** Where the operation stands in the document; of a method that the path does not know, any of the path's. */
function findOperation(
  { method, path }: { method: string; path: string },
  { prefix, paths }: CheckedApi,
): readonly string[] | undefined {
  const [wanted = ''] = path.split('?');
  const found = Object.keys(paths).find((template) => {
    const pattern = template.replace(/\{\w+\}/g, '[^/]+');
    return new RegExp(`^${prefix}${pattern}$`).test(wanted);
  });
  if (found === undefined) return undefined;
  const known = Object.keys(paths[found] ?? {});
  const asked = method === 'HEAD' ? 'get' : method.toLowerCase();
  return ['paths', found, known.includes(asked) ? asked : known[0]!];
}

function checkOperation(
  { api, place }: { readonly api: CheckedApi; readonly place: readonly string[] },
  { status, headers, text }: Unchecked,
  { mediaType, body }: { readonly mediaType: string; readonly body: unknown },
  complain: (what: string) => Error,
): void {
  const [, path, method] = place;
  const response = api.paths[path!]![method!]!.responses[String(status)];
  if (!response) throw complain('the contract does not declare this status');
  if (response.content?.[mediaType] === undefined) throw complain(`it does not declare the media type "${mediaType}"`);
  for (const [name, { required, schema }] of Object.entries(response.headers ?? {})) {
    const value = headers.get(name);
    if (value === null && required) throw complain(`the header ${name} is missing`);
    const rule = schema.$ref === undefined ? schema : `${api.prefix}${schema.$ref}`;
    const isValid: boolean = value === null || ajv.validate(rule, value);
    if (!isValid) throw complain(`the header ${name} is "${value}"`);
  }
  const isStream = mediaType === 'text/event-stream';
  if (body === undefined || !(isStream || jsonTypes.test(mediaType))) return;
  const pointer = [...place, 'responses', String(status), 'content', mediaType, 'schema'].map(escapeSegment).join('/');
  for (const value of isStream ? api.readStream(text, complain) : [body]) {
    const violations = violationsOf(`${api.prefix}#/${encodeURI(pointer)}`, value);
    if (violations !== undefined) throw complain(`its body ${violations}`);
  }
}

function violationsOf(schema: string, value: unknown): string | undefined {
  const validate = ajv.getSchema(schema) as ValidateFunction;
  return validate(value) ? undefined : `breaks the contract (${ajv.errorsText(validate.errors)})`;
}

/** RFC 6901. */
function escapeSegment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
