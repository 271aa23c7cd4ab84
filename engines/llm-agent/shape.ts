/** Which fields a request may have. Providers differ, and say so only when they refuse one. */
import type { JsonObject } from '../lib/json.ts';
import type { Refusal } from '../lib/failures.ts';
import type { limitParams } from './options.ts';

export interface Shape {
  /** The field of the limit in /chat/completions. */
  readonly limitParam: (typeof limitParams)[number];
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

/** The shape that the refusal asks for, or undefined when it is about something else. `first` is the run's first one. */
export function reshape(shape: Shape, first: Shape, sent: JsonObject, refusal: Refusal): Shape | undefined {
  if (refusal.status !== 400 && refusal.status !== 422) return undefined;
  const said = `${refusal.code} ${refusal.param} ${refusal.message}`;
  const { limitParam } = shape;
  if (limitParam in sent && limitParam === first.limitParam && said.includes(limitParam) && unsupported.test(said)) {
    const other = limitParam === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
    return { ...shape, limitParam: other };
  }
  const refused = Object.keys(dispensable).find((field) => field in sent && dispensable[field]?.test(said));
  return refused === undefined ? undefined : { ...shape, dropped: [...shape.dropped, refused] };
}

/** Of what is left of it, the choice of tools goes with the tools. */
export function withoutDropped(body: JsonObject, { dropped }: Shape): JsonObject {
  if (dropped.length === 0) return body;
  const gone = dropped.includes('tools') ? [...dropped, 'tool_choice'] : dropped;
  return Object.fromEntries(Object.entries(body).filter(([field]) => !gone.includes(field)));
}
