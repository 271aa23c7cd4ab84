/** The caller's tools of a response. The model answers a request with tools directly, and the caller runs the loop. */
import type { CallerTool, ToolCall, ToolChoice } from '../../../engines/contract/index.ts';
import { invalid } from '../../contract/problems.ts';
import { toFunction, type CallerTools } from '../chat-tools.ts';
import { unsupportedParameter, UnsupportedValue } from '../errors.ts';
import type { Schemas } from '../operations.ts';

type Request = Pick<Schemas['ResponseRequest'], 'tools' | 'tool_choice'>;

/** Maximum length of a tool name that providers accept. */
const maxNameLength = 64;
const maxTools = 128;

/** A tool, identified by the caller's name for it. */
export interface CalledTool {
  readonly name: string;
  readonly namespace?: string;
}

export interface ResponseTools extends CallerTools {
  /** The tools in namespaces, keyed by the names that the model sees. */
  readonly inNamespace: ReadonlyMap<string, CalledTool>;
  /** Names of dropped tools. */
  readonly ignored: readonly string[];
}

/** Returns the name under which the model sees a tool in a namespace. */
export function namespacedName(namespace: string, name: string): string {
  return `${namespace}__${name}`;
}

/** Returns the tool of a call under the caller's name for it. */
export function calledTool({ name }: ToolCall, inNamespace: ResponseTools['inNamespace']): CalledTool {
  return inNamespace.get(name) ?? { name };
}

/**
 * Returns no `tools` for a request without functions. Throws if all tools are of other types, and for an invalid
 * `tool_choice`.
 */
export function toTools({ tools: given, tool_choice: choice }: Request): ResponseTools {
  const { functions, inNamespace, dropped } = sort(given ?? []);
  const ignored = [...new Set(dropped.map(({ name }) => name))];
  const [first] = dropped;
  if (functions.length === 0) {
    if (first) throw new UnsupportedValue(`${first.at}/type`, `is "${first.type}"; only function is supported`);
    if (choice == null || choice === 'auto' || choice === 'none') return { inNamespace, ignored };
    throw unsupportedParameter('/tool_choice', 'needs tools in the request');
  }
  if (functions.length > maxTools) throw invalid('body', '/tools', `must not have more than ${maxTools} functions`);
  return { tools: functions, ...(choice != null && { toolChoice: toChoice(choice, functions) }), inNamespace, ignored };
}

interface Dropped {
  readonly type: string;
  /** JSON Pointer of the tool. */
  readonly at: string;
  readonly name: string;
}

/** Plain functions keep their names. A function in a namespace is dropped if its combined name is taken or too long. */
function sort(given: readonly Schemas['ResponseTool'][]) {
  const functions = given.flatMap((tool, index) =>
    tool.type === 'function' ? [toFunction(tool, `/tools/${index}`)] : [],
  );
  const taken = new Set(functions.map(({ name }) => name));
  const inNamespace = new Map<string, CalledTool>();
  const dropped: Dropped[] = [];
  for (const [index, { type, name: namespace, tools }] of given.entries()) {
    const at = `/tools/${index}`;
    if (type === 'function') continue;
    if (type !== 'namespace') {
      dropped.push({ type, at, name: nameOfType(type, at) });
      continue;
    }
    if (namespace == null || namespace === '') throw invalid('body', `${at}/name`, 'is missing');
    for (const [inner, tool] of (tools ?? []).entries()) {
      const pointer = `${at}/tools/${inner}`;
      if (tool.type !== 'function') {
        dropped.push({ type: tool.type, at: pointer, name: nameOfType(tool.type, pointer) });
        continue;
      }
      const { name, ...rest } = toFunction(tool, pointer);
      const full = namespacedName(namespace, name);
      if (taken.has(full) || full.length > maxNameLength) {
        dropped.push({ type: tool.type, at: pointer, name: `tools[${index}].tools[${inner}]` });
        continue;
      }
      taken.add(full);
      inNamespace.set(full, { name, namespace });
      functions.push({ name: full, ...rest });
    }
  }
  return { functions, inNamespace, dropped };
}

/** Returns the type as text that is safe in a header, because callers may send any text. */
function nameOfType(type: string, at: string): string {
  return /^\w{1,40}$/.test(type) ? `tools.${type}` : `tools[${at.split('/').slice(2).join('.')}]`;
}

function toChoice(choice: NonNullable<Request['tool_choice']>, tools: readonly CallerTool[]): ToolChoice {
  if (typeof choice === 'string') return choice;
  if (choice.type !== 'function') {
    throw new UnsupportedValue('/tool_choice/type', `is "${choice.type}"; only function is supported`);
  }
  const { name } = choice;
  if (name == null) throw invalid('body', '/tool_choice/name', 'is missing');
  if (tools.some((tool) => tool.name === name)) return { name };
  throw invalid('body', '/tool_choice/name', 'must be the name of one of the tools');
}
