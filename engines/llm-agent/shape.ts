/** Which fields a request may have. Providers differ, and say so only when they refuse one. */
import { objectsOf, type JsonObject } from '../../lib/json.ts';
import type { Refusal } from '../lib/provider/failures.ts';
import type { limitParams } from './options.ts';

export interface Shape {
  /** The field of the limit in /chat/completions. */
  readonly limitParam: (typeof limitParams)[number];
  /** Whether the model gets its own reasoning back with the results of its tools. */
  readonly replaysReasoning: boolean;
  /** Fields that are left out. */
  readonly dropped: readonly string[];
}

/** A refusal of the request's shape, and the shape to try instead. */
export class ShapeRefused extends Error {
  override readonly name = 'ShapeRefused';
  readonly other: Shape;

  constructor(other: Shape, cause: Error) {
    super('the provider refuses a field of the request', { cause });
    this.other = other;
  }
}

/** Fields that only make an answer better, and how a refusal speaks of them. */
const dispensable: Readonly<Record<string, RegExp>> = {
  stream_options: /stream_options|include_usage/i,
  include: /encrypted.?content|\binclude\b/i,
};

/** "Unsupported parameter", "Unrecognized request argument", "Extra inputs are not permitted"; not "too large". */
const unsupported = /unsupported|not supported|unrecogni[sz]ed|unknown|not permitted|extra_forbidden|instead/i;

/** How a refusal names the reasoning in a message (Groq, Cerebras, Mistral), not a setting of it. */
const reasoningField = /["'`.]reasoning(?:_content|_details)?["'`:]/;

/** Statuses with which a model is refused its tools: 404 is OpenRouter's, 500 llama.cpp's. */
const toolsRefused = new Set([400, 404, 422, 500, 501]);

const anyTool = '(?:tools|tool[ -](?:use|call(?:s|ing)?)|function[ -](?:tools|call(?:s|ing)?))';

/**
 * That no tool at all is taken, as Ollama, vLLM, llama.cpp, OpenRouter, Groq and OpenAI say it; not what is wrong with
 * one tool, its schema, or the choice of it.
 */
const withoutTools = new RegExp(
  [
    `(?:not|n['’]t) support (?:the use of )?${anyTool}\\b`,
    `(?<!parallel )\\b${anyTool}\\W{0,3} (?:with \\S{1,40} )?(?:is|are) not supported`,
    '(?:unsupported|unrecognized|unknown) (?:param|parameter|request argument)\\b[\\w ]{0,40}: ?\\W{0,2}tools\\b(?![[.])',
    'no endpoints found that support tool use|--enable-auto-tool-choice|tools param requires',
  ].join('|'),
  'i',
);

/** The shape that the refusal asks for, or undefined when it is about something else. `first` is the run's first one. */
export function reshape(shape: Shape, first: Shape, sent: JsonObject, refusal: Refusal): Shape | undefined {
  if (refusesTools(sent, refusal)) return without(shape, 'tools');
  if (refusal.status !== 400 && refusal.status !== 422) return undefined;
  const said = `${refusal.code} ${refusal.param} ${refusal.message}`;
  const { limitParam } = shape;
  if (limitParam in sent && limitParam === first.limitParam && said.includes(limitParam) && unsupported.test(said)) {
    const other = limitParam === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
    return { ...shape, limitParam: other };
  }
  if (hasReasoning(shape, sent) && reasoningField.test(refusal.complaint) && unsupported.test(refusal.complaint)) {
    return { ...shape, replaysReasoning: false };
  }
  const refused = Object.keys(dispensable).find((field) => field in sent && dispensable[field]?.test(said));
  return refused === undefined ? undefined : without(shape, refused);
}

/** Words of the conversation, which the refusal may only repeat, do not take the tools from everybody. */
function refusesTools(sent: JsonObject, { status, complaint }: Refusal): boolean {
  if (!('tools' in sent) || !toolsRefused.has(status) || !withoutTools.test(complaint)) return false;
  return !withoutTools.test(JSON.stringify(sent.messages ?? sent.input));
}

function hasReasoning({ replaysReasoning }: Shape, { messages }: JsonObject): boolean {
  const hasField = (message: JsonObject) => Object.keys(message).some((field) => field.startsWith('reasoning'));
  return replaysReasoning && objectsOf(messages).some(hasField);
}

function without(shape: Shape, field: string): Shape {
  return { ...shape, dropped: [...shape.dropped, field] };
}

/** Of what is left of it, the choice of tools goes with the tools. */
export function withoutDropped(body: JsonObject, { dropped }: Shape): JsonObject {
  if (dropped.length === 0) return body;
  const gone = dropped.includes('tools') ? [...dropped, 'tool_choice'] : dropped;
  return Object.fromEntries(Object.entries(body).filter(([field]) => !gone.includes(field)));
}
