import type { ChatEngine } from './chat.ts';
import type { EngineContext } from './context.ts';
import type { SpeechEngine } from './speech.ts';
import type { TranscriptionEngine } from './transcription.ts';

/** The kinds of work that engines do. Each engine has exactly one capability; a module may export several engines. */
export type Capability = 'transcription' | 'chat' | 'speech';

/** The default export of an engine module. `Options` is the type described by the JSON Schema in `options`. */
export interface EngineDefinition<C extends Capability = Capability, Options = unknown> {
  /** Contract version that the engine was written for. */
  readonly contract: 1;
  /** Name in error messages: lowercase, with hyphens. */
  readonly name: string;
  /** Determines which engine `create` returns. */
  readonly capability: C;
  /** JSON Schema (2020-12) of the engine's settings, without `use`. Validated at startup. */
  readonly options: OptionsSchema;
  /**
   * Creates the engine of one instance in the settings, with its validated options. Throws an `OptionsError` for
   * invalid options that the schema cannot express: startup fails. After any other failure, or a timeout of 30 s, the
   * service starts without this instance, unless all instances fail. The import of the module has the same timeout.
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

/** The engine type of each capability. */
export interface Engines {
  transcription: TranscriptionEngine;
  chat: ChatEngine;
  speech: SpeechEngine;
}

/**
 * Returns the definition, with its types inferred. The service validates it at startup.
 *
 * @example
 * import { defineEngine, EngineError } from '@parlance/server/engine';
 *
 * export default defineEngine<'speech', { url: string }>({
 *   contract: 1,
 *   name: 'my-voice',
 *   capability: 'speech',
 *   options: {
 *     type: 'object',
 *     properties: { url: { type: 'string', format: 'uri' } },
 *     required: ['url'],
 *     additionalProperties: false,
 *   },
 *   create: ({ url }, { fetch }) => ({
 *     models: [{ id: 'my-voice', local: false }],
 *     async synthesize({ text, format }, { signal }) {
 *       if (format !== 'mp3') throw new EngineError('format-not-supported', 'my-voice supports mp3 only.');
 *       const { ok, body } = await fetch(url, { method: 'POST', body: text, signal });
 *       if (!ok || !body) throw new EngineError('provider-error', 'The speech provider failed.');
 *       return { mediaType: 'audio/mpeg', audio: body };
 *     },
 *   }),
 * });
 */
export function defineEngine<C extends Capability, Options>(
  definition: EngineDefinition<C, Options>,
): EngineDefinition<C, Options> {
  return definition;
}
