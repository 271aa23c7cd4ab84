/** Models of the sandbox: each capability has one that answers immediately and a slow one. */
import type { Capability, EngineContext, EngineDefinition, Engines, ModelEntry } from '../contract/index.ts';
import { fixedModels, serveModels, type ServedModels } from '../lib/serve-models.ts';

export function defineSandbox<C extends Capability>(
  capability: C,
  create: (context: EngineContext) => Engines[C],
): EngineDefinition<C, object> {
  // There are no options, because tests of clients rely on fixed answers.
  const options = { type: 'object', properties: {}, additionalProperties: false } as const;
  return { contract: 1, name: 'sandbox', capability, options, create: (_options, context) => create(context) };
}

export interface Model {
  readonly id: string;
  /** For testing progress indicators and stop buttons. */
  readonly isSlow: boolean;
}

/** Returns ids such as `sandbox-chat` and `sandbox-chat-slow`. */
export function serveSandbox(
  id: string,
  more: Pick<ModelEntry, 'supports' | 'languages' | 'voices' | 'defaultVoice'> = {},
): ServedModels<Model> {
  const models = [id, `${id}-slow`].map((one) => ({ id: one, isSlow: one !== id }));
  const reason = 'Sandbox: answers are made up.';
  return serveModels(
    fixedModels(models, (model) => ({ id: model.id, name: nameOf(model.id), local: true, ...more })),
    () => ({ available: true, code: 'ready', reason }),
  );
}

function nameOf(id: string): string {
  return id.replaceAll('-', ' ').replace(/^s/, 'S');
}
