/** The generated OpenAPI document: what the service serves, and reads itself. */
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

export interface ResponseObject {
  readonly headers?: Readonly<
    Record<string, { readonly required?: boolean; readonly schema: Schema; readonly example?: string }>
  >;
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
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

function readGenerated(name: string): string {
  return readFileSync(new URL(`../../generated/${name}`, import.meta.url), 'utf8');
}

/** Served as they are: OpenAPI 3.1 and 3.2. */
export const documents = { '3.1': readGenerated('openapi.json'), '3.2': readGenerated('openapi-3.2.json') } as const;

export const contract = JSON.parse(documents['3.1']) as ContractDocument;

/** Path prefix of all operations: /api/v1. */
export const apiRoot = contract.servers[0]?.url ?? '';

/** Operations with path and method, by operation id. */
export const operationsById: ReadonlyMap<string, OperationObject & { readonly path: string; readonly method: string }> =
  new Map(
    Object.entries(contract.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [operation.operationId, { ...operation, path, method }]),
    ),
  );

export function resolveSchema($ref: string): Schema {
  const schema = contract.components.schemas[$ref.replace('#/components/schemas/', '')];
  if (!schema) throw new Error(`no schema ${$ref}`);
  return schema;
}
