/** Checks requests against the limits of their API keys. */
import { currentKey, type Charge, type Key, type KeyLimits } from '../request-scope.ts';
import type { Budget, ProblemCode } from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';
import type { LimitHeaders, Policy } from '../contract/rate-limit.ts';
import type { Budgets } from './budgets.ts';
import { minuteSeconds, type Minute, type MinuteCounter } from './minutes.ts';
import type { ConcurrencySlots } from './concurrency.ts';

/** The parts of a request that the limits need. */
export interface LimitedRequest {
  readonly api: { limitHeaders(policies: readonly Policy[], shown: readonly Policy[]): LimitHeaders };
  readonly atEnd: (cleanup: () => unknown) => void;
}

/** The result for a request that is within its limits. */
export interface Allowance {
  /** Returns the current state of the limits as headers. */
  headers(): LimitHeaders;
}

/** The counters of the limits, either for this process or shared by several. */
export interface Counters {
  readonly minutes: MinuteCounter;
  readonly concurrency: ConcurrencySlots;
  readonly budgets: Budgets;
}

export interface LimitsOptions extends Counters {
  /** Called when a limit has rejected a request; `policy` is the name as in RateLimit-Policy. */
  readonly onRefused?: (key: string, policy: string) => void;
  /** Returns a number from 0 to 1. Default: `Math.random`. */
  readonly random?: () => number;
}

export type Limits = ReturnType<typeof createLimits>;

export function createLimits({ minutes, concurrency, budgets, onRefused, random = Math.random }: LimitsOptions) {
  return {
    /**
     * Counts the request until it ends. Rejects with `rate-limited`, `concurrency-limited` or `quota-exceeded`, checked
     * in this order. Returns undefined if no limit applies.
     */
    allow: (key: Key, budget: Budget | undefined, request: LimitedRequest) =>
      isLimited(key.limits, budget) ? enter(key, budget, request) : undefined,
    /**
     * Throws `quota-exceeded` if the budget of the key is used up. Use this for background work without a request, which
     * does not count as rejected, or with `isRequest` for a request whose budget `allow` does not know.
     */
    async requireBudget({ name, limits }: Key, budget: Budget, { isRequest = false } = {}): Promise<void> {
      if (!hasBudget(limits, budget)) return;
      await budgets.refresh?.(name);
      const spent = budgetPolicy(limits, budget, name).find(({ remaining }) => remaining === 0);
      if (!spent) return;
      if (isRequest) onRefused?.(name, spent.name);
      const headers = { 'Retry-After': String(Math.max(1, spent.resetSeconds ?? 1)) };
      throw new ProblemError('quota-exceeded', 'The API key has used its budget of today (UTC).', { headers });
    },
    /**
     * Counts a turn of a session as a request, but takes no concurrency slot, because its session holds one. Rejects
     * like `allow`.
     */
    async allowTurn({ name, limits: { concurrentRequests: _place, ...limits } }: Key, budget: Budget): Promise<void> {
      if (isLimited(limits, budget)) await enter({ name, limits }, budget, turn);
    },
    /** Returns a function that charges the budget of the key; undefined if the key has no such budget. */
    chargeFor: ({ name, limits }: Key, budget: Budget | undefined): Charge | undefined =>
      hasBudget(limits, budget) ? (used) => budgets.charge(name, used) : undefined,
  };

  async function enter(
    { name, limits }: Pick<Key, 'name' | 'limits'>,
    budget: Budget | undefined,
    { api, atEnd }: LimitedRequest,
  ): Promise<Allowance> {
    const { requestsPerMinute, concurrentRequests } = limits;
    const minute = requestsPerMinute === undefined ? undefined : await minutes.count(name, requestsPerMinute);
    const policies = () => [
      ...requestsPolicy(requestsPerMinute, minute),
      ...concurrencyPolicy(concurrentRequests, name),
      ...budgetPolicy(limits, budget, name),
    ];
    const refuse = (code: ProblemCode, violated: Policy['name'], detail: (wait: number) => string) => {
      onRefused?.(name, violated);
      const all = policies();
      const shown = all.filter((policy) => policy.name === violated);
      const wait = waitFor(shown[0], random());
      const headers = { ...api.limitHeaders(all, shown), 'Retry-After': String(wait) };
      return new ProblemError(code, `The API key ${detail(wait)}`, { headers, violatedPolicies: [violated] });
    };

    if (requestsPerMinute !== undefined && minute && minute.used > requestsPerMinute) {
      const most = count(requestsPerMinute, 'request');
      throw refuse(
        'rate-limited',
        'requests',
        (wait) => `may send ${most} in a minute; try again in ${String(wait)} s.`,
      );
    }
    if (concurrentRequests !== undefined) {
      const detail = `may have ${count(concurrentRequests, 'request')} in flight; wait for the end of one of them.`;
      if (!(await concurrency.take(name, concurrentRequests)))
        throw refuse('concurrency-limited', 'concurrent', () => detail);
      atEnd(() => concurrency.release(name));
    }
    if (budgets.refresh && hasBudget(limits, budget)) await budgets.refresh(name);
    for (const { name: spent, quota, remaining } of budgetPolicy(limits, budget, name)) {
      const what = spent === 'audio' ? `${String(quota)} s of recordings` : count(quota, 'token');
      if (remaining === 0) throw refuse('quota-exceeded', spent, () => `has used its ${what} of today (UTC).`);
    }
    return {
      headers() {
        const all = policies();
        return api.limitHeaders(all, all.filter(isCurrent));
      },
    };
  }

  function concurrencyPolicy(quota: number | undefined, key: string): Policy[] {
    if (quota === undefined) return [];
    const remaining = Math.max(0, quota - concurrency.used(key, quota));
    return [{ name: 'concurrent', quota, unit: 'concurrent-requests', remaining }];
  }

  function budgetPolicy(limits: KeyLimits, budget: Budget | undefined, key: string): Policy[] {
    const day = { windowSeconds: 86_400, resetSeconds: secondsUntil(budgets.endsAt) };
    const { audioMinutesPerDay, tokensPerDay } = limits;
    if (budget === 'audio' && audioMinutesPerDay !== undefined) {
      const quota = Math.max(1, Math.round(audioMinutesPerDay * 60));
      const remaining = Math.max(0, Math.ceil(quota - budgets.used(key).audioMs / 1000));
      return [{ name: 'audio', quota, unit: 'parlance-audio-seconds', remaining, ...day }];
    }
    if (budget === 'tokens' && tokensPerDay !== undefined) {
      const remaining = Math.max(0, tokensPerDay - budgets.used(key).tokens);
      return [{ name: 'tokens', quota: tokensPerDay, unit: 'parlance-tokens', remaining, ...day }];
    }
    return [];
  }
}

/** Returns the limits that live sessions apply to the current API key. */
export function limitsOfTurns(limits: Limits | undefined) {
  return {
    async allowTurn(budget: Budget): Promise<Charge | undefined> {
      const key = currentKey();
      if (key) await limits?.allowTurn(key, budget);
      return key && limits?.chargeFor(key, budget);
    },
    async requireBudget(budget: Budget, options?: { readonly isRequest: boolean }): Promise<Charge | undefined> {
      const key = currentKey();
      if (key) await limits?.requireBudget(key, budget, options);
      return key && limits?.chargeFor(key, budget);
    },
  };
}

/** A turn has no limit headers, because it is answered with an event. */
const turn: LimitedRequest = { api: { limitHeaders: () => ({}) }, atEnd: () => undefined };

function isLimited(limits: KeyLimits, budget: Budget | undefined): boolean {
  const { requestsPerMinute, concurrentRequests } = limits;
  if (requestsPerMinute !== undefined || concurrentRequests !== undefined) return true;
  return hasBudget(limits, budget);
}

function hasBudget({ audioMinutesPerDay, tokensPerDay }: KeyLimits, budget: Budget | undefined): boolean {
  return (budget === 'audio' ? audioMinutesPerDay : budget === 'tokens' ? tokensPerDay : undefined) !== undefined;
}

function requestsPolicy(quota: number | undefined, minute: Minute | undefined): Policy[] {
  if (quota === undefined || !minute) return [];
  const remaining = Math.max(0, quota - minute.used);
  const resetSeconds = secondsUntil(minute.endsAt);
  return [{ name: 'requests', quota, windowSeconds: minuteSeconds, remaining, resetSeconds }];
}

/** Returns false if the window of a policy ended before the answer, because the state of the next window is unknown. */
function isCurrent({ resetSeconds }: Policy): boolean {
  return resetSeconds !== 0;
}

function secondsUntil(ms: number): number {
  return Math.max(0, Math.ceil((ms - Date.now()) / 1000));
}

/**
 * Returns the seconds until the window of a policy ends, plus up to 10 % (at most a minute), so that the clients of a
 * key do not all retry at the same time. Never longer than the window.
 */
function waitFor({ resetSeconds = 1, windowSeconds = Infinity }: Partial<Policy> = {}, random: number): number {
  return Math.min(windowSeconds, resetSeconds + Math.round(Math.min(resetSeconds * 0.1, 60) * random));
}

function count(number: number, what: string): string {
  return `${String(number)} ${what}${number === 1 ? '' : 's'}`;
}
