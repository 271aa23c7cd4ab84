import type { ChatEngine } from './chat.ts';
import type { EngineContext } from './context.ts';
import type { SpeechEngine } from './speech.ts';
import type { TranscriptionEngine } from './transcription.ts';

export type Capability = 'transcription' | 'chat' | 'speech';

/** What an engine's module exports by default. `Options` is the type that `options` (a JSON Schema) describes. */
export interface EngineDefinition<C extends Capability = Capability, Options = unknown> {
  /** The version of this contract that the engine was written for. */
  readonly contract: 1;
  /** The engine's name in listings and messages, in lower case with hyphens. */
  readonly name: string;
  readonly capability: C;
  /** JSON Schema (2020-12) of the engine's settings, without `use`. Checked at start. */
  readonly options: OptionsSchema;
  /**
   * Throws an `OptionsError` for options that are wrong in a way that the schema cannot say: it stops the start. After any
   * other failure, and after 30 s, the service starts without the instance, unless it is the only one.
   */
  create(options: Options, context: EngineContext): Engines[C] | Promise<Engines[C]>;
}

/** A JSON Schema of an object; `additionalProperties: false` makes a misspelled setting stop the start. */
export interface OptionsSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly $defs?: Readonly<Record<string, unknown>>;
}

export interface Engines {
  transcription: TranscriptionEngine;
  chat: ChatEngine;
  speech: SpeechEngine;
}

/** Gives the definition its types; the check that it is one happens in the registry, at run time. */
export function defineEngine<C extends Capability, Options>(
  definition: EngineDefinition<C, Options>,
): EngineDefinition<C, Options> {
  return definition;
}
