/** Models of the sandbox: each capability has one that answers immediately and a slow one. */
import type { Capability, EngineContext, EngineDefinition, Engines, ModelEntry } from '../contract/index.ts';
import { findModel } from '../lib/find-model.ts';
import { optionsSchema, type Options } from './options.ts';

export function defineSandbox<C extends Capability>(
  capability: C,
  create: (context: EngineContext, options: Options) => Engines[C],
): EngineDefinition<C, Options> {
  return {
    contract: 1,
    name: 'sandbox',
    capability,
    options: optionsSchema,
    create: (options, context) => create(context, options),
  };
}

export interface Model {
  readonly id: string;
  /** For testing progress indicators and stop buttons. */
  readonly isSlow: boolean;
}

/** Returns the models `sandbox-chat` and `sandbox-chat-slow`, and the like. `modelOf` throws `unknown-model`. */
export function serveSandbox(
  id: string,
  more: Pick<ModelEntry, 'supports' | 'languages' | 'voices' | 'defaultVoice'> = {},
): { readonly models: readonly ModelEntry[]; readonly modelOf: (id: string) => Model } {
  const served = [id, `${id}-slow`].map((one) => ({ id: one, isSlow: one !== id }));
  const availability = { available: true, code: 'ready', reason: 'Sandbox: answers are made up.' } as const;
  return {
    models: served.map((model) => ({ id: model.id, name: nameOf(model.id), local: true, availability, ...more })),
    modelOf: (wanted) => findModel(served, wanted),
  };
}

function nameOf(id: string): string {
  return id.replaceAll('-', ' ').replace(/^s/, 'S');
}
