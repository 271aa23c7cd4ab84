/** Who may stay in memory, and who is unloaded for whom. */
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../../lib/errors.ts';
import { createMemoryPlan, type MemoryBudget, type MemoryUser } from '../../../src/engine-host/resident/memory-plan.ts';

const { signal: never } = new AbortController();

/** Sizes are bytes of a budget of 100. */
function plan(budget: Partial<MemoryBudget> = {}) {
  const memory = createMemoryPlan({ bytes: 100, isStrict: false, ...budget });
  const events: string[] = [];
  let clock = 0;

  function user(name: string, bytes: number) {
    const state = { bytes, idleSince: undefined as number | undefined };
    const self: MemoryUser = {
      name,
      pid: undefined,
      get bytes() {
        return state.bytes;
      },
      get idleSince() {
        return state.idleSince;
      },
      unload: () => void events.push(`unload ${name}`),
    };
    return {
      enter: (signal = never) =>
        memory.enter(self, signal).then(
          () => void events.push(`enter ${name}`),
          (error: unknown) => void events.push(`${name}: ${messageOf(error)}`),
        ),
      becomesIdle() {
        state.idleSince = clock += 1;
        memory.update();
      },
      works: () => void (state.idleSince = undefined),
      grows(to: number) {
        state.bytes = to;
        memory.update();
      },
      ends: () => memory.leave(self),
    };
  }
  const settled = async () => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    return events.splice(0);
  };
  return { memory, user, settled };
}

describe('the memory plan', () => {
  it('lets in what fits, without waiting', async () => {
    const { user, settled } = plan();
    void user('one', 60).enter();
    void user('two', 40).enter();
    expect(await settled()).toEqual(['enter one', 'enter two']);
  });

  it('unloads the longest idle one first, and no more than needed', async () => {
    const { user, settled } = plan();
    const [old, young, next] = [user('old', 50), user('young', 50), user('next', 40)];
    await Promise.all([old.enter(), young.enter()]);
    old.becomesIdle();
    young.becomesIdle();
    await settled();
    void next.enter();
    expect(await settled()).toEqual(['unload old']);
    old.ends();
    expect(await settled()).toEqual(['enter next']);
  });

  it('waits for memory that is still being freed instead of unloading another one', async () => {
    const { user, settled } = plan();
    const [one, two, next] = [user('one', 50), user('two', 50), user('next', 40)];
    await Promise.all([one.enter(), two.enter()]);
    one.becomesIdle();
    await settled();
    void next.enter();
    two.becomesIdle();
    expect(await settled()).toEqual(['unload one']);
  });

  it('waits behind busy ones, and is served in order of arrival', async () => {
    const { user, settled } = plan();
    const [busy, large, small] = [user('busy', 80), user('large', 90), user('small', 10)];
    await busy.enter();
    await settled();
    void large.enter();
    void small.enter();
    expect(await settled()).toEqual([]); // small would fit, and would keep large waiting
    busy.becomesIdle();
    expect(await settled()).toEqual(['unload busy']);
    busy.ends();
    expect(await settled()).toEqual(['enter large', 'enter small']);
  });

  it('unloads nothing while a busy program takes too much anyway', async () => {
    const { user, settled } = plan();
    const [busy, idle, next] = [user('busy', 60), user('idle', 30), user('next', 50)];
    await Promise.all([busy.enter(), idle.enter()]);
    idle.becomesIdle();
    await settled();
    void next.enter();
    expect(await settled()).toEqual([]);
    busy.becomesIdle();
    expect(await settled()).toEqual(['unload idle', 'unload busy']);
  });

  it('counts what has run as no more than a budget that the operator wrote', () => {
    expect(plan({ isStrict: true }).memory.asSeen(500)).toBe(100);
    expect(plan().memory.asSeen(500)).toBe(500);
  });

  it('lets nothing in once it is closed, and ends everything', async () => {
    const { memory, user, settled } = plan();
    void user('busy', 60).enter();
    void user('waiting', 60).enter();
    await settled();
    memory.close();
    void user('late', 1).enter();
    expect(await settled()).toEqual(['unload busy', 'unload waiting', 'late: The service is stopping.']);
  });

  it('loads what is larger than the budget alone', async () => {
    const { user, settled } = plan();
    const [small, giant] = [user('small', 10), user('giant', 500)];
    await small.enter();
    small.becomesIdle();
    await settled();
    void giant.enter();
    expect(await settled()).toEqual(['unload small']);
    small.ends();
    expect(await settled()).toEqual(['enter giant']);
    void small.enter();
    expect(await settled()).toEqual([]);
    giant.becomesIdle();
    expect(await settled()).toEqual(['unload giant']);
  });

  it('refuses that with both numbers where the operator wrote the budget', async () => {
    const { user, settled } = plan({ bytes: 100 * 2 ** 20, isStrict: true });
    void user('giant', 500 * 2 ** 20).enter();
    expect(await settled()).toEqual(['giant: The model giant needs 524 MB of memory; MEMORY_BUDGET is 105 MB.']);
  });

  it('unloads idle ones when others have grown', async () => {
    const { user, settled } = plan();
    const [one, two] = [user('one', 50), user('two', 50)];
    await Promise.all([one.enter(), two.enter()]);
    one.becomesIdle();
    await settled();
    two.grows(70);
    expect(await settled()).toEqual(['unload one']);
    one.ends();
    two.grows(300); // it is the only one
    two.becomesIdle();
    expect(await settled()).toEqual([]);
  });

  it('forgets who gives up waiting, and serves the next', async () => {
    const { user, settled } = plan();
    const [busy, large, small] = [user('busy', 80), user('large', 90), user('small', 20)];
    await busy.enter();
    await settled();
    const controller = new AbortController();
    void large.enter(controller.signal);
    void small.enter();
    controller.abort(new Error('left'));
    expect(await settled()).toEqual(['large: left', 'enter small']);
  });

  it('has room where no busy program would be waited for', async () => {
    const { memory, user, settled } = plan();
    const [busy, idle] = [user('busy', 50), user('idle', 50)];
    await Promise.all([busy.enter(), idle.enter()]);
    expect(memory.hasRoomFor(40)).toBe(false);
    idle.becomesIdle();
    expect([memory.hasRoomFor(50), memory.hasRoomFor(51)]).toEqual([true, false]);
    idle.works();
    void user('next', 30).enter();
    idle.becomesIdle();
    expect(await settled()).toContain('unload idle');
    expect(memory.hasRoomFor(10)).toBe(false); // somebody waits already
  });
});
