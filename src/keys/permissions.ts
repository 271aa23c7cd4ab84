/** Permissions of the current request's API key. Without a key (open mode, startup), everything is permitted. */
import { joinFirst } from '../../lib/listing.ts';
import { currentKey, type Key } from '../request-scope.ts';
import type { OperationId } from '../contract/operations.ts';
import { inBody, ProblemError } from '../contract/problems.ts';

const namesInMessages = 5;

export function mayCall(operation: OperationId): boolean {
  return currentKey()?.mayCall(operation) ?? true;
}

/** Throws `operation-not-allowed` unless the key may use one of the operations. */
export function requireOperation(...operations: readonly OperationId[]): void {
  if (operations.some(mayCall)) return;
  const names = operations.join(' or ');
  throw new ProblemError('operation-not-allowed', `The API key may not use ${names}; ask the operator for it.`);
}

export function mayUseModel(id: string): boolean {
  return currentKey()?.mayUseModel(id) ?? true;
}

/** Returns the models that the key may use. */
export function allowedModels<Model extends { readonly id: string }>(models: readonly Model[]): readonly Model[] {
  const key = currentKey();
  return key ? models.filter(({ id }) => key.mayUseModel(id)) : models;
}

/**
 * Throws `model-not-allowed` with the allowed ids. Checks only the id, so that the error does not reveal whether a
 * model with that id exists.
 */
export function requireModel(id: string, allowed: readonly string[], pointer: string): void {
  if (!mayUseModel(id)) throw modelNotAllowed(`the model "${id}"`, allowed, pointer);
}

export function modelNotAllowed(what: string, allowed: readonly string[], pointer: string): ProblemError {
  const known = allowed.length > 0 ? `; it may use: ${joinFirst(allowed, namesInMessages)}` : '';
  const blame = inBody(pointer, 'must be a model that the API key may use');
  return new ProblemError('model-not-allowed', `The API key may not use ${what}${known}.`, blame);
}

/** Whether a key still permits ongoing work: one of its operations, and its model, if it uses one. */
export function permits(key: Key, operations: readonly string[], model: string | undefined): boolean {
  return operations.some(key.mayCall) && (model === undefined || key.mayUseModel(model));
}

export function mayUseTool(name: string): boolean {
  return currentKey()?.mayUseTool(name) ?? true;
}
