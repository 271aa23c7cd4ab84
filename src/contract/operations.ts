/**
 * The contract as types. Handlers are typed by their operation: an undeclared status, body, media type, header or event
 * does not compile.
 */
import type { components, operations } from '../../generated/api.d.ts';
import type { Logger, Recording } from '../../engines/contract/index.ts';

export type Schemas = components['schemas'];
export type ProblemCode = Schemas['ProblemCode'];
export type OperationId = keyof operations;

// ------------------------------------------------------------------------------------------------------ requests

type Parameters<Op extends OperationId, Part extends 'query' | 'path' | 'header'> =
  NonNullable<operations[Op]['parameters'][Part]> extends infer P ? ([P] extends [never] ? object : P) : never;

type Body<Op extends OperationId> = operations[Op] extends { requestBody: { content: infer Content } }
  ? Content extends { 'application/json': infer Json }
    ? Json
    : Content extends { 'multipart/form-data': infer Form }
      ? Omit<Form, 'file'> & { file: Recording }
      : never
  : undefined;

/** A validated request. */
export interface OperationRequest<Op extends OperationId> {
  /** The request id, as in `X-Request-Id`. */
  readonly id: string;
  readonly query: Parameters<Op, 'query'>;
  readonly path: Parameters<Op, 'path'>;
  readonly headers: Parameters<Op, 'header'>;
  readonly body: Body<Op>;
  /** Aborts when the client disconnects and when the service shuts down. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

// ------------------------------------------------------------------------------------------------------- answers

type Responses<Op extends OperationId> = operations[Op]['responses'];
type StatusOf<Op extends OperationId> = keyof Responses<Op> & number;

/** Without X-Request-Id, which the app sets, and without the generated type's index signature, which allows any name. */
type OwnHeaders<Headers> = {
  [Name in keyof Headers as string extends Name ? never : Name extends 'X-Request-Id' ? never : Name]: Headers[Name];
};

/** An empty object type would allow any header. */
type HeadersField<Headers> = [keyof OwnHeaders<Headers>] extends [never]
  ? { readonly headers?: Readonly<Record<string, never>> }
  : object extends OwnHeaders<Headers>
    ? { readonly headers?: OwnHeaders<Headers> }
    : { readonly headers: OwnHeaders<Headers> };

type BodyOf<MediaType extends string, Content> = MediaType extends 'text/event-stream'
  ? AsyncIterable<Content>
  : MediaType extends `audio/${string}`
    ? AsyncIterable<Uint8Array>
    : Content;

type AnswerWith<Status extends number, Response> = Response extends { headers: infer Headers; content: infer Content }
  ? {
      [MediaType in keyof Content & string]: {
        readonly status: Status;
        readonly mediaType: MediaType;
        readonly body: BodyOf<MediaType, Content[MediaType]>;
      } & HeadersField<Headers>;
    }[keyof Content & string]
  : never;

/** Every response that the contract declares for an operation. */
export type Answer<Op extends OperationId> = {
  [Status in StatusOf<Op>]: AnswerWith<Status, Responses<Op>[Status]>;
}[StatusOf<Op>];

declare const operation: unique symbol;

/** An answer checked by `answer`. */
export type Answered<Op extends OperationId> = Answer<Op> & { readonly [operation]: Op };

/**
 * Every handler returns its answer through this function: TypeScript rejects excess properties in arguments, but not in
 * the return value of an async function.
 */
export function answer<Op extends OperationId>(declared: Answer<Op>): Answered<Op> {
  return declared;
}

/** An answer of any operation, as the app sends it. */
export interface AnyAnswer {
  readonly status: number;
  readonly mediaType: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
}

/**
 * A handler returns an answer or throws a `ProblemError`, an engine's `EngineError` or the signal's reason. So can the
 * event stream of its answer: the app sends that as the last event.
 */
export type Handler<Op extends OperationId, Services> = (
  request: OperationRequest<Op>,
  services: Services,
) => Promise<Answered<Op>>;

/** One handler per operation; a missing one does not compile. */
export type Handlers<Services> = { readonly [Op in OperationId]: Handler<Op, Services> };
