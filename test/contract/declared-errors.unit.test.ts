/**
 * Every operation declares the errors of the steps and functions that it shares with others. An undeclared one is a 500 in
 * tests, and in production an answer that generated clients do not know.
 */
import { describe, expect, test } from 'vitest';
import { nativeContract, openaiContract, type Contract, type OperationObject } from '../../src/contract/document.ts';
import type { ProblemCode } from '../../src/contract/operations.ts';
import { problems } from '../../src/contract/problem-table.ts';
import { isObject } from '../../lib/json.ts';

interface Shared {
  /** Whether the operation has the step, or calls the function. */
  readonly isUsedBy: (operation: OperationObject, contract: Contract) => boolean;
  readonly throws: readonly ProblemCode[];
}

const parametersOf = ({ parameters = [] }: OperationObject) =>
  parameters as readonly { readonly in: string; readonly name: string; readonly schema: object }[];
const mediaTypeOf = ({ requestBody }: OperationObject) => Object.keys(requestBody?.content ?? {})[0];

const shared: Readonly<Record<string, Shared>> = {
  'every request': {
    isUsedBy: () => true,
    throws: ['host-not-allowed', 'origin-not-allowed', 'method-not-allowed', 'internal-error', 'shutting-down'],
  },
  'an API key': {
    isUsedBy: ({ security }, { document }) =>
      (security ?? document.security ?? []).some((scheme) => 'BearerAuth' in scheme),
    throws: ['unauthorized', 'operation-not-allowed', 'rate-limited', 'concurrency-limited', 'quota-exceeded'],
  },
  'a body': {
    isUsedBy: (operation) => mediaTypeOf(operation) !== undefined,
    throws: [
      'unsupported-media-type',
      'malformed-body',
      'body-too-large',
      'request-timeout',
      'overloaded',
      'invalid-request',
    ],
  },
  'a recording': {
    isUsedBy: (operation) => mediaTypeOf(operation) === 'multipart/form-data',
    throws: [
      'recording-empty',
      'recording-too-large',
      'recording-not-accepted',
      'storage-full',
      'transcription-disabled',
    ],
  },
  'parameters with rules': {
    isUsedBy: (operation) =>
      parametersOf(operation).some(({ schema }) => Object.keys(schema).some((key) => key !== 'type')),
    throws: ['invalid-request'],
  },
  'the choice of a model': {
    // The availability of an unknown model is an answer with the status 200.
    isUsedBy: (operation, contract) =>
      operation.operationId !== 'getTranscriptionAvailability' && namesModel(operation, contract),
    throws: [
      'unknown-model',
      'model-not-allowed',
      'no-engine',
      'model-unavailable',
      'engine-failed',
      'invalid-request',
    ],
  },
};

/** Whether the query or the body, at any depth, has a field of this name. */
function namesModel(operation: OperationObject, { resolve }: Contract): boolean {
  const seen = new Set<unknown>();
  const hasModel = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return false;
    seen.add(value);
    if (isObject(value) && typeof value.$ref === 'string') return hasModel(resolve(value.$ref));
    if (isObject(value) && isObject(value.properties) && 'model' in value.properties) return true;
    return Object.values(value).some(hasModel);
  };
  return parametersOf(operation).some(({ name }) => name === 'model') || hasModel(operation.requestBody?.content);
}

const apis = [
  { contract: nativeContract, statusOf: (code: ProblemCode) => problems[code].status },
  { contract: openaiContract, statusOf: (code: ProblemCode) => problems[code].openai.status },
];

describe.each(apis)('$contract.root', ({ contract, statusOf }) => {
  test.each([...contract.operations])('%s declares them', (_id, operation) => {
    const undeclared = Object.entries(shared).flatMap(([what, { isUsedBy, throws }]) =>
      isUsedBy(operation, contract)
        ? throws.filter((code) => !Object.hasOwn(operation.responses, statusOf(code))).map((code) => `${what}: ${code}`)
        : [],
    );
    expect(undeclared).toEqual([]);
  });
});

test.each(Object.entries(shared))('some operations use %s', (_what, { isUsedBy }) => {
  const users = apis.flatMap(({ contract }) =>
    [...contract.operations.values()].filter((one) => isUsedBy(one, contract)),
  );
  expect(users.length).toBeGreaterThan(4);
});
