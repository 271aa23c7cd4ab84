/** The scopes of the answers of a session: each answer counts as a request of the API key, and is charged for its tokens. */
import { ignore } from '../../lib/errors.ts';
import { currentScope, runInScope } from '../request-scope.ts';
import type { TurnServices } from './open-turn.ts';

/**
 * Runs `work` in a scope of its own. Rejects with `rate-limited` or `quota-exceeded` if a limit permits no answer.
 *
 * With `release`, the work begins early, if the budget of the key permits it, and counts as a request only once this
 * has resolved. Until `released` resolves, it must have no effect but on the budget.
 */
export type InAnswerScope = (
  work: (released: Promise<unknown> | undefined) => Promise<void>,
  release?: Promise<unknown>,
) => Promise<void>;

/** Call this in the scope of the session, whose usage includes that of the answers. */
export function answerScopes({
  allowTurn,
  requireBudget,
}: Pick<TurnServices, 'allowTurn' | 'requireBudget'>): InAnswerScope {
  const scope = currentScope() ?? { caller: '' };
  return async (work, release) => {
    const allow = () => runInScope(scope, () => allowTurn?.('tokens'));
    const released = release?.then(allow);
    released?.catch(ignore); // the work may have failed by then
    const early = async () => requireBudget?.('tokens');
    const charge = await (released ? runInScope(scope, early).catch(() => released) : allow());
    const usage: { tokens?: number } = {};
    try {
      await runInScope({ ...scope, usage, charge }, work, released);
    } finally {
      if (scope.usage && usage.tokens) scope.usage.tokens = (scope.usage.tokens ?? 0) + usage.tokens;
    }
  };
}
