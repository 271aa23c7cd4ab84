/** The caller's tools: the engine only passes them on, and returns the model's calls. */
import { EngineError, type ChatCall, type ToolChoice } from '../contract/index.ts';
import type { Model } from './models.ts';
import { takesTools } from './request-variant.ts';

/** Applies only to the caller's tools: whether to call those of the service is always the model's choice. */
export function toolChoiceOf({ tools = [], toolChoice }: ChatCall): ToolChoice | undefined {
  return tools.length > 0 ? toolChoice : undefined;
}

/** Throws `parameter-not-supported` if the request would be sent without the tools, or without the choice. */
export function requireTools({ id, variant }: Pick<Model, 'id' | 'variant'>, choice: ToolChoice = 'auto'): void {
  if (!takesTools(variant)) throw notSupported(id, 'tools');
  if (choice !== 'auto' && variant.dropped.includes('tool_choice')) throw notSupported(id, 'tool_choice');
}

export function notSupported(model: string, parameter: string, cause?: Error): EngineError {
  return new EngineError('parameter-not-supported', `The model ${model} does not support ${parameter}.`, { cause });
}
