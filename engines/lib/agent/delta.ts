/** A piece of the text of a round, as the model sends it. */
export interface Delta {
  readonly type: 'reasoning-delta' | 'content-delta';
  readonly delta: string;
}

/** What a round shows. `content-retracted`: its content so far was reasoning. */
export type TextEvent = Delta | { readonly type: 'content-retracted' };
