/**
 * The steps of a request: Routed -> Authenticated -> Admitted -> Read -> Valid -> answer. Each step takes the result of
 * the previous one. This is the only file that uses openapi-backend, which matches requests and validates them against
 * the contract.
 */
import { parse as parseQuery } from 'node:querystring';
import { setImmediate } from 'node:timers/promises';
import { Ajv2020, type ErrorObject, type Options as AjvOptions } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Document, OpenAPIBackend, Operation as OpenApiOperation, Request } from 'openapi-backend';
import { pause } from '../../lib/abort.ts';
import { ajvOptions } from '../../lib/ajv-options.ts';
import { liveScope, runInScope, type Key, type RequestScope } from '../request-scope.ts';
import { largestBody } from '../contract/body-limit.ts';
import type { Contract, OperationObject, Schema } from '../contract/document.ts';
import { knownParts } from '../contract/known-parts.ts';
import {
  noBody,
  type AnyAnswer,
  type AnyOperations,
  type OperationDefinition,
  type OperationTableOf,
} from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';
import type { Forward } from '../contract/forwarding.ts';
import { answerCheckOf, type CheckAnswer } from '../contract/response-validation.ts';
import type { Faults, Preferred } from '../contract/prefer.ts';
import type { Connecting, TextSocket } from '../contract/session.ts';
import { toViolations } from '../contract/violations.ts';
import type { SessionAccess } from '../keys/client-secrets.ts';
import { permits, requireOperation } from '../keys/permissions.ts';
import type { Allowance, Limits } from '../limits/limits.ts';
import { awaitFirstBytes } from './audio-body.ts';
import type { Access } from './access/auth.ts';
import { failureOf } from './failures.ts';
import { upgradedStatus, type IncomingRequest, type Respond } from './incoming-request.ts';
import type { RequestTarget } from './request-head.ts';
import type { Sessions } from './sessions.ts';

export interface RouterOptions<Operations extends AnyOperations<Operations>, Services> {
  readonly contract: Contract;
  readonly operations: OperationTableOf<Operations, Services>;
  readonly services: Services;
  readonly access: Pick<Access, 'authorize' | 'authorizeSession' | 'keyOf'>;
  readonly sessions: Pick<Sessions, 'open' | 'replace'>;
  /** The limits of API keys; absent in open mode. */
  readonly limits?: Limits | undefined;
  /**
   * Forwards requests to the front of the fleet that has the clip or transcription they name. With `here`, the router
   * answers only such requests, and answers them all itself. Undefined without a fleet.
   */
  readonly forward?: Forward | 'here' | undefined;
  /**
   * In sandbox mode, returns the answer and the faults that the client requests, regardless of the rest of the request.
   */
  readonly prefer?: ((operationId: string, request: IncomingRequest, query: string) => Preferred) | undefined;
  /** Validates every answer against the contract before it is sent. */
  readonly checkAnswers: boolean;
}

type StepOptions = Pick<RouterOptions<object, unknown>, 'contract' | 'services' | 'access' | 'limits'>;

/** Failures of HTTP itself. They may occur while a body is read, and no operation declares them. */
const httpFailures: ReadonlySet<string> = new Set(['malformed-request', 'headers-too-large']);

/**
 * Every step may end the request by throwing; the app then sends the answer. The first request compiles the contract.
 */
export function createRouter<Operations extends AnyOperations<Operations>, Services>(
  options: RouterOptions<Operations, Services>,
): Respond {
  const { contract, access, sessions, services, checkAnswers } = options;
  let opened: ContractApi | undefined;
  // Enabled in tests and development. Throws a `ContractViolation`; events of a stream are validated one by one.
  const checked = checkAnswers ? answerCheckOf(contract) : undefined;
  const check: CheckAnswer = (id, answer) => (answer.isForwarded ? answer : (checked?.(id, answer) ?? answer));

  return async (request, target) => {
    const api = (opened ??= await openContractApi(contract));
    const operation = route(request, target, api);
    const { id } = operation;
    const definition = options.operations[id as keyof Operations] as AnyDefinition; // the table guarantees the type
    if (options.forward === 'here' && !definition.owned) throw new ProblemError('not-found', 'No front has this.');
    const routed: Routed = { request, target, operation, definition };
    let faults: Faults | undefined;
    try {
      const preferred = options.prefer?.(id, request, target.query);
      faults = preferred?.faults;
      if (faults?.stall !== undefined) await pause(faults.stall * 1000, request.signal);
      if (preferred?.answer) {
        const { answer } = preferred;
        return { answer: check(id, await awaitFirstBytes(answer, request)), scope: request.scope, faults };
      }
      const authenticated = await authenticate(routed, options);
      const { scope } = authenticated;
      return { answer: check(id, await runInScope(scope, answerOf, authenticated, api)), scope, faults };
    } catch (error) {
      const { code, answer } = failureOf(error, request);
      return { answer: httpFailures.has(code) ? answer : check(id, answer), scope: request.scope, faults };
    }
  };

  async function answerOf(authenticated: Authenticated, api: ContractApi): Promise<AnyAnswer> {
    const { request, owner } = authenticated;
    if (owner) await sessions.replace(owner);
    const admitted = await admit(authenticated, options);
    const parameters = readParameters(admitted, api);
    const read: Read = { ...admitted, parameters, body: await readBody(admitted, options) };
    const valid = await validate(read, api);
    const answer = await (owner ? connect(authenticated, valid, owner) : handle(valid, authenticated));
    return await awaitFirstBytes(withLimits(answer, admitted), request);
  }

  async function handle(valid: Valid, { request: { method }, target, operation, definition }: Routed) {
    const { owned } = definition;
    if (!owned || typeof options.forward !== 'function') return definition.handle(valid, services);
    const { path, headers, signal } = valid;
    const { responses } = operation.object as unknown as OperationObject;
    const asked = { owned, method, target: `${target.path}?${target.query}`, headers, responses, signal };
    const answer = await options.forward({ ...asked, id: (path as { readonly id: string }).id });
    return answer ?? definition.handle(valid, services);
  }

  /** Takes a place as the last step, because it may be taken from another session. */
  async function connect(
    { definition, request }: Authenticated,
    { id, query, log }: Valid,
    owner: SessionAccess,
  ): Promise<AnyAnswer> {
    const { credential, session } = owner;
    const connecting = { id, query: query as Connecting['query'], session, log, checkAnswers };
    const run = await definition.connect?.(connecting, services);
    const { place, state, taken } = sessions.open(request, owner);
    const isAllowed = () => {
      if (!credential) return true;
      const key = access.keyOf(credential.tokenDigest);
      const { operations = definition.permissions, model } = state() ?? {};
      return key !== undefined && permits(key, operations, model);
    };
    const body = { run: (socket: TextSocket) => run?.(socket, place), isAllowed, taken };
    return { status: upgradedStatus, mediaType: noBody, body };
  }
}

// ---------------------------------------------------------------------------------------------------------- route

interface Routed {
  readonly request: IncomingRequest;
  readonly target: RequestTarget;
  readonly operation: Operation;
  readonly definition: AnyDefinition;
}

type AnyDefinition = OperationDefinition<(request: unknown, services: unknown) => Promise<AnyAnswer>, unknown>;

/**
 * Throws `not-found` and `method-not-allowed`. One trailing slash is ignored. Empty segments never match, not even as
 * the value of a parameter; under /v1, openai/paths has removed them.
 */
function route({ method, record }: IncomingRequest, { path }: RequestTarget, { match, page }: ContractApi): Operation {
  if (!isDecodable(path)) throw new ProblemError('not-found', 'The path has invalid percent-encoding.');
  // openapi-backend ignores any number of trailing slashes, so `/tts/clips//` would match `/tts/clips`.
  if (path.includes('//')) throw new ProblemError('not-found', 'The path has an empty segment.');
  const operation = match(method, path);
  if (operation) {
    record.operation = operation.id;
    return operation;
  }
  const known = ['GET', 'POST', 'DELETE'].filter((other) => match(other, path));
  if (known.length === 0) {
    throw new ProblemError('not-found', `No operation at ${path}; ${page} lists them.`);
  }
  const allow = known.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])).join(', ');
  const detail = `${method} is not supported; allowed: ${allow}`;
  throw new ProblemError('method-not-allowed', detail, { headers: { Allow: allow } });
}

function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false; // decodeURIComponent threw a URIError
  }
}

// --------------------------------------------------------------------------------------------------- authenticate

interface Authenticated extends Routed {
  /** Undefined unless the request opens a session. */
  readonly owner: SessionAccess | undefined;
  /** Includes the API key, if there is one. All later steps run in this scope. */
  readonly scope: RequestScope;
}

/** An operation's security is `{}` (none) or a bearer token. A rejected token must not be accepted as `{}`. */
async function authenticate(routed: Routed, { access, limits }: StepOptions): Promise<Authenticated> {
  const { operation, definition, request } = routed;
  const { headers, scope, record } = request;
  const isSession = definition.connect && request.upgraded;
  const owner = isSession ? await access.authorizeSession(headers, scope.caller) : undefined;
  const credential = operation.takesToken && !owner ? access.authorize(headers, scope.caller) : owner?.credential;
  if (!credential) return { ...routed, owner, scope };
  const { key, tokenDigest } = credential;
  record.key = key.name;
  const chargeFor = (current: Key) => limits?.chargeFor(current, definition.budget);
  const ofKey = { ...scope, key, tokenDigest, caller: key.name, charge: chargeFor(key) };
  return { ...routed, owner, scope: owner ? liveScope(ofKey, () => access.keyOf(tokenDigest), chargeFor) : ofKey };
}

// ---------------------------------------------------------------------------------------------------------- admit

interface Admitted extends Authenticated {
  /** Undefined if no limit applies to the request. */
  readonly allowance: Allowance | undefined;
}

/**
 * Runs before the body is read. Throws `operation-not-allowed`, the errors of `beforeBody`, and errors for exceeded
 * limits.
 */
async function admit(authenticated: Authenticated, { limits, services }: StepOptions): Promise<Admitted> {
  const { request, definition, scope } = authenticated;
  requireOperation(...definition.permissions);
  await definition.beforeBody?.(services);
  const budget = definition.connect ? undefined : definition.budget; // the type of the session decides if it needs one
  const allowance = scope.key && (await limits?.allow(scope.key, budget, request));
  return { ...authenticated, allowance };
}

function withLimits(answer: AnyAnswer, { allowance }: Admitted): AnyAnswer {
  return allowance ? { ...answer, headers: { ...answer.headers, ...allowance.headers() } } : answer;
}

// ----------------------------------------------------------------------------------------------------------- read

interface Read extends Admitted {
  readonly parameters: RequestParameters;
  readonly body: ReadBody;
}

interface ReadBody {
  /** The JSON value, or the text fields of the form. */
  readonly value?: object;
  /** A stored recording, already validated. */
  readonly file?: object;
  /** Size of the JSON as sent, or of the text fields. */
  readonly bytes: number;
}

const emptyBody: ReadBody = { bytes: 0 };

/**
 * Throws `unsupported-media-type`, `malformed-body`, errors for the size or speed of the body, and the errors of
 * `beforeFile`.
 */
async function readBody(
  { request: { headers, body }, operation: { content }, definition, scope }: Admitted,
  { contract, services }: StepOptions,
): Promise<ReadBody> {
  if (!content) return emptyBody;
  const { mediaType, schema } = content;
  checkMediaType(headers, mediaType);
  if (mediaType === 'multipart/form-data') {
    const { upload } = definition;
    const { file, fields, bytes } = await body.form({
      bounds: contract.form,
      lists: arraysOf(schema, contract),
      // Restores the scope, because bodies are read in the scope of their connection.
      beforeFile: async (preceding) => runInScope(scope, () => definition.beforeFile?.(preceding, services)),
      ...(upload && { upload: (declared) => upload(declared, services) }),
      hint: definition.forLarger?.(services),
    });
    return { value: fields, file, bytes };
  }
  const { structure } = contract.json;
  const limit = largestBody(schema, contract);
  return body.json({ limit, structure, prune: (value) => knownParts(value, schema, contract) });
}

/** Returns the names of the properties that are arrays. */
function arraysOf(schema: Schema, { resolve }: Contract): string[] {
  const { properties = {} } = schema.$ref === undefined ? schema : resolve(schema.$ref);
  return Object.keys(properties).filter((name) => properties[name]?.type === 'array');
}

function checkMediaType(headers: IncomingRequest['headers'], expected: string): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    const detail = `Unsupported Content-Encoding: ${encoding}; send the body uncompressed.`;
    throw new ProblemError('unsupported-media-type', detail);
  }
  const sent = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (sent === expected) return;
  const problem = sent === '' ? 'Content-Type is missing' : `Unsupported Content-Type: ${String(sent)}`;
  throw new ProblemError('unsupported-media-type', `${problem}; expected ${expected}.`);
}

interface RequestParameters {
  readonly path: object;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
}

const noParameters: RequestParameters = { path: {}, query: {}, headers: {} };

/** Returns the declared parameters, with headers by their declared names. An empty query parameter counts as absent. */
function readParameters(routed: Routed, api: ContractApi): RequestParameters {
  const { request, target, operation } = routed;
  const { hasParameters, queryNames, headerNames } = operation;
  if (!hasParameters) return noParameters;
  const given = parseQuery(target.query);
  const query = queryNames.filter((name) => given[name] !== undefined && given[name] !== '');
  return {
    path: api.pathParameters(routed),
    query: Object.fromEntries(query.map((name) => [name, given[name]])),
    headers: Object.fromEntries(headerNames.map((name) => [name, request.headers[name.toLowerCase()]])),
  };
}

// ------------------------------------------------------------------------------------------------------- validate

/** The argument of a handler: `RequestOf` of its operation. */
type Valid = ReturnType<typeof toValid>;

/** maxItems of Problem.errors in the contract. */
const maxViolations = 100;

/**
 * Above this size, only the first violation is reported, because collecting all errors of a malicious body can exhaust
 * memory.
 */
const explainBytes = 65_536;

/** Rejects with `invalid-request`. */
async function validate(read: Read, api: ContractApi): Promise<Valid> {
  const errors = api.errorsOf(read);
  if (errors.length === 0) return toValid(read);
  const explains = api.namesAllViolations && read.body.bytes <= explainBytes;
  const violations = toViolations(explains ? await api.allErrorsOf(read) : errors);
  const [first] = violations;
  const more = violations.length > 1 ? `, and ${String(violations.length - 1)} more` : '';
  const detail = first
    ? `${first.pointer.slice(1) || first.in} ${first.detail}${more}`
    : 'The request violates the contract.';
  throw new ProblemError('invalid-request', detail, { errors: violations.slice(0, maxViolations) });
}

function toValid({ request, target, parameters, body: { value, file } }: Read) {
  const { id, headers, signal, log } = request;
  const source = { host: target.host, origin: headers.origin };
  return { id, source, ...parameters, body: file ? { ...value, file } : value, signal, log };
}

// ------------------------------------------------------------------------------------------------ openapi-backend

/** The properties of an operation that the steps need. */
interface Operation {
  readonly id: string;
  /** The operation object of openapi-backend. */
  readonly object: OpenApiOperation & { readonly operationId: string };
  readonly takesToken: boolean;
  readonly content: { readonly mediaType: string; readonly schema: Schema } | undefined;
  readonly hasParameters: boolean;
  readonly queryNames: readonly string[];
  readonly headerNames: readonly string[];
}

interface ContractApi extends Pick<Contract, 'page' | 'namesAllViolations'> {
  readonly operationIds: readonly string[];
  /** Compiles the validators of an operation before its first request. */
  readonly compile: (operationId: string) => void;
  readonly match: (method: string, path: string) => Operation | undefined;
  readonly pathParameters: (routed: Routed) => object;
  /** Returns the first error of each validator; empty if the request is valid. */
  readonly errorsOf: (read: Read) => readonly ErrorObject[];
  readonly allErrorsOf: (read: Read) => Promise<readonly ErrorObject[]>;
}

const openedApis = new WeakMap<Contract, Promise<ContractApi>>();

/**
 * Compiles the validators of all operations, one per iteration of the event loop, so that the first requests are not
 * slow. Takes 100 ms in the background.
 */
export async function compileValidators(contract: Contract): Promise<void> {
  const { operationIds, compile } = await openContractApi(contract);
  for (const id of operationIds) {
    compile(id);
    await setImmediate();
  }
}

/** Opens a contract only once per process, even with several services. */
function openContractApi(contract: Contract): Promise<ContractApi> {
  const forget = (error: unknown) => {
    openedApis.delete(contract); // the process may have been out of file descriptors
    throw error;
  };
  const api = openedApis.get(contract) ?? createContractApi(contract).catch(forget);
  openedApis.set(contract, api);
  return api;
}

async function createContractApi(contract: Contract): Promise<ContractApi> {
  const { router, validator } = await openBackend(contract, { allErrors: false });
  let explainer: Promise<OpenAPIBackend> | undefined;
  const objects = router.getOperations();
  router.getOperations = () => objects; // openapi-backend would rebuild the list several times per request
  const operations = new Map(objects.map((object) => [object.operationId, toOperation(object)]));
  const fixedPaths = objects.filter(({ path }) => !path.includes('{'));
  const byPlace = new Map(
    fixedPaths.map(({ method, path, operationId }) => [
      `${method.toUpperCase()} ${contract.root}${path}`,
      operations.get(operationId),
    ]),
  );
  return {
    page: contract.page,
    namesAllViolations: contract.namesAllViolations,
    operationIds: [...operations.values()].map(({ id }) => id),
    compile: (operationId) => void validator.getRequestValidatorsForOperation(operationId),
    match: (method, path) =>
      byPlace.get(`${method} ${path}`) ??
      operations.get(router.matchOperation({ method, path, headers: {} })?.operationId),
    pathParameters: (routed) => router.parseRequest(toOpenApi(routed), routed.operation.object).params as object,
    errorsOf: (read) => errorsBy(validator, read),
    async allErrorsOf(read) {
      explainer ??= openBackend(contract, { allErrors: true }); // needed for invalid requests only
      return errorsBy((await explainer).validator, read);
    },
  };
}

async function openBackend({ document, root }: Contract, own: AjvOptions): Promise<OpenAPIBackend> {
  const { OpenAPIBackend } = await import('openapi-backend'); // lazy, because it loads 80 modules
  const cache = new Map<unknown, Ajv2020>();
  const backend = new OpenAPIBackend({
    definition: document as unknown as Document,
    apiRoot: root,
    strict: true,
    quick: true,
    // Uses one Ajv per context, with the JSON Schema dialect of OpenAPI 3.1, instead of one per validator.
    customizeAjv: (_ajv, given, context) => {
      const ajv = cache.get(context) ?? new Ajv2020({ ...given, ...ajvOptions, ...own });
      if (!cache.has(context)) addFormats.default(ajv);
      cache.set(context, ajv);
      // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the class of that dialect
      return ajv;
    },
  });
  backend.loadDocument = () => Promise.resolve(backend.document); // `quick` mode would otherwise load the definition again
  return backend.init();
}

function toOperation(object: OpenApiOperation): Operation {
  const { operationId, parameters = [], requestBody, security = [] } = object as unknown as OperationObject;
  const [[mediaType, content] = []] = Object.entries(requestBody?.content ?? {});
  const namesIn = (part: string) => parameters.filter((parameter) => parameter.in === part).map(({ name }) => name);
  return {
    id: operationId,
    object: object as Operation['object'],
    takesToken: security.some((scheme) => 'BearerAuth' in scheme),
    content: mediaType !== undefined && content ? { mediaType, schema: content.schema } : undefined,
    hasParameters: parameters.length > 0,
    queryNames: namesIn('query'),
    headerNames: namesIn('header'),
  };
}

function errorsBy(validator: OpenAPIBackend['validator'], read: Read): readonly ErrorObject[] {
  const { request, parameters, body } = read;
  const { object, hasParameters } = read.operation;
  if (hasParameters) {
    const { query } = parameters;
    const sent = { ...toOpenApi(read), query, body: body.value } as Request;
    return validator.validateRequest(sent, object).errors ?? [];
  }
  // A shortcut, because openapi-backend would first parse and look up every kind of parameter.
  const parts = { path: {}, query: {}, header: request.headers, cookie: {}, requestBody: body.value };
  const validators = validator.getRequestValidatorsForOperation(object.operationId);
  return validators.flatMap((isValid) => (isValid(parts) ? [] : (isValid.errors ?? [])));
}

function toOpenApi({ request: { method, headers }, target: { path } }: Routed): Request {
  return { method, path, headers: headers as Request['headers'] };
}
