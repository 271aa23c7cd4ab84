/** A piece of the text of a round, as the model sends it. */
export interface Delta {
  readonly type: 'reasoning-delta' | 'content-delta';
  readonly delta: string;
}

/** A text event of a round. `content-retracted`: the content of the round so far was reasoning. */
export type TextEvent = Delta | { readonly type: 'content-retracted' };
