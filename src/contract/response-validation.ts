/**
 * Validates responses against the contract: status, media type, headers, body, and every event of a stream. Enabled in
 * tests and development, disabled in production.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ajvOptions } from '../../lib/ajv-options.ts';
import { noBody, type AnyAnswer } from './operations.ts';
import type { Contract, OperationObject, ResponseObject } from './document.ts';

/** An answer that violates the contract, which is always a bug in the service. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation';
}

export type CheckAnswer = (operationId: string, answer: AnyAnswer) => AnyAnswer;

const checks = new WeakMap<Contract, CheckAnswer>();

/** Creates one check per contract and process. The validators are compiled on first use. */
export function answerCheckOf(contract: Contract): CheckAnswer {
  const check = checks.get(contract) ?? createAnswerCheck(contract);
  checks.set(contract, check);
  return check;
}

/** The check throws a `ContractViolation`. Stream events are checked as they are sent. */
function createAnswerCheck({ document, operations }: Contract): CheckAnswer {
  const ajv = new Ajv2020({ ...ajvOptions, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'contract');

  return (operationId, answer) => {
    const operation = operations.get(operationId);
    const response = operation?.responses[String(answer.status)];
    const complain = (what: string) =>
      new ContractViolation(`${operationId} answers ${String(answer.status)}: ${what}`);
    if (!operation || !response) throw complain('the contract does not declare this status');
    const isDeclared = answer.mediaType === noBody ? !response.content : response.content?.[answer.mediaType];
    if (!isDeclared) throw complain(`${answer.mediaType || 'no body'} is not declared`);
    checkHeaders(response, { ajv, answer, complain });
    if (answer.mediaType === noBody || answer.mediaType.startsWith('audio/')) return answer;

    const validate = validatorOf(operation, { ajv, answer });
    const check = (value: unknown) => {
      if (!validate(value)) throw complain(`the body violates the contract: ${ajv.errorsText(validate.errors)}`);
    };
    if (answer.mediaType === 'text/event-stream') {
      const { body, failed } = answer;
      const events = checkedEvents(body as AsyncIterable<unknown>, check);
      return { ...answer, body: events, ...(failed && { failed: checkedFailure(failed, check) }) };
    }
    check(answer.body);
    return answer;
  };
}

interface Checking {
  readonly ajv: Ajv2020;
  readonly answer: AnyAnswer;
}

function checkHeaders(
  { headers = {} }: ResponseObject,
  { ajv, answer, complain }: Checking & { readonly complain: (what: string) => Error },
): void {
  const given = answer.headers ?? {};
  for (const [name, { required, schema }] of Object.entries(headers)) {
    const value = given[name];
    const rule = schema.$ref === undefined ? schema : `contract${schema.$ref}`;
    if (value !== undefined && !ajv.validate(rule, value)) throw complain(`the header ${name} violates the contract`);
    // X-Request-Id is exempt, because the app sets it later.
    if (value === undefined && required && name !== 'X-Request-Id') throw complain(`the header ${name} is missing`);
  }
  const undeclared = Object.keys(given).find((name) => headers[name] === undefined);
  if (undeclared !== undefined) throw complain(`the header ${undeclared} is not declared`);
}

function validatorOf({ path, method }: OperationObject & { path: string; method: string }, { ajv, answer }: Checking) {
  const place = ['paths', path, method, 'responses', answer.status, 'content', answer.mediaType, 'schema'];
  const pointer = place.map((name) => String(name).replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
  return ajv.getSchema(`contract#/${encodeURI(pointer)}`) as ValidateFunction;
}

type CheckEvent = (event: unknown) => void;

function checkedFailure(failed: NonNullable<AnyAnswer['failed']>, check: CheckEvent): typeof failed {
  return (problem, reason) => {
    const event = failed(problem, reason);
    check(event);
    return event;
  };
}

async function* checkedEvents(events: AsyncIterable<unknown>, check: CheckEvent) {
  for await (const event of events) {
    check(event);
    yield event;
  }
}
