import type { ChatEngine } from './chat.ts';
import type { EngineContext } from './context.ts';
import type { SpeechEngine } from './speech.ts';
import type { TranscriptionEngine } from './transcription.ts';

export type Capability = 'transcription' | 'chat' | 'speech';

/** The default export of an engine module. `Options` is the type described by the JSON Schema in `options`. */
export interface EngineDefinition<C extends Capability = Capability, Options = unknown> {
  /** Contract version that the engine was written for. */
  readonly contract: 1;
  /** Name in listings and messages: lower case, with hyphens. */
  readonly name: string;
  readonly capability: C;
  /** JSON Schema (2020-12) of the engine's settings, without `use`. Validated at startup. */
  readonly options: OptionsSchema;
  /**
   * Throws an `OptionsError` for invalid options that the schema cannot express: startup fails. After any other failure,
   * or a timeout of 30 s, the service starts without this instance, unless it is the only one. The import of the module has
   * the same timeout.
   */
  create(options: Options, context: EngineContext): Engines[C] | Promise<Engines[C]>;
}

/** JSON Schema of an object. With `additionalProperties: false`, a misspelled setting makes startup fail. */
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

/** Infers the types of a definition. The registry validates it at run time. */
export function defineEngine<C extends Capability, Options>(
  definition: EngineDefinition<C, Options>,
): EngineDefinition<C, Options> {
  return definition;
}
