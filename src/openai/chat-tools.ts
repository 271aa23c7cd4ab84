/** The caller's tools. The model answers a request with tools directly, and the caller runs the loop. */
import type { CallerTool, ToolChoice } from '../../engines/contract/index.ts';
import { invalid } from '../contract/problems.ts';
import { unsupportedParameter, UnsupportedValue } from './errors.ts';
import type { Schemas } from './operations.ts';

type Request = Schemas['ChatCompletionRequest'];

export interface CallerTools {
  readonly tools?: readonly CallerTool[];
  readonly toolChoice?: ToolChoice;
}

/**
 * Returns an empty object if the request has no tools. Throws for tools that are not functions, and for an invalid
 * `tool_choice`.
 */
export function toTools({ tools: given, tool_choice: choice }: Request): CallerTools {
  if (given == null || given.length === 0) {
    if (choice == null || choice === 'auto' || choice === 'none') return {};
    throw unsupportedParameter('/tool_choice', 'needs tools in the request');
  }
  const tools = given.map(toTool);
  return { tools, ...(choice != null && { toolChoice: toChoice(choice, tools) }) };
}

function toTool({ type, function: defined }: Schemas['ToolDefinition'], index: number): CallerTool {
  if (type !== 'function') {
    throw new UnsupportedValue(`/tools/${index}/type`, `is "${type}"; only function is supported`);
  }
  if (defined === undefined) throw invalid('body', `/tools/${index}/function`, 'is missing');
  const { name, description, parameters } = defined;
  return { name, ...(description != null && { description }), ...(parameters != null && { parameters }) };
}

/** Reads a tool of a response or a conversation, whose function is not nested. `at` is the JSON Pointer of the tool. */
export function toFunction({ name, description, parameters }: Schemas['NamespacedTool'], at: string): CallerTool {
  if (name == null || name === '') throw invalid('body', `${at}/name`, 'is missing');
  return { name, ...(description != null && { description }), ...(parameters != null && { parameters }) };
}

function toChoice(choice: NonNullable<Request['tool_choice']>, tools: readonly CallerTool[]): ToolChoice {
  if (typeof choice === 'string') return choice;
  if (choice.type !== 'function') {
    throw new UnsupportedValue('/tool_choice/type', `is "${choice.type}"; only function is supported`);
  }
  const name = choice.function?.name;
  if (name === undefined) throw invalid('body', '/tool_choice/function', 'is missing');
  if (tools.some((tool) => tool.name === name)) return { name };
  throw invalid('body', '/tool_choice/function/name', 'must be the name of one of the tools');
}
