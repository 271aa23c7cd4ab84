/** The generated OpenAPI documents, which the service both serves and reads. */
import { readFileSync } from 'node:fs';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly maxLength?: number;
  readonly maxItems?: number;
}

export interface OperationObject {
  readonly operationId: string;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly security?: readonly object[];
}

type Named<T> = Readonly<Record<string, T>>;

interface HeaderObject {
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: string;
}

export interface ResponseObject {
  readonly headers?: Named<HeaderObject>;
  readonly content?: Readonly<Record<string, MediaTypeObject>>;
}

export interface MediaTypeObject {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface ContractDocument {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly security?: readonly object[];
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The contract of an API: its OpenAPI document, and the limits that the document does not state. */
export interface Contract {
  /** The text of the document as served. */
  readonly text: string;
  /** Path at which the document is served. */
  readonly page: string;
  readonly document: ContractDocument;
  /** Path prefix of all operations, such as /api/v1. */
  readonly root: string;
  /** Operations with path and method, by operation id. */
  readonly operations: ReadonlyMap<string, OperationObject & { readonly path: string; readonly method: string }>;
  /** Returns the schema that a `$ref` names. Throws if the document does not contain it. */
  readonly resolve: (ref: string) => Schema;
  /** Limits of all JSON bodies. */
  readonly json: JsonBounds;
  /** Limits of all forms. */
  readonly form: FormBounds;
  /** Whether an answer lists all violations of a request, or only the first. */
  readonly namesAllViolations: boolean;
}

export interface JsonBounds {
  /** Maximum number of objects, arrays and commas in a body, and maximum nesting depth. */
  readonly structure: { readonly tokens: number; readonly depth: number };
  /** Maximum size of a body in bytes. Default: the size of the largest body that is valid according to the schema. */
  readonly limit?: number;
}

/** Limits of a form, apart from its recording. */
export interface FormBounds {
  readonly fields: number;
  /** Maximum size of one value in bytes. */
  readonly fieldSize: number;
  /** A field that may be repeated and has larger values: texts, or files. */
  readonly large?: {
    readonly name: string;
    readonly count: number;
    readonly fieldSize: number;
    readonly isFile?: boolean;
  };
  /** Allowed names of text fields. */
  readonly names: { readonly valid: RegExp; readonly rule: string };
}

function readGenerated(name: string): string {
  return readFileSync(new URL(`../../generated/${name}`, import.meta.url), 'utf8');
}

/** A document as generated, in which repeated responses and headers are references to `components`. */
export interface WrittenDocument extends Omit<ContractDocument, 'paths'> {
  readonly paths: Named<Named<Omit<OperationObject, 'responses'> & { readonly responses: Named<Reference | Written> }>>;
  readonly components: ContractDocument['components'] & {
    readonly responses?: Named<Written>;
    readonly headers?: Named<HeaderObject>;
  };
}

type Written = Omit<ResponseObject, 'headers'> & { readonly headers?: Named<Reference | HeaderObject> };

interface Reference {
  readonly $ref: string;
}

/** Replaces references to shared responses and headers with their targets. */
export function resolveAnswers(document: WrittenDocument): ContractDocument {
  const { responses = {}, headers = {} } = document.components;
  const whole = (answer: Written): ResponseObject => ({
    ...answer,
    headers: mapValues(answer.headers ?? {}, (header) => (isReference(header) ? find(header, headers) : header)),
  });
  const shared = mapValues(responses, whole);
  const paths = mapValues(document.paths, (methods) =>
    mapValues(methods, (operation): OperationObject => ({
      ...operation,
      responses: mapValues(operation.responses, (answer) =>
        isReference(answer) ? find(answer, shared) : whole(answer),
      ),
    })),
  );
  return { ...document, paths };
}

const isReference = (value: object): value is Reference => '$ref' in value;

function find<T>({ $ref }: Reference, shared: Named<T>): T {
  const found = shared[$ref.split('/').at(-1) ?? ''];
  if (!found) throw new Error(`nothing is named ${$ref}`);
  return found;
}

function mapValues<T, U>(values: Named<T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

function openContract(name: string, limits: Pick<Contract, 'json' | 'form' | 'namesAllViolations'>): Contract {
  const text = readGenerated(name);
  const document = resolveAnswers(JSON.parse(text) as WrittenDocument);
  return {
    ...limits,
    text,
    page: `/${name}`,
    document,
    root: document.servers[0]?.url ?? '',
    operations: new Map(
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => [operation.operationId, { ...operation, path, method }]),
      ),
    ),
    resolve(ref) {
      const schema = document.components.schemas[ref.replace('#/components/schemas/', '')];
      if (!schema) throw new Error(`no schema ${ref}`);
      return schema;
    },
  };
}

/** The API under /api/v1. The largest valid chat request has 307 tokens and a depth of 3. */
export const nativeContract = openContract('openapi.json', {
  json: { structure: { tokens: 20_000, depth: 32 } },
  form: {
    fields: 32,
    fieldSize: 4096,
    large: { name: 'known_speaker_references', count: 4, fieldSize: 1_000_000, isFile: true },
    names: { valid: /^[^[\]]+$/, rule: 'must have a plain field name, without brackets' },
  },
  namesAllViolations: true,
});

/**
 * The API under /v1. Apps send the JSON Schemas of their tools, whole documents and chat histories; SDKs send about a
 * dozen form fields, and up to 200 keywords and 200 languages.
 */
export const openaiContract = openContract('openapi-compat.json', {
  json: { structure: { tokens: 200_000, depth: 64 }, limit: 40 * 1024 * 1024 },
  form: {
    fields: 424,
    fieldSize: 8192,
    // Four speakers, each with a 10 s WAV at 32 kHz mono or 16 kHz stereo, in base64.
    large: { name: 'known_speaker_references', count: 4, fieldSize: 1_000_000 },
    // OpenAI's SDKs use brackets for arrays and for one object (`chunking_strategy[type]`).
    names: {
      valid: /^([^[\]]+(\[\])?|chunking_strategy\[\w+\])$/,
      rule: 'must have a plain field name, without brackets except [] at its end',
    },
  },
  namesAllViolations: false,
});

/** Returns the text of a document with the public URL, if there is one, prepended to the paths of its `servers`. */
export function withServers(text: string, publicUrl: string | undefined): string {
  if (publicUrl === undefined) return text;
  const document = JSON.parse(text) as ContractDocument;
  const servers = document.servers.map((server) => ({ ...server, url: publicUrl + server.url }));
  return JSON.stringify({ ...document, servers });
}

/** Returns the text of an AsyncAPI document with the public URL, if there is one, as the address of its server. */
export function withSocketServer(text: string, publicUrl: string | undefined): string {
  if (publicUrl === undefined) return text;
  const { protocol, host, pathname } = new URL(publicUrl);
  const document = JSON.parse(text) as { readonly servers: { readonly service: object } };
  const server = { host, protocol: protocol === 'https:' ? 'wss' : 'ws', ...(pathname !== '/' && { pathname }) };
  return JSON.stringify({ ...document, servers: { service: { ...document.servers.service, ...server } } });
}

/** The native contract as OpenAPI 3.2, as served. */
export const nativeDocument32 = readGenerated('openapi-3.2.json');

/** The AsyncAPI 3 document of the events of `GET /v1/realtime`, as served. */
export const realtimeDocument = readGenerated('asyncapi-compat.json');
