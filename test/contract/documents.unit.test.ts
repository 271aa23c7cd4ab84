/** What generators and readers expect of the documents: names, examples and descriptions everywhere. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { ajvOptions } from '../../lib/ajv-options.ts';
import { realtimeDocument, withSocketServer } from '../../src/contract/document.ts';

type Named<T> = Readonly<Record<string, T>>;

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Named<Schema>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Named<{ readonly value: unknown }>;
}

interface Answer {
  readonly $ref?: string;
  readonly content?: Named<Content>;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[];
  readonly requestBody?: { readonly content: Named<Content> };
  readonly responses: Named<Answer>;
}

interface Document {
  readonly paths: Named<Named<Operation>>;
  readonly components: { readonly schemas: Named<Schema>; readonly responses: Named<Answer> };
}

interface Message {
  readonly payload: Schema;
  readonly examples: readonly { readonly payload: unknown }[];
}

interface Socket {
  readonly components: { readonly messages: Named<Message>; readonly schemas: Named<Schema> };
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../generated/${name}`, import.meta.url), 'utf8')) as unknown;

const socket = read('asyncapi-compat.json') as Socket;

const nameOf = ({ $ref = '' }: { readonly $ref?: string }) => $ref.split('/').at(-1)!;

/** The rules of the schema that the value breaks, in words. */
function violations(document: object, schema: Schema, value: unknown): string {
  const ajv = new Ajv2020({ ...ajvOptions, allErrors: true });
  addFormats.default(ajv);
  return ajv.validate({ ...document, ...schema }, value) ? '' : ajv.errorsText();
}

describe.each([
  ['openapi.json', []],
  ['openapi-compat.json', ['RealtimeClientEvent', 'RealtimeTranscriptionClientEvent']],
] as const)('%s', (file, sent) => {
  const document = read(file) as Document;
  const { schemas, responses } = document.components;
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const answerOf = (answer: Answer) => (answer.$ref === undefined ? answer : responses[nameOf(answer)]!);

  const contents = operations.flatMap(({ operationId, requestBody, responses: answers }) => {
    const successful = Object.entries(answers).filter(([status]) => status.startsWith('2'));
    const parts = [['request', requestBody] as const, ...successful.map(([code, x]) => [code, answerOf(x)] as const)];
    return parts.flatMap(([part, body]) =>
      Object.entries(body?.content ?? {}).map(([mediaType, content]) => ({
        place: `${operationId} ${part} ${mediaType}`,
        isSound: mediaType.startsWith('audio/'),
        content,
      })),
    );
  });

  it('has an example of every request and of every success but sound', () => {
    const without = contents.filter(({ isSound, content: { example, examples = {} } }) => {
      return !isSound && example === undefined && Object.keys(examples).length === 0;
    });
    expect(without.map(({ place }) => place)).toEqual([]);
  });

  it('has only examples that the schemas allow', () => {
    const broken = contents.flatMap(({ place, content: { schema, example, examples = {} } }) => {
      const values = [
        ...(example === undefined ? [] : [example]),
        ...Object.values(examples).map(({ value }) => value),
      ];
      return values.map((value) => `${place}: ${violations(document, schema, value)}`);
    });
    expect(broken.length).toBeGreaterThan(20);
    expect(broken.filter((line) => !line.endsWith(': '))).toEqual([]);
  });

  it('shares equal answers', () => {
    const written = operations.flatMap(({ operationId, responses: answers }) =>
      Object.entries(answers).flatMap(([status, answer]) =>
        answer.$ref ? [] : [[`${operationId} ${status}`, answer]],
      ),
    );
    const all = [...written, ...Object.entries(responses)] as [string, Answer][];
    const alike = [...Map.groupBy(all, ([, answer]) => JSON.stringify(answer)).values()];
    expect(alike.filter((group) => group.length > 1).map((group) => group.map(([name]) => name))).toEqual([]);
  });

  it('describes every schema', () => {
    const undescribed = Object.entries(schemas).filter(([, { description }]) => !description);
    expect(undescribed.map(([name]) => name)).toEqual([]);
  });

  it('describes every parameter, and every field of a body or of an event of the client', () => {
    const fields = new Map<string, Schema>();
    const visit = (schema: Schema, place: string): void => {
      const { properties = {}, anyOf = [], oneOf = [], items } = schema;
      if (schema.$ref !== undefined) {
        const name = nameOf(schema);
        if (![...fields.keys()].some((field) => field.startsWith(`${name}.`))) visit(schemas[name]!, name);
      }
      for (const [name, field] of Object.entries(properties)) {
        fields.set(`${place}.${name}`, field);
        visit(field, `${place}.${name}`);
      }
      for (const part of [...anyOf, ...oneOf, ...(items ? [items] : [])]) visit(part, place);
    };
    for (const { operationId, parameters = [], requestBody } of operations) {
      for (const parameter of parameters) fields.set(`${operationId} ${parameter.name}`, parameter);
      for (const { schema } of Object.values(requestBody?.content ?? {})) visit(schema, operationId);
    }
    for (const union of sent) visit(schemas[union]!, union);
    expect(fields.size).toBeGreaterThan(25);
    expect([...fields].filter(([, { description }]) => !description).map(([place]) => place)).toEqual([]);
  });
});

describe('asyncapi-compat.json', () => {
  it.each([
    [undefined, { host: '127.0.0.1:8484', protocol: 'ws' }],
    ['http://voice.example:8080', { host: 'voice.example:8080', protocol: 'ws' }],
    ['https://voice.example/base', { host: 'voice.example', protocol: 'wss', pathname: '/base' }],
  ])('is served with the address of PUBLIC_URL, %s', (publicUrl, address) => {
    const { servers } = JSON.parse(withSocketServer(realtimeDocument, publicUrl)) as { servers: object };
    expect(servers).toEqual({ service: { ...address, description: 'This service' } });
  });

  it.each(Object.entries(socket.components.messages))(
    'has an example of %s that its schema allows',
    (_name, message) => {
      expect(message.examples).not.toHaveLength(0);
      for (const { payload } of message.examples) expect(violations(socket, message.payload, payload)).toBe('');
    },
  );
});

it.each(['openapi.json', 'openapi-3.2.json', 'openapi-compat.json', 'asyncapi-compat.json'])(
  '%s has a name for every enum of several values',
  (file) => {
    const document = read(file) as Document;
    const nameless: string[] = [];
    const visit = (value: unknown, path: readonly string[]): void => {
      if (typeof value !== 'object' || value === null) return;
      const { enum: values } = value as { readonly enum?: unknown };
      const isNamed = path.length === 3 && path[1] === 'schemas';
      if (Array.isArray(values) && values.length > 1 && !isNamed) nameless.push(path.join('/'));
      for (const [key, part] of Object.entries(value)) if (!/^examples?$/.test(key)) visit(part, [...path, key]);
    };
    visit(document, []);
    expect(nameless).toEqual([]);
  },
);
