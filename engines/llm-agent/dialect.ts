/** The two APIs of a provider, as the loop sees them. */
import type { ChatCall, Tool } from '../contract/index.ts';
import type { Delta, Round } from '../lib/agent/loop.ts';
import { isObject, textOf, type JsonObject } from '../../lib/json.ts';
import type { Model } from './models.ts';
import type { Shape } from './shape.ts';

export interface Dialect {
  /** Below the base URL. */
  readonly path: string;
  readonly createHistory: (call: ChatCall, model: Model, tools: readonly Tool[]) => History;
}

/** What one run has said to the provider and received from it, as the provider's API has it. */
export interface History {
  /** The next request; in the last round no tool may be called. */
  request(shape: Shape, isLast: boolean): JsonObject;
  /** For the answer to it. */
  read(): RoundReader;
  /** Adds a round that called tools, and what came of it: an output for each call. */
  append(round: Round, outputs: readonly string[]): void;
}

export interface RoundReader {
  /** Takes the next event and returns what of it is to be shown. Throws an `EngineError`. */
  take(event: JsonObject): readonly Delta[];
  /** The same for an answer that comes in one piece. */
  takeWhole(answer: JsonObject): readonly Delta[];
  /** Whether the provider has said why it stopped. */
  readonly isFinished: boolean;
  /** Whether nothing can follow. */
  readonly isComplete: boolean;
  /** Throws `provider-bad-response` when the provider has not said why it stopped. */
  end(): Round;
}

/** Far longer than what any tool takes; a model that never ends its arguments is cut off. */
export const longestArguments = 2 ** 20;
export const mostCalls = 128;
/** Of all calls of an answer together: about as many as there are tokens in the longest one. */
export const mostParts = 200_000;

/** The arguments of a call, or a part of them, as text: some send the object itself. */
export function argumentText(given: unknown): string {
  return isObject(given) ? JSON.stringify(given) : textOf(given);
}

/** All of them, as JSON: some send nothing, which is refused when it is said again. */
export function argumentsOf(given: unknown): string {
  const json = argumentText(given);
  return json.trim() === '' ? '{}' : json;
}
