/** Other documents as OpenAPI, so that one tool judges all: what a client sends is a request, what it receives an answer. */
import { withoutAnonymous } from '../../scripts/generate/asyncapi.ts';

interface Content {
  readonly $ref: string;
}

interface AsyncApi {
  readonly asyncapi: string;
  readonly operations: Readonly<Record<string, { readonly action: string; readonly messages: readonly Content[] }>>;
  readonly components: {
    readonly messages: Readonly<Record<string, { readonly name: string; readonly payload: Content }>>;
    readonly schemas: object;
  };
}

interface JsonSchema {
  readonly definitions?: Readonly<Record<string, object>>;
}

export function asOpenApi(document: object): object {
  if ('openapi' in document) return document;
  return 'asyncapi' in document ? eventsAsOpenApi(document as AsyncApi) : settingsAsOpenApi(document);
}

function eventsAsOpenApi({ operations, components: { messages, schemas } }: AsyncApi): object {
  const eventsOf = (side: string) => {
    const names = Object.values(operations).flatMap((operation) =>
      operation.action === side ? operation.messages : [],
    );
    const events = names.flatMap(({ $ref }) => messages[$ref.split('/').at(-1) ?? ''] ?? []);
    // Of the events of one type, the mapping has the first: that of a transcription session.
    const mapping = Object.fromEntries(events.toReversed().map(({ name, payload }) => [name, payload.$ref]));
    return { oneOf: events.map(({ payload }) => payload), discriminator: { propertyName: 'type', mapping } };
  };
  const unions = { ClientEvent: eventsOf('receive'), ServiceEvent: eventsOf('send') };
  return openApi(requestOf('ClientEvent', 'ServiceEvent'), { ...withoutAnonymous(schemas), ...unions });
}

function settingsAsOpenApi({ definitions = {}, ...schema }: JsonSchema): object {
  const text = JSON.stringify(openApi(requestOf('settings'), { ...definitions, settings: schema }));
  return JSON.parse(text.replaceAll('"#/definitions/', '"#/components/schemas/')) as object;
}

function requestOf(request: string, answer?: string): object {
  const bodyOf = (name: string) => ({
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  });
  return { requestBody: bodyOf(request), ...(answer && { responses: { 200: bodyOf(answer) } }) };
}

function openApi(post: object, schemas: object): object {
  const paths = { '/': { post } };
  return { openapi: '3.1.0', info: { title: '', version: '' }, paths, components: { schemas } };
}
