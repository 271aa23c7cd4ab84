/** Which fields a request may have. Providers differ, and a rejection is the only way to find out. */
import { objectsOf, type JsonObject } from '../../lib/json.ts';
import type { Refusal } from '../lib/provider/failures.ts';
import type { limitParams } from './options.ts';

export interface RequestVariant {
  /** Name of the token limit field in /chat/completions. */
  readonly limitParam: (typeof limitParams)[number];
  /** True if the model's reasoning is sent back to it with the tool results. */
  readonly replaysReasoning: boolean;
  /** Fields that are not sent. */
  readonly dropped: readonly string[];
}

/** The provider rejected a field; `other` is the variant for the retry. */
export class VariantRefused extends Error {
  override readonly name = 'VariantRefused';
  readonly other: RequestVariant;

  constructor(other: RequestVariant, cause: Error) {
    super('the provider rejects a field of the request', { cause });
    this.other = other;
  }
}

/** Optional fields, and how an error message mentions them. */
const optionalFields: Readonly<Record<string, RegExp>> = {
  stream_options: /stream_options|include_usage/i,
  include: /encrypted.?content|\binclude\b/i,
};

/** "Unsupported parameter", "Unrecognized request argument", "Extra inputs are not permitted"; not "too large". */
const unsupported = /unsupported|not supported|unrecogni[sz]ed|unknown|not permitted|extra_forbidden|instead/i;

/** How an error names the reasoning field of a message (Groq, Cerebras, Mistral), as opposed to a reasoning setting. */
const reasoningField = /["'`.]reasoning(?:_content|_details)?["'`:]/;

/** Statuses for "tools are not supported": 404 is OpenRouter's, 500 llama.cpp's. */
const toolsRefused = new Set([400, 404, 422, 500, 501]);

const anyTool = '(?:tools|tool[ -](?:use|call(?:s|ing)?)|function[ -](?:tools|call(?:s|ing)?))';

/**
 * Matches "tools are not supported" as Ollama, vLLM, llama.cpp, OpenRouter, Groq and OpenAI phrase it; not errors about
 * one tool, its schema, or tool_choice.
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

/**
 * Returns the variant for a retry; undefined if the error is about something else. `first` is the variant of the first
 * attempt.
 */
export function nextVariant(
  variant: RequestVariant,
  first: RequestVariant,
  sent: JsonObject,
  refusal: Refusal,
): RequestVariant | undefined {
  if (refusesTools(sent, refusal)) return without(variant, 'tools');
  if (refusal.status !== 400 && refusal.status !== 422) return undefined;
  const said = `${refusal.code} ${refusal.param} ${refusal.message}`;
  const { limitParam } = variant;
  if (limitParam in sent && limitParam === first.limitParam && said.includes(limitParam) && unsupported.test(said)) {
    const other = limitParam === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
    return { ...variant, limitParam: other };
  }
  if (hasReasoning(variant, sent) && reasoningField.test(refusal.complaint) && unsupported.test(refusal.complaint)) {
    return { ...variant, replaysReasoning: false };
  }
  const refused = Object.keys(optionalFields).find((field) => field in sent && optionalFields[field]?.test(said));
  return refused === undefined ? undefined : without(variant, refused);
}

/**
 * Ignores a match that also occurs in the conversation: the error may only quote it, and the tools would be dropped for
 * all callers.
 */
function refusesTools(sent: JsonObject, { status, complaint }: Refusal): boolean {
  if (!('tools' in sent) || !toolsRefused.has(status) || !withoutTools.test(complaint)) return false;
  return !withoutTools.test(JSON.stringify(sent.messages ?? sent.input));
}

function hasReasoning({ replaysReasoning }: RequestVariant, { messages }: JsonObject): boolean {
  const hasField = (message: JsonObject) => Object.keys(message).some((field) => field.startsWith('reasoning'));
  return replaysReasoning && objectsOf(messages).some(hasField);
}

function without(variant: RequestVariant, field: string): RequestVariant {
  return { ...variant, dropped: [...variant.dropped, field] };
}

/** Without tools, tool_choice is dropped as well. */
export function withoutDropped(body: JsonObject, { dropped }: RequestVariant): JsonObject {
  if (dropped.length === 0) return body;
  const gone = dropped.includes('tools') ? [...dropped, 'tool_choice'] : dropped;
  return Object.fromEntries(Object.entries(body).filter(([field]) => !gone.includes(field)));
}

/** False once the model has rejected tools, or if the settings drop them. */
export function takesTools({ dropped }: RequestVariant): boolean {
  return !dropped.includes('tools');
}
