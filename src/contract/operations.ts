/**
 * The contract as types. Handlers are typed by their operation: returning an undeclared status, body, media type,
 * header or event does not compile. The generic types take the generated `operations` of an API; the others refer to
 * the native API.
 */
import type { components, operations } from '../../generated/api.d.ts';
import type { Logger, Recording } from '../../engines/contract/index.ts';
import type { Connect } from './session.ts';

export type Schemas = components['schemas'];
export type ProblemCode = Schemas['ProblemCode'];
export type OperationId = keyof operations;

// ------------------------------------------------------------------------------------------------------ requests

interface AnyOperation {
  readonly parameters: { readonly query?: unknown; readonly path?: unknown; readonly header?: unknown };
  readonly responses: object;
}

/** One of the generated types named `operations`. */
export type AnyOperations<Ops> = { readonly [Op in keyof Ops]: AnyOperation };

type Parameters<Operation extends AnyOperation, Part extends 'query' | 'path' | 'header'> =
  NonNullable<Operation['parameters'][Part]> extends infer P ? ([P] extends [never] ? object : P) : never;

type Body<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? Content extends { 'application/json': infer Json }
    ? Json
    : Content extends { 'multipart/form-data': infer Form }
      ? Omit<Form, 'file'> & { file: Recording }
      : never
  : undefined;

/** The text fields of a form. Repeated fields are arrays. */
export type FormFields = Readonly<Record<string, string | readonly string[]>>;

/** The Host and Origin of a request. */
export interface RequestSource {
  readonly host: string;
  readonly origin: string | undefined;
}

/** A validated request. */
export interface RequestOf<Operation extends AnyOperation> {
  /** The request id, as in `X-Request-Id`. */
  readonly id: string;
  readonly query: Parameters<Operation, 'query'>;
  readonly path: Parameters<Operation, 'path'>;
  readonly headers: Parameters<Operation, 'header'>;
  readonly body: Body<Operation>;
  readonly source: RequestSource;
  /** Aborts when the client disconnects and when the service shuts down. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export type OperationRequest<Op extends OperationId> = RequestOf<operations[Op]>;

// ------------------------------------------------------------------------------------------------------- answers

/** Removes X-Request-Id, which the app sets, and the index signature of the generated type, which allows any name. */
type OwnHeaders<Headers> = {
  [Name in keyof Headers as string extends Name ? never : Name extends 'X-Request-Id' ? never : Name]: Headers[Name];
};

/** Omits the field if there are no headers, because an empty object type would allow any header. */
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

/**
 * Creates the last event of a failed stream. By default, the API's own format is used. `reason` is the thrown value.
 */
type FailedField<MediaType extends string, Event> = MediaType extends 'text/event-stream'
  ? { readonly failed?: (problem: Schemas['Problem'], reason: unknown) => Event }
  : object;

type AnswerWith<Status extends number, Response> = Response extends { headers: infer Headers; content: infer Content }
  ? {
      [MediaType in keyof Content & string]: {
        readonly status: Status;
        readonly mediaType: MediaType;
        readonly body: BodyOf<MediaType, Content[MediaType]>;
      } & FailedField<MediaType, Content[MediaType]> &
        HeadersField<Headers>;
    }[keyof Content & string]
  : Response extends { headers: infer Headers }
    ? { readonly status: Status; readonly mediaType: typeof noBody; readonly body: undefined } & HeadersField<Headers>
    : never;

/** The media type of an answer without a body. */
export const noBody = '';

/** Every response that the contract declares for an operation. */
export type AnswerOf<Operations extends AnyOperations<Operations>, Op extends keyof Operations> = {
  [Status in keyof Operations[Op]['responses'] & number]: AnswerWith<Status, Operations[Op]['responses'][Status]>;
}[keyof Operations[Op]['responses'] & number];

export type Answer<Op extends OperationId> = AnswerOf<operations, Op>;

declare const operation: unique symbol;

/** An answer that `answer` has type-checked. */
export type AnsweredOf<Operations extends AnyOperations<Operations>, Op extends keyof Operations> = AnswerOf<
  Operations,
  Op
> & { readonly [operation]: readonly [Operations, Op] };

export type Answered<Op extends OperationId> = AnsweredOf<operations, Op>;

/**
 * Every handler returns its answer through this function: TypeScript rejects excess properties in arguments, but not in
 * the return value of an async function.
 */
export function answer<Operations extends AnyOperations<Operations>, Op extends keyof Operations>(
  declared: AnswerOf<Operations, Op>,
): AnsweredOf<Operations, Op> {
  return declared as AnsweredOf<Operations, Op>; // the mark is only a type
}

/** An answer from any operation, in the form that the app sends. */
export interface AnyAnswer {
  readonly status: number;
  readonly mediaType: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
  readonly failed?: (problem: Schemas['Problem'], reason: unknown) => unknown;
  /** True if another front has already encoded the body. */
  readonly isForwarded?: boolean;
}

/**
 * A handler returns an answer or throws a `ProblemError`, an engine's `EngineError` or the signal's reason. The event
 * stream of its answer may throw the same errors, which the app sends as the last event.
 */
export type HandlerOf<Operations extends AnyOperations<Operations>, Op extends keyof Operations, Services> = (
  request: RequestOf<Operations[Op]>,
  services: Services,
) => Promise<AnsweredOf<Operations, Op>>;

export type Handler<Op extends OperationId, Services> = HandlerOf<operations, Op, Services>;

// ----------------------------------------------------------------------------------------------------- operations

/** The directory for the file of a form, and the maximum size of the file. Disposed when the request ends. */
export interface Upload extends AsyncDisposable {
  /** A private directory. */
  readonly path: string;
  readonly maxBytes: number;
  /** Reserves bytes in the disk budget before they are written. Throws `storage-full`. */
  readonly account: { take(bytes: number): void };
}

/** The daily budget of an API key that an operation charges. */
export type Budget = 'audio' | 'tokens';

/**
 * The kind of item that `id` in an operation's path identifies. The item is on the disk of the front that created it.
 */
export type Owned = 'clip' | 'transcription';

/** The implementation of an operation. */
export interface OperationDefinition<Handle, Services> {
  readonly handle: Handle;
  /** Operation ids of the native contract. An API key needs permission for at least one of them. */
  readonly permissions: readonly OperationId[];
  readonly budget?: Budget;
  /**
   * In a fleet, `handle` always runs on the front that has the item named by `id` in the path, whichever front received
   * the request.
   */
  readonly owned?: Owned;
  /** Opens a session if the request upgrades to a WebSocket. `handle` answers all other requests. */
  readonly connect?: Connect<Services>;
  /** Throws to reject the request before its body is read. */
  readonly beforeBody?: (services: Services) => void | Promise<void>;
  /**
   * Throws to reject a form before its file is stored. `fields` are the text fields that precede the file, not yet
   * validated.
   */
  readonly beforeFile?: (fields: FormFields, services: Services) => void | Promise<void>;
  /**
   * Opens the directory for the file. Default: a directory that belongs to the request, with a limit of 25 MB.
   * `declared` is the Content-Length.
   */
  readonly upload?: (declared: number | undefined, services: Services) => Promise<Upload>;
  /** Returns a hint to add to the error message for a file that is too large. */
  readonly forLarger?: (services: Services) => string | undefined;
}

/** One definition per operation. A table that lacks one does not compile. */
export type OperationTableOf<Operations extends AnyOperations<Operations>, Services> = {
  readonly [Op in keyof Operations]: OperationDefinition<HandlerOf<Operations, Op, Services>, Services>;
};

export type OperationTable<Services> = OperationTableOf<operations, Services>;
