/**
 * The events of `GET /v1/realtime` as AsyncAPI 3. TypeSpec has no emitter for it, so the messages are generated from
 * the schemas of the OpenAPI document, which also contains the events.
 */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly description?: string;
  readonly properties?: { readonly type?: { readonly enum?: readonly string[] } };
  examples?: readonly object[];
}

interface Document {
  readonly info: { readonly version: string };
  readonly paths: { readonly '/realtime'?: { readonly get?: { readonly 'x-close-codes'?: object } } };
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const sides = {
  receive: ['RealtimeTranscriptionClientEvent', 'RealtimeClientEvent'],
  send: ['RealtimeTranscriptionServerEvent', 'RealtimeServerEvent'],
} as const;

/** Moves the examples of the events from their schemas to the messages. */
export function toAsyncApi({ info, paths, components: { schemas } }: Document): object {
  const inUnion = (union: string) => ((schemas[union] ?? {}) as Schema).anyOf?.map(nameOf) ?? [];
  const eventsOf = (unions: readonly string[]) => [...new Set(unions.flatMap(inUnion))];
  const events = Object.values(sides).flatMap(eventsOf);
  const operation = (action: keyof typeof sides, summary: string) => ({
    action,
    summary,
    security: [{ $ref: '#/components/securitySchemes/BearerAuth' }],
    channel: { $ref: '#/channels/realtime' },
    messages: eventsOf(sides[action]).map((name) => ({ $ref: `#/channels/realtime/messages/${name}` })),
  });
  return {
    // Modelina supports versions up to 3.0.0; from a 3.1.0 document, it generates a single type.
    asyncapi: '3.0.0',
    info: { title: 'Parlance, live sessions', version: info.version, license, description: about },
    defaultContentType: 'application/json',
    // AsyncAPI addresses cannot be relative. The service replaces this one with that of PUBLIC_URL, if set.
    servers: { service: { host: '127.0.0.1:8484', protocol: 'ws', description: 'This service' } },
    channels: {
      realtime: {
        address: '/v1/realtime',
        description: 'Opened by the operation connectRealtime of openapi-compat.json.',
        messages: Object.fromEntries(events.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
        bindings: { ws: { method: 'GET', query: { type: 'object', properties: { intent: { type: 'string' } } } } },
        'x-close-codes': paths['/realtime']?.get?.['x-close-codes'],
      },
    },
    operations: {
      receiveEvent: operation('receive', 'Events of the client.'),
      sendEvent: operation('send', 'Events of the service.'),
    },
    components: {
      messages: Object.fromEntries(events.map((name) => [name, messageOf(name, schemas[name] as Schema)])),
      schemas: withoutAnonymous(reachable(events, schemas)),
      securitySchemes: { BearerAuth: { type: 'http', scheme: 'bearer' } },
    },
  };
}

const license = { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' };

const about =
  'The JSON events of the WebSocket at /v1/realtime, one per text message. Schemas have the names of their counterparts in the OpenAI API; where a conversation has another event of the same type, its name contains ConversationSession.';

function messageOf(name: string, schema: Schema): object {
  const { description, properties, examples = [] } = schema;
  delete schema.examples;
  const type = properties?.type?.enum?.[0];
  const payload = { $ref: `#/components/schemas/${name}` };
  const events = examples.map((example) => ({ payload: example }));
  return { name: type, title: type, summary: description, payload, examples: events };
}

const nameOf = ({ $ref = '' }: Schema): string => $ref.split('/').at(-1) ?? '';

/** The named schemas and those that they refer to, in the order of the document. */
function reachable(names: readonly string[], schemas: Readonly<Record<string, object>>): object {
  const found = new Set<string>();
  const add = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    for (const [, inner = ''] of JSON.stringify(schemas[name]).matchAll(/"#\/components\/schemas\/(\w+)"/g)) add(inner);
  };
  names.forEach(add);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => found.has(name)));
}

/**
 * Rewrites schemas so that Modelina generates no anonymous type for each unnamed `enum` and `anyOf`. AsyncAPI 3 ignores
 * everything next to a reference, and knows only the older keyword for further properties. For an open record, both mean
 * the same.
 */
export function withoutAnonymous(schemas: object): object {
  const text = JSON.stringify(schemas, (_key, value: Schema | null) => {
    const { $ref, enum: values, anyOf: [schema, other] = [], ...rest } = value ?? {};
    if ($ref !== undefined) return { $ref };
    if (values?.length === 1) return { ...rest, const: values[0] };
    if (other?.type !== 'null') return value;
    if (schema?.$ref !== undefined) return { title: `Nullable${nameOf(schema)}`, ...value };
    return { ...schema, type: [schema?.type, 'null'], ...rest };
  });
  return JSON.parse(text.replaceAll('"unevaluatedProperties":', '"additionalProperties":')) as object;
}
