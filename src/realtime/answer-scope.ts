/** The scopes of the answers of a session: each answer counts as a request of the API key, and is charged for its tokens. */
import { currentScope, runInScope } from '../request-scope.ts';
import type { TurnServices } from './open-turn.ts';

/** Runs `work` in a scope of its own. Rejects with `rate-limited` or `quota-exceeded` if a limit permits no answer. */
export type InAnswerScope = (work: () => Promise<void>) => Promise<void>;

/** Call this in the scope of the session, whose usage includes that of the answers. */
export function answerScopes({ allowTurn }: Pick<TurnServices, 'allowTurn'>): InAnswerScope {
  const scope = currentScope() ?? { caller: '' };
  return async (work) => {
    const charge = await runInScope(scope, () => allowTurn?.('tokens'));
    const usage: { tokens?: number } = {};
    try {
      await runInScope({ ...scope, usage, charge }, work);
    } finally {
      if (scope.usage && usage.tokens) scope.usage.tokens = (scope.usage.tokens ?? 0) + usage.tokens;
    }
  };
}
