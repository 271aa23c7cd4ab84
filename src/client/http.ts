/** Sends the requests of the contract. */
import type { paths } from './contract.ts';
import { bodyOf, jsonOf } from './answers.ts';
import type { Form } from './form.ts';
import type { Shape } from './shapes.ts';
import { strict, type Fetch } from './transport.ts';

type Method = 'get' | 'post' | 'delete';

/** The paths that support the method. */
type PathOf<M extends Method> = {
  [Path in keyof paths]: paths[Path][M] extends { readonly responses: unknown } ? Path : never;
}[keyof paths];

/** The JSON of a successful response. */
type JsonOf<Operation> = Operation extends { readonly responses: infer Responses }
  ? InContent<Responses[keyof Responses & (200 | 201 | 202)]>
  : never;
type InContent<Response> = Response extends { readonly content: { readonly 'application/json': infer Json } }
  ? Json
  : never;

export interface Call {
  readonly signal?: AbortSignal | undefined;
  /** The id in the path. */
  readonly id?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request body, sent as JSON. */
  readonly json?: object;
  readonly form?: Form;
  /** Overrides the `fetch` of the client. */
  readonly fetch?: Fetch | undefined;
}

export interface HttpOptions {
  /** URL of the service, with a trailing slash. */
  readonly root: string;
  readonly apiKey: string | undefined;
  readonly fetch: Fetch;
}

export function createHttp({ root, apiKey, fetch }: HttpOptions) {
  /** `accept`: see `strict`; undefined for a response without a body. */
  async function send<M extends Method>(
    method: M,
    path: PathOf<M>,
    accept: string | undefined,
    { signal, id = '', query = {}, headers, json, form, fetch: ownFetch = fetch }: Call = {},
  ): Promise<Response> {
    const search = new URLSearchParams(query).toString();
    const contentType = json ? 'application/json' : form?.contentType;
    const request = new Request(
      `${root}api/v1${path.replace('{id}', encodeURIComponent(id))}${search === '' ? '' : `?${search}`}`,
      {
        method,
        headers: {
          ...(contentType !== undefined && { 'Content-Type': contentType }),
          ...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
          ...(accept !== undefined && { Accept: accept }),
          ...headers,
        },
        ...(signal && { signal }),
        ...(json && { body: JSON.stringify(json) }),
        ...(form && { body: form.body }),
      },
    );
    return strict(ownFetch)(request);
  }

  return {
    send,
    async json<M extends Method, Path extends PathOf<M>>(
      method: M,
      path: Path,
      shape: Shape,
      call: Call = {},
    ): Promise<JsonOf<paths[Path][M]>> {
      return jsonOf(await send(method, path, 'application/json', call), shape, call.signal);
    },
    /** The body of an event stream. */
    async events<M extends Method>(method: M, path: PathOf<M>, call: Call): Promise<ReadableStream<Uint8Array>> {
      return bodyOf(await send(method, path, 'text/event-stream', call));
    },
  };
}
