/** The common interface of a provider's two APIs. */
import type { CallerTool, ChatCall, ImagePart, Usage } from '../contract/index.ts';
import type { Delta } from '../lib/agent/delta.ts';
import type { Round, RoundEnd } from '../lib/agent/loop.ts';
import { countOf, isObject, textOf, type JsonObject } from '../../lib/json.ts';
import type { Model } from './models.ts';
import type { RequestVariant } from './request-variant.ts';

export interface Dialect {
  /** Path relative to the base URL. */
  readonly path: string;
  /** `tools` are those of the caller or of the service. Throws `parameter-not-supported`. */
  readonly createHistory: (call: ChatCall, model: Model, tools: readonly CallerTool[]) => History;
}

/** The messages of one run in the format of the provider's API. */
export interface History {
  /** Returns the next request. In the last round, no tool may be called. */
  request(variant: RequestVariant, isLast: boolean): JsonObject;
  /** Returns a reader for the response. */
  read(): RoundReader;
  /** Adds a round that called tools, with the output of each call. */
  append(round: Round, outputs: readonly string[]): void;
}

export interface RoundReader {
  /** Takes the next event and returns its deltas. Throws an `EngineError`. */
  take(event: JsonObject): readonly Delta[];
  /** Takes a response that is not streamed, and returns its deltas. */
  takeWhole(answer: JsonObject): readonly Delta[];
  /** True if the finish reason has arrived. */
  readonly isFinished: boolean;
  /** True if no further event can follow. */
  readonly isComplete: boolean;
  /** Throws an `EngineError`, such as `provider-bad-response` without a finish reason. */
  end(): RoundEnd;
}

/** Maximum length of a call's arguments, far above any real length: it stops a model that never ends them. */
export const maxArgumentsLength = 2 ** 20;
export const maxCalls = 128;
/** Parts of all calls of an answer together: about the tokens of the longest answer. */
export const maxParts = 200_000;

/** The arguments of a call, or a part of them, as text: some providers send an object. */
export function argumentText(given: unknown): string {
  return isObject(given) ? JSON.stringify(given) : textOf(given);
}

/** The whole arguments as JSON: some providers send an empty text, but reject it when it is replayed. */
export function argumentsOf(given: unknown): string {
  const json = argumentText(given);
  return json.trim() === '' ? '{}' : json;
}

export function dataUrlOf({ mediaType, data }: ImagePart): string {
  return `data:${mediaType};base64,${data}`;
}

/** Returns the token counts of either API; undefined if there are none. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const prompt = countOf(value.prompt_tokens ?? value.input_tokens);
  const completion = countOf(value.completion_tokens ?? value.output_tokens);
  if (prompt === undefined && completion === undefined) return undefined;
  const [promptTokens, completionTokens] = [prompt ?? 0, completion ?? 0];
  const totalTokens = countOf(value.total_tokens) ?? promptTokens + completionTokens;
  const details = value.completion_tokens_details ?? value.output_tokens_details;
  const reasoningTokens = (isObject(details) ? countOf(details.reasoning_tokens) : undefined) ?? 0;
  return { promptTokens, completionTokens, totalTokens, reasoningTokens };
}
