/**
 * Routing and validation by the contract: the only file that knows openapi-backend. A request goes through routing,
 * auth, its body, validation and its handler, in this order; in sandbox mode it may prefer another answer after routing.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { OpenAPIBackend, type Context, type Document, type Request } from 'openapi-backend';
import type { Logger } from '../../engines/contract/index.ts';
import { apiRoot, contract, type OperationObject } from '../contract/document.ts';
import { knownParts } from '../contract/known-parts.ts';
import { largestBody } from '../contract/body-limit.ts';
import { toViolations } from '../contract/violations.ts';
import type { JsonBody, JsonRules } from './json-body.ts';
import type { AnyAnswer, Handlers, OperationId } from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';

/** A request as the app hands it over: routed by its head, its body still on the way. */
export interface Incoming {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string | string[] | undefined>>;
  readonly headers: IncomingHttpHeaders;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Throws `unauthorized`; else the request has its caller. */
  authorize(): void;
  readJson(rules: JsonRules): Promise<JsonBody>;
  readForm(): Promise<{ readonly file: object; readonly fields: Readonly<Record<string, unknown>> }>;
  /** Told as soon as it is known, for the log and for the check of the answer. */
  routedTo(operationId: OperationId): void;
}

export interface BackendOptions<Services> {
  readonly handlers: Handlers<Services>;
  readonly services: Services;
  /** Refuses an operation before its body is read, by throwing. */
  readonly admit: (operationId: OperationId) => void;
  /** An answer that the head of a request asks for, before anything else is looked at; undefined: none. */
  readonly prefer?: ((operationId: OperationId, incoming: Incoming) => AnyAnswer | undefined) | undefined;
}

export type Respond = (incoming: Incoming) => Promise<AnyAnswer>;

/** Far more than the largest valid chat has: 307 and 3. */
const structure = { tokens: 20_000, depth: 32 };

/** Problem.errors of the contract has at most so many. */
const mostViolations = 100;

/** Of larger bodies only the first violation is told: all errors of a hostile body can exhaust the memory. */
const explainBytes = 65_536;

/** What the hooks of openapi-backend share: the request, and the very object that will be validated. */
interface Exchange {
  readonly incoming: Incoming;
  readonly request: Request;
  bodyBytes: number;
}

export async function createBackend<Services>(options: BackendOptions<Services>): Promise<Respond> {
  const explainer = await openApi({ allErrors: true });
  const api = await openApi(
    { allErrors: false },
    {
      notFound: ({ request }) => {
        throw new ProblemError('not-found', `There is nothing at ${request.path}; /openapi.json says what there is.`);
      },
      methodNotAllowed: (context) => {
        throw methodNotAllowed(context);
      },
      postSecurityHandler: async (context, exchange) => {
        const operation = context.operation as unknown as RoutedOperation;
        const { incoming } = exchange;
        incoming.routedTo(operation.operationId);
        // The security of an operation is `{}` or a bearer token; a refused token would still pass as `{}`.
        if (operation.security?.some((scheme) => 'BearerAuth' in scheme)) incoming.authorize();
        options.admit(operation.operationId);
        exchange.request.query = context.request.query = declaredQuery(operation, incoming);
        const { validated, body, bytes } = await readBody(operation, incoming);
        exchange.request.body = validated;
        exchange.bodyBytes = bytes;
        context.request.requestBody = body;
      },
      validationFail: ({ operation, validation }, { request, bodyBytes }) => {
        const all = bodyBytes <= explainBytes ? explainer.validator.validateRequest(request, operation) : validation;
        throw invalidRequest(all.errors ?? []);
      },
      ...operationHandlers(options),
    },
  );
  return async (incoming) => {
    const { method, path, headers } = incoming;
    if (!isDecodable(path)) throw new ProblemError('not-found', 'The address is not valid percent-encoding.');
    const request: Request = { method, path, headers: headers as Request['headers'] };
    const preferred = preferredAnswer(request, incoming);
    if (preferred) return preferred;
    return (await api.handleRequest(request, { incoming, request, bodyBytes: 0 } satisfies Exchange)) as AnyAnswer;
  };

  function preferredAnswer(request: Request, incoming: Incoming): AnyAnswer | undefined {
    if (!options.prefer) return undefined;
    const operation = api.matchOperation(request) as unknown as RoutedOperation | undefined;
    const preferred = operation && options.prefer(operation.operationId, incoming);
    if (preferred) incoming.routedTo(operation.operationId);
    return preferred;
  }
}

function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false; // URIError
  }
}

type Api = OpenAPIBackend;
type HandlerMap = Record<string, (context: Context, exchange: Exchange) => unknown>;

async function openApi(ajvOptions: Options, handlers?: HandlerMap): Promise<Api> {
  const cache = new Map<unknown, Ajv2020>();
  const api: Api = new OpenAPIBackend({
    definition: structuredClone(contract) as unknown as Document, // it edits the document
    apiRoot,
    strict: true,
    quick: true,
    ...(handlers && { handlers }),
    // One Ajv a context, of the dialect that OpenAPI 3.1 uses, instead of one a validator.
    customizeAjv: (_ajv, given, context) => {
      const ajv = cache.get(context) ?? new Ajv2020({ ...given, ...ajvOptions, strict: false, validateSchema: false });
      if (!cache.has(context)) addFormats.default(ajv);
      cache.set(context, ajv);
      // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the dialect's own class
      return ajv;
    },
  });
  await api.init();
  lightenRouter(api);
  lightenValidator(api);
  if (handlers) api.validator.preCompileRequestValidators();
  return api;
}

/**
 * The router rebuilds its list of operations and their patterns several times a request, though the document never
 * changes; and as often it parses the whole request, of which only parameters need it.
 */
function lightenRouter({ router }: Api): void {
  const operations = router.getOperations();
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
  const placeOf = (method: string, path: string) => `${method.toLowerCase()} ${path}`;
  const withoutParameters = operations.filter(({ path }) => !path.includes('{'));
  const byPlace = new Map(withoutParameters.map((one) => [placeOf(one.method, `${apiRoot}${one.path}`), one]));
  const match = router.matchOperation.bind(router);
  const parse = router.parseRequest.bind(router);
  router.getOperations = () => operations;
  router.getOperation = (operationId) => byId.get(operationId);
  router.matchOperation = ((request: Request, strict: boolean) =>
    byPlace.get(placeOf(request.method, request.path)) ?? match(request, strict)) as typeof match;
  router.parseRequest = (request, operation) =>
    operation?.parameters?.length
      ? parse(request, operation)
      : { ...request, params: {}, query: {}, cookies: {}, requestBody: request.body as unknown };
}

/** Without parameters only the body is left to validate; the validator would first look for each kind of parameter. */
function lightenValidator({ validator }: Api): void {
  const validate = validator.validateRequest.bind(validator);
  validator.validateRequest = (request, operation) => {
    if (typeof operation !== 'object' || operation.operationId === undefined || operation.parameters?.length) {
      return validate(request, operation);
    }
    const parts = { path: {}, query: {}, header: request.headers, cookie: {}, requestBody: request.body as unknown };
    const validators = validator.getRequestValidatorsForOperation(operation.operationId);
    const errors = validators.flatMap((check) => (check(parts), check.errors ?? []));
    return { valid: errors.length === 0, errors: errors.length === 0 ? null : errors };
  };
}

function operationHandlers<Services>({ handlers, services }: BackendOptions<Services>): HandlerMap {
  const call =
    (handler: unknown) =>
    (context: Context, { incoming }: Exchange) => {
      const { query, params: path, requestBody: body } = context.request as unknown as Record<string, unknown>;
      const { id, signal, log } = incoming;
      const headers = declaredHeaders(context.operation as unknown as RoutedOperation, incoming);
      const request = { id, query, path, headers, body, signal, log };
      // The contract has validated it; the map of handlers has typed it.
      return (handler as (request: unknown, services: Services) => Promise<AnyAnswer>)(request, services);
    };
  return Object.fromEntries(Object.entries(handlers).map(([operationId, handler]) => [operationId, call(handler)]));
}

type RoutedOperation = OperationObject & { readonly operationId: OperationId };

function declaredQuery({ parameters = [] }: OperationObject, { query }: Incoming): Record<string, string | string[]> {
  const known = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  return Object.fromEntries(
    known.flatMap((name) => {
      const value = query[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}

/** By their names in the contract. */
function declaredHeaders({ parameters = [] }: OperationObject, { headers }: Incoming): Record<string, unknown> {
  const known = parameters.filter((parameter) => parameter.in === 'header');
  return Object.fromEntries(known.map(({ name }) => [name, headers[name.toLowerCase()]]));
}

interface ReadBody {
  /** What the schema is held against; a stored recording is no JSON and has had its own checks. */
  readonly validated?: object;
  readonly body?: object;
  readonly bytes: number;
}

async function readBody(operation: RoutedOperation, incoming: Incoming): Promise<ReadBody> {
  const [[mediaType, content] = []] = Object.entries(operation.requestBody?.content ?? {});
  if (mediaType === undefined || content === undefined) return { bytes: 0 };
  const encoding = incoming.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new ProblemError('unsupported-media-type', `The body must not be compressed; it was sent as ${encoding}.`);
  }
  const sent = (incoming.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (sent !== mediaType) {
    const detail = `The body must be ${mediaType}; it was sent as ${sent === '' ? 'nothing' : String(sent)}.`;
    throw new ProblemError('unsupported-media-type', detail);
  }
  if (mediaType === 'multipart/form-data') {
    const { file, fields } = await incoming.readForm();
    return { validated: fields, body: { ...fields, file }, bytes: 0 };
  }
  const { schema } = content;
  const prune = (value: object) => knownParts(value, schema);
  const { value, bytes } = await incoming.readJson({ limit: largestBody(schema), structure, prune });
  return { validated: value, body: value, bytes };
}

function methodNotAllowed({ api, request: { path, method } }: Context): ProblemError {
  const known = ['get', 'post'].filter((name) => api.matchOperation({ path, method: name, headers: {} }));
  const allow = known.flatMap((name) => (name === 'get' ? ['GET', 'HEAD'] : [name.toUpperCase()])).join(', ');
  const detail = `${path} knows ${allow}, not ${method.toUpperCase()}.`;
  return new ProblemError('method-not-allowed', detail, { headers: { Allow: allow } });
}

function invalidRequest(errors: Parameters<typeof toViolations>[0]): ProblemError {
  const violations = toViolations(errors);
  const [first] = violations;
  const more = violations.length > 1 ? `, and ${String(violations.length - 1)} more` : '';
  const detail = first
    ? `${first.pointer.slice(1) || first.in} ${first.detail}${more}`
    : 'The request breaks the contract.';
  return new ProblemError('invalid-request', detail, { errors: violations.slice(0, mostViolations) });
}
