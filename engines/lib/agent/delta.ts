/** A piece of the text of a round, as the model sends it. */
export interface Delta {
  readonly type: 'reasoning-delta' | 'content-delta';
  readonly delta: string;
}
