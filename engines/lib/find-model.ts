import { EngineError } from '../contract/index.ts';

/** Throws `unknown-model`. */
export function findModel<M extends { readonly id: string }>(models: readonly M[], id: string): M {
  const model = models.find((one) => one.id === id);
  if (model === undefined) throw new EngineError('unknown-model', `This engine does not serve "${id}".`);
  return model;
}
