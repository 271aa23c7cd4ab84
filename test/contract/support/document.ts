/** The contracts as these tests read them: the files that are published, and nothing of the service's own reading. */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ajvOptions } from '../../../lib/ajv-options.ts';

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly 'x-max-bytes'?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly discriminator?: { readonly mapping: Readonly<Record<string, string>> };
}

export const parts = ['path', 'query', 'header', 'body'] as const;
export type Part = (typeof parts)[number];

export interface Operation {
  readonly id: string;
  /** Of its API, such as `/api/v1`. */
  readonly root: string;
  readonly method: string;
  /** `/tts/clips/{id}` */
  readonly template: string;
  readonly statuses: readonly number[];
  /** Of the body. */
  readonly mediaType: string | undefined;
  /** An object schema for each part of the request that the contract describes. */
  readonly schemas: Readonly<Partial<Record<Part, JsonSchema>>>;
}

interface Parameter {
  readonly in: Part;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

interface OperationObject {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../generated/${name}.json`, import.meta.url), 'utf8')) as Document;
const document = read('openapi');

const rootOf = ({ servers }: Document) => servers[0]?.url ?? '';

/** `/api/v1` */
export const root = rootOf(document);

export const operations = operationsOf(document);

/** Of `/v1`. */
export const compatOperations = operationsOf(read('openapi-compat'));

function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, object]) => toOperation(rootOf(document), template, method, object)),
  );
}

/** The types of events of each stream, by operation id. */
export const eventTypes: Readonly<Record<string, readonly string[]>> = {
  streamChat: typesOfUnion('ChatEvent'),
  streamTranscription: typesOfUnion('TranscriptionEvent'),
  streamTranscriptionJob: typesOfUnion('TranscriptionEvent'),
};

function typesOfUnion(name: string): string[] {
  return Object.keys(document.components.schemas[name]?.discriminator?.mapping ?? {});
}

function toOperation(root: string, template: string, method: string, object: OperationObject): Operation {
  const [[mediaType, body] = []] = Object.entries(object.requestBody?.content ?? {});
  const described = parts.flatMap((part): [Part, JsonSchema][] => {
    if (part === 'body') return body ? [[part, body.schema]] : [];
    const own = (object.parameters ?? []).filter((parameter) => parameter.in === part);
    return own.length > 0 ? [[part, objectOf(own)]] : [];
  });
  const statuses = Object.keys(object.responses).map(Number);
  const schemas = Object.fromEntries(described);
  return { id: object.operationId, root, method: method.toUpperCase(), template, statuses, mediaType, schemas };
}

function objectOf(parameters: readonly Parameter[]): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** The schema itself instead of a reference to it. */
export function resolve(schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const found = document.components.schemas[schema.$ref.replace('#/components/schemas/', '')];
  if (!found) throw new Error(`no schema ${schema.$ref}`);
  return resolve(found);
}

const ajv = new Ajv2020({ ...ajvOptions, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document, 'contract');

/** Where the value breaks the schema, as JSON Pointers; none when it does not. */
export function placesOfViolations(schema: JsonSchema, value: unknown): Set<string> {
  const validate = validatorOf(schema);
  if (validate(value)) return new Set();
  const places = (validate.errors ?? []).map(({ instancePath, keyword, params }) => {
    const missing = keyword === 'required' ? (params as { missingProperty: string }).missingProperty : undefined;
    return missing === undefined ? instancePath : `${instancePath}/${escapeSegment(missing)}`;
  });
  return new Set(places);
}

const validators = new Map<JsonSchema, ValidateFunction>();

function validatorOf(schema: JsonSchema): ValidateFunction {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"contract#/')) as object;
  const validate = validators.get(schema) ?? ajv.compile(absolute);
  validators.set(schema, validate);
  return validate;
}

/** RFC 6901. */
export function escapeSegment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
