/** Validates WebSocket events against the schemas of the contract. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ajvOptions } from '../../lib/ajv-options.ts';
import type { Contract, Schema } from './document.ts';
import { ContractViolation } from './response-validation.ts';

/** The events that one side sends. */
export interface EventCheck {
  readonly types: readonly string[];
  /** Returns an array with the first error, or [] for a valid event. The type of the event must be declared. */
  readonly errorsOf: (event: { readonly type: string }) => readonly ErrorObject[];
}

const checks = new Map<string, EventCheck>();

/**
 * `union` names the schema of one side's events. Each check is created once per process; the first event of a type
 * compiles its validator.
 */
export function eventCheckOf(contract: Contract, union: string): EventCheck {
  const check = checks.get(union) ?? createEventCheck(contract, union);
  checks.set(union, check);
  return check;
}

function createEventCheck({ document, resolve }: Contract, union: string): EventCheck {
  const ajv = new Ajv2020(ajvOptions);
  addFormats.default(ajv);
  ajv.addSchema(document, 'contract');
  const refs = resolve(union).anyOf?.map(({ $ref = '' }) => $ref) ?? [];
  const byType = new Map(refs.map((ref) => [typeOf(resolve(ref)), ref]));
  return {
    types: [...byType.keys()],
    errorsOf(event) {
      const validate = ajv.getSchema(`contract${byType.get(event.type) ?? ''}`);
      return validate?.(event) === true ? [] : (validate?.errors ?? []);
    },
  };
}

function typeOf({ properties }: Schema): string {
  const [type = ''] = (properties?.type as { readonly enum?: readonly string[] }).enum ?? [];
  return type;
}

/** Throws a `ContractViolation`, which is always a bug in the service. */
export function checkSentEvent(contract: Contract, union: string, event: { readonly type: string }): void {
  const { types, errorsOf } = eventCheckOf(contract, union);
  if (!types.includes(event.type)) throw new ContractViolation(`event ${event.type} is not declared`);
  const [error] = errorsOf(event);
  if (error) throw new ContractViolation(`event ${event.type}: ${error.instancePath} ${error.message ?? ''}`);
}
