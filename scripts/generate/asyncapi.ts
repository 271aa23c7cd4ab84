/**
 * The events of `GET /v1/realtime` as AsyncAPI 3. TypeSpec has no emitter for it, so the messages are made from the
 * schemas of the OpenAPI document, which contains them too.
 */
interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly description?: string;
  readonly properties?: { readonly type?: { readonly enum?: readonly string[] } };
}

interface Document {
  readonly info: { readonly version: string };
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const sides = { receive: 'RealtimeClientEvent', send: 'RealtimeServerEvent' } as const;

export function toAsyncApi({ info, components: { schemas } }: Document): object {
  const eventsOf = (union: string) => ((schemas[union] ?? {}) as Schema).anyOf?.map(nameOf) ?? [];
  const events = Object.values(sides).flatMap(eventsOf);
  const operation = (action: keyof typeof sides, summary: string) => ({
    action,
    summary,
    security: [{ $ref: '#/components/securitySchemes/BearerAuth' }],
    channel: { $ref: '#/channels/realtime' },
    messages: eventsOf(sides[action]).map((name) => ({ $ref: `#/channels/realtime/messages/${name}` })),
  });
  return {
    asyncapi: '3.0.0',
    info: { title: 'Parlance, live transcription', version: info.version, license, description: about },
    defaultContentType: 'application/json',
    channels: {
      realtime: {
        address: '/v1/realtime',
        description: 'Opened by the operation connectRealtime of openapi-compat.json.',
        messages: Object.fromEntries(events.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
        bindings: { ws: { method: 'GET', query: { type: 'object', properties: { intent: { type: 'string' } } } } },
      },
    },
    operations: {
      receiveEvent: operation('receive', 'Events of the client.'),
      sendEvent: operation('send', 'Events of the service.'),
    },
    components: {
      messages: Object.fromEntries(events.map((name) => [name, messageOf(name, schemas[name] as Schema)])),
      schemas: reachable(events, schemas),
      securitySchemes: { BearerAuth: { type: 'http', scheme: 'bearer' } },
    },
  };
}

const license = { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' };

const about =
  'The JSON events of the WebSocket at /v1/realtime?intent=transcription, one per text message. Schemas have the names of their counterparts in the OpenAI API.';

function messageOf(name: string, { description, properties }: Schema): object {
  const type = properties?.type?.enum?.[0];
  return { name: type, title: type, summary: description, payload: { $ref: `#/components/schemas/${name}` } };
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
