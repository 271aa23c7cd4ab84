/** The JSON Schema of `parlance.config.yaml` for editors, with the options of the built-in engines. */
import { fileSchema, settingsTable, type Settings } from './table.ts';

type Schema = Readonly<Record<string, unknown>>;

/**
 * Returns a draft 7 schema, which editors support best. `options` contains the JSON Schema of the options for each
 * engine name.
 */
export function configSchema(options: Readonly<Record<string, Schema | object>>): object {
  const { properties, ...file } = fileSchema;
  const { engines, ...others } = properties;
  const settings = Object.entries(others).map(([name, schema]) => [name, withVariable(name, schema as Schema)]);
  const names = Object.keys(options);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'parlance.config.yaml',
    ...file,
    properties: allowingVariables({
      ...(Object.fromEntries(settings) as Schema),
      engines: {
        ...engines,
        additionalProperties: {
          description: engines.additionalProperties.description,
          if: { type: 'array' },
          then: { minItems: 1, items: { $ref: '#/definitions/instance' } },
          else: { $ref: '#/definitions/instance' },
        },
      },
    }),
    definitions: {
      instance: {
        type: 'object',
        required: ['use'],
        properties: {
          use: { ...engines.additionalProperties.properties.use, anyOf: [{ enum: names }, { minLength: 1 }] },
        },
        allOf: names.map((name) => ({
          if: { required: ['use'], properties: { use: { const: name } } },
          then: { $ref: `#/definitions/${name}` },
        })),
      },
      ...Object.fromEntries(names.map((name) => [name, instanceOf(options[name] as Schema)])),
    },
  };
}

function instanceOf(options: Schema): unknown {
  const { properties, ...others } = options;
  return { ...others, properties: { use: true, ...(allowingVariables(properties) as object) } };
}

function withVariable(name: string, schema: Schema): Schema {
  if (!Object.hasOwn(settingsTable, name)) return schema;
  const { env } = settingsTable[name as keyof Settings];
  return { ...schema, description: `${String(schema.description)}. The variable ${env} overrides it.` };
}

/** Editors do not know the value of `${NAME}`, so any text that contains a variable is accepted. */
const variable = { pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' };

function allowingVariables(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(allowingVariables);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, pattern, format, enum: values, if: when, then, ...others } = schema as Schema;
  const rules = Object.entries({ pattern, format, enum: values, if: when, then }).filter(
    ([, rule]) => rule !== undefined,
  );
  const rest = Object.entries(others).map(([key, value]) => [key, allowingVariables(value)]);
  const kept = { ...(type !== undefined && { type }), ...(Object.fromEntries(rest) as object) };
  if (type !== 'string' || rules.length === 0) return { ...kept, ...Object.fromEntries(rules) };
  return { ...kept, anyOf: [variable, Object.fromEntries(rules)] };
}
