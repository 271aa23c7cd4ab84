/** The tables of docs/reference/: settings, error codes, limits of requests, events. */
import { engineErrorCodes } from '../../engines/contract/index.ts';
import type { ProblemCode } from '../../src/contract/operations.ts';
import { problems } from '../../src/contract/problem-table.ts';
import { metricsTable } from '../../src/metrics/table.ts';
import { openaiCode } from '../../src/openai/errors.ts';
import { fieldTable, type FieldRow } from '../../src/openai/field-table.ts';
import { keysFileSchema } from '../../src/keys/schema.ts';
import { fileSchema, settingsTable } from '../../src/settings/table.ts';
import { clientErrorAdvice } from './error-page.ts';
import { code, table } from './markdown.ts';
import { fieldsOf, typeOf, type Described } from './schema-text.ts';

export function settingsReference(): string {
  const rows = Object.entries(settingsTable).map(([name, row]) => [
    code(row.env),
    row.inFile === false ? '' : code(name),
    allowedIn(row),
    defaultOf(row.default),
    row.description,
  ]);
  return table(['variable', 'in the file', 'type', 'default', 'description'], rows);
}

/** Lists the variables that have no effect, or only with some engines, if the settings file lists the engines. */
export function replacedVariables(): string {
  const rows = Object.values(settingsTable).flatMap(({ env, withEngines }) => {
    if (withEngines === undefined) return [];
    const { readBy, unless, instead } = withEngines;
    const engines = typeof readBy === 'string' ? `an engine for ${readBy}` : readBy.map(code).join(', ');
    const read = unless === undefined ? engines : `${engines}, without ${code(unless)}`;
    return [[code(env), read === '' ? 'never' : read, instead]];
  });
  return table(['variable', 'has an effect if `engines` contains', 'in the file instead'], rows);
}

/** An empty list is not worth showing as a default. */
function defaultOf(value: unknown): string {
  if (value === undefined || Array.isArray(value)) return '';
  return code(typeof value === 'string' ? value : JSON.stringify(value));
}

function allowedIn({ schema }: (typeof settingsTable)[keyof typeof settingsTable]): string {
  return schema.type === 'array' ? 'list' : typeOf(schema);
}

export function mcpServersReference(): string {
  const { additionalProperties: server } = fileSchema.properties.mcpServers;
  return optionsTable(server);
}

export function keysFileReference(): string {
  const { items: entry } = keysFileSchema([]).properties.keys;
  const operations = { ...entry.properties.operations, items: { type: 'string' } }; // without their ids
  return optionsTable({ ...entry, properties: { ...entry.properties, operations } });
}

export function optionsTable(schema: Described): string {
  const rows = fieldsOf(schema).map(({ path, schema: field, required }) => [
    code(path),
    typeOf(field),
    required ? 'yes' : '',
    field.description ?? '',
  ]);
  return table(['option', 'type', 'required', 'description'], rows);
}

export function errorsReference(): string {
  const byEngines: readonly string[] = engineErrorCodes;
  const rows = Object.entries(problems).map(([name, { status, title, advice, retryAfter, field, openai }]) => [
    code(name),
    String(status),
    `${title}. ${advice}`,
    retryAfter === undefined ? '' : `${retryAfter} s`,
    byEngines.includes(name) ? 'yes' : '',
    field && field[0] !== '' ? code(field[0]) : '',
    `${openai.status} ${code(openaiCode(name as ProblemCode))}`,
  ]);
  const ofClient = Object.entries(clientErrorAdvice).map(([name, advice]) => [code(name), '', advice, '', '', '', '']);
  const head = ['code', 'status', 'title, and what to do', 'Retry-After', 'thrown by engines', 'field', 'under `/v1`'];
  return table(head, [...rows, ...ofClient]);
}

export function metricsReference(): string {
  const rows = Object.values(metricsTable).map((row) => [
    code(row.name),
    row.type,
    row.labels.map(code).join(', '),
    'buckets' in row ? row.buckets.join(' ') : '',
    row.help,
  ]);
  return table(['metric', 'type', 'labels', 'buckets', 'description'], rows);
}

/** The part of an OpenAPI document that the pages show. */
export interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Described>> };
}

interface Operation {
  readonly operationId?: string;
  readonly 'x-close-codes'?: Readonly<Record<string, string>>;
  readonly summary?: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Described }>> };
}

/** Operations with the same body share their rows. */
export function requestLimits(contract: Contract): string {
  const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
      const rows = fieldsOf(resolved(body ?? {}, contract)).map(({ path: field, schema, required }) => [
        code(field),
        typeOf(resolved(schema, contract)),
        required ? 'yes' : '',
      ]);
      return { name: code(`${method.toUpperCase()} ${path}`), rows };
    }),
  );
  const byBody = Object.values(Object.groupBy(operations, ({ rows }) => JSON.stringify(rows)));
  const rows = byBody.flatMap((alike = []) => {
    const names = alike.map(({ name }) => name).join(', ');
    return (alike[0]?.rows ?? []).map((row) => [names, ...row]);
  });
  return table(['operations', 'field of the body', 'type', 'required'], rows);
}

/** One table for each operation under /v1 that has a body. */
export function openaiFieldsReference(contract: Contract): string {
  return Object.entries(contract.paths)
    .flatMap(([path, { post }]) => (post?.operationId === undefined ? [] : [fieldTableOf(path, post, contract)]))
    .join('\n\n');
}

function fieldTableOf(path: string, { operationId, requestBody }: Operation, contract: Contract): string {
  const body = Object.values(requestBody?.content ?? {})[0]?.schema ?? {};
  const tables: Readonly<Record<string, Readonly<Record<string, FieldRow>>>> = fieldTable;
  const { [operationId ?? '']: rows = {} } = tables;
  const declared = Object.keys(resolved(body, contract).properties ?? {});
  const names = [...new Set([...declared, ...Object.keys(rows)])].filter((name) => {
    // The rows of a field's parts replace the row of the field.
    return !Object.keys(rows).some((row) => row.startsWith(`${name}.`));
  });
  const lines = names.map((name) => [code(name), ...statusOf(rows[name])]);
  return `## ${code(`POST /v1${path}`)}\n\n${table(['field', 'status', 'note'], lines)}`;
}

function statusOf(row: FieldRow = 'used'): readonly [string, string] {
  const [status, note] = typeof row === 'string' ? [row, ''] : row;
  const [outcome = '', feature] = status.split(' without ');
  return [feature === undefined ? outcome : `used by models with ${code(feature)}, otherwise ${outcome}`, note];
}

export function operationsReference({ paths }: Contract): string {
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary = '', operationId = '' }]) => [
      code(`${method.toUpperCase()} ${path}`),
      summary,
      code(operationId),
    ]),
  );
  return table(['operation', 'description', 'id, for keys'], rows);
}

export function closeCodesReference({ paths }: Contract): string {
  return table(['close code', 'reason'], Object.entries(paths['/realtime']?.get?.['x-close-codes'] ?? {}));
}

/** The page describes these fields once, above the events. */
const commonFields = ['seq', 'step', 'event_id'];

/** `union`: the schema of the events of one stream, or of one side of a WebSocket. */
export function eventsReference(contract: Contract, union: string): string {
  const { oneOf, anyOf = [] } = (contract.components.schemas[union] ?? {}) as Described & { oneOf?: Described[] };
  return (oneOf ?? anyOf)
    .map((event) => {
      const schema = resolved(event, contract);
      const { type, ...others } = schema.properties as Record<string, Described>;
      const rows = fieldsOf({ ...schema, properties: others })
        .filter(({ path }) => !commonFields.includes(path) && !path.startsWith('problem.'))
        .map(({ path, schema: field, required }) => [
          code(path),
          typeOf(field),
          required ? 'yes' : '',
          path === 'problem' ? 'A [problem](errors.md).' : (field.description ?? ''),
        ]);
      const described = (schema.description ?? '').replaceAll('\n', ' ');
      const heading = `### ${code(String(type?.enum?.[0]))}`;
      const fields = rows.length > 0 ? [table(['field', 'type', 'always present', 'description'], rows)] : [];
      return [heading, described, ...fields].join('\n\n');
    })
    .join('\n\n');
}

/** Replaces references with the schemas that they refer to. */
function resolved(schema: Described, contract: Contract): Described {
  if (schema.$ref !== undefined) {
    const { $ref, ...own } = schema;
    return { ...resolved(contract.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}, contract), ...own };
  }
  const each = (value: Described) => resolved(value, contract);
  return {
    ...schema,
    ...(schema.anyOf && { anyOf: schema.anyOf.map(each) }),
    ...(schema.items && { items: each(schema.items) }),
    ...(schema.properties && {
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([name, field]) => [name, each(field as Described)]),
      ),
    }),
  };
}
