import { beforeEach, describe, expect, it } from 'vitest';
import { EngineError, type CallQueue, type CallQueueOptions } from '../../../engines/contract/index.ts';
import { runInScope } from '../../../src/request-scope.ts';
import { createQueue } from '../../../src/engine-host/scheduling/call-queue.ts';

/** Milliseconds on the queue's clock. */
let clock: number;
/** What happened to the jobs, in order. */
let events: string[];

beforeEach(() => {
  clock = 0;
  events = [];
});

interface Job {
  readonly name: string;
  /** What the caller sees. */
  readonly outcome: Promise<string>;
  finish(): void;
  fail(error: Error): void;
  leave(): void;
}

function open(options: CallQueueOptions) {
  const queue = createQueue(options, () => clock);
  return {
    queue,
    add: (name: string, leaving?: Leaving) => addJob(queue, name, leaving),
    /** A job of a caller; its name is the caller's with a number. */
    addOf: (caller: string, number: number, leaving?: Leaving) =>
      runInScope({ caller }, () => addJob(queue, `${caller}${number}`, leaving)),
  };
}

interface Leaving {
  /** Of the abort. */
  readonly reason: Error;
}

const late = new EngineError('engine-timeout', 'It was not done in time.');

/** A job that runs until it is told to end. */
function addJob(queue: CallQueue, name: string, { reason }: Leaving = { reason: new Error(`${name} has left`) }): Job {
  const work = Promise.withResolvers<string>();
  const caller = new AbortController();
  const job = () => {
    events.push(`${name} starts`);
    return work.promise;
  };
  const outcome = queue.run(job, { signal: caller.signal });
  for (const promise of [outcome, work.promise]) promise.catch(() => {}); // tests look at the outcomes that they are about
  return {
    name,
    outcome,
    finish: () => work.resolve(`${name} is done`),
    fail: (error) => work.reject(error),
    leave: () => caller.abort(reason),
  };
}

/** Lets everything happen that can happen without anybody's doing. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

async function overload({ outcome }: Job): Promise<EngineError> {
  const error: unknown = await outcome.catch((error: unknown) => error);
  if (!EngineError.is(error)) throw new Error('the job was not refused', { cause: error });
  expect(error.code).toBe('overloaded');
  return error;
}

describe('the queue', () => {
  it('runs as many jobs at once as it has slots', async () => {
    const { add } = open({ slots: 2, waiting: 5 });
    ['a', 'b', 'c'].forEach((name) => add(name));
    await settle();
    expect(events).toEqual(['a starts', 'b starts']);
  });

  it('answers each caller with its own result', async () => {
    const { add } = open({ slots: 2, waiting: 5 });
    const [a, b, c] = [add('a'), add('b'), add('c')];
    c.finish();
    b.finish();
    a.finish();
    expect(await Promise.all([a.outcome, b.outcome, c.outcome])).toEqual(['a is done', 'b is done', 'c is done']);
  });

  it('starts jobs in the order of their coming', async () => {
    const { add } = open({ slots: 1, waiting: 5 });
    const jobs = ['a', 'b', 'c', 'd'].map((name) => add(name));
    for (const job of jobs) {
      job.finish();
      await job.outcome;
    }
    expect(events).toEqual(['a starts', 'b starts', 'c starts', 'd starts']);
  });

  it('lets no one who has just come overtake one who waits', async () => {
    const { queue, add } = open({ slots: 1, waiting: 5 });
    const first = add('first');
    add('waits');
    // Comes at the very moment at which the first one's slot is free.
    void first.outcome.then(() => addJob(queue, 'late'));
    first.finish();
    await settle();
    expect(events).toEqual(['first starts', 'waits starts']);
  });

  it('refuses who comes when every place is taken, and takes the next one when a place is free again', async () => {
    const { queue, add } = open({ slots: 1, waiting: 1 });
    const a = add('a');
    expect(queue.full).toBe(false);
    add('b');
    expect(queue.full).toBe(true);
    await overload(add('c'));
    a.finish();
    await a.outcome;
    expect(queue.full).toBe(false);
    add('d');
    expect(queue.full).toBe(true);
    await settle();
    expect(events).toEqual(['a starts', 'b starts']);
  });

  it('may have no room to wait', async () => {
    const { queue, add } = open({ slots: 1, waiting: 0 });
    expect(queue.full).toBe(false);
    const a = add('a');
    expect(queue.full).toBe(true);
    await overload(add('b'));
    a.finish();
    await a.outcome;
    expect(queue.full).toBe(false);
  });
});

describe('a waiting job', () => {
  /** Adds a job of a caller that notes its places. */
  function follow(queue: CallQueue, caller: string) {
    const places: (number | null)[] = [];
    const leaving = new AbortController();
    const work = Promise.withResolvers<undefined>();
    const options = { signal: leaving.signal, onQueued: (ahead: number | null) => void places.push(ahead) };
    const outcome = runInScope({ caller }, () => queue.run(() => work.promise, options));
    outcome.catch(() => {});
    return { places, outcome, finish: () => work.resolve(undefined), leave: () => leaving.abort(new Error('left')) };
  }

  it('is told its place when it begins to wait and whenever it changes, and when its turn has come', async () => {
    const { queue } = open({ slots: 1, waiting: 5 });
    const [first, second, third, fourth] = ['a', 'b', 'c', 'd'].map((caller) => follow(queue, caller));
    await settle();
    expect([first, second, third, fourth].map((job) => job?.places)).toEqual([[], [0], [1], [2]]);
    first?.finish();
    await settle();
    expect([second?.places, third?.places, fourth?.places]).toEqual([
      [0, null],
      [1, 0],
      [2, 1],
    ]);
    third?.leave();
    await settle();
    expect(fourth?.places).toEqual([2, 1, 0]);
    second?.finish();
    await settle();
    expect(fourth?.places).toEqual([2, 1, 0, null]);
  });

  it('is not told anything when a slot is free', async () => {
    const { queue } = open({ slots: 1, waiting: 5 });
    const job = follow(queue, 'a');
    job.finish();
    await job.outcome;
    expect(job.places).toEqual([]);
  });

  it('falls back when a caller with fewer jobs arrives', async () => {
    const { queue } = open({ slots: 1, waiting: 5 });
    const greedy = ['a', 'a', 'a'].map((caller) => follow(queue, caller));
    await settle();
    const quiet = follow(queue, 'b');
    await settle();
    expect([...greedy, quiet].map(({ places }) => places)).toEqual([[], [0, 1], [1, 2], [0]]);
  });

  it('whose listener throws fails alone', async () => {
    const { queue } = open({ slots: 1, waiting: 5 });
    const first = follow(queue, 'a');
    const onQueued = () => {
      throw new Error('no listener');
    };
    const broken = queue.run(() => Promise.resolve(), { signal: new AbortController().signal, onQueued });
    const last = follow(queue, 'c');
    await expect(broken).rejects.toThrow('no listener');
    await settle();
    expect(last.places.at(-1)).toBe(0);
    first.finish();
    await settle();
    expect(last.places.at(-1)).toBeNull();
  });
});

describe('a slot is free again', () => {
  it('after a job that failed, whose failure its caller sees', async () => {
    const { add } = open({ slots: 1, waiting: 5 });
    const [a, b] = [add('a'), add('b')];
    a.fail(new Error('boom'));
    await expect(a.outcome).rejects.toThrow('boom');
    await settle();
    expect(events).toEqual(['a starts', 'b starts']);
    b.finish();
    expect(await b.outcome).toBe('b is done');
  });

  it('after a job that throws at once', async () => {
    const { queue, add } = open({ slots: 1, waiting: 0 });
    const job = () => {
      throw new Error('boom');
    };
    await expect(queue.run(job, { signal: new AbortController().signal })).rejects.toThrow('boom');
    expect(queue.full).toBe(false);
    add('a');
    await settle();
    expect(events).toEqual(['a starts']);
  });

  it('as often as it was taken, however jobs end', async () => {
    const { queue, add } = open({ slots: 2, waiting: 3 });
    for (let round = 0; round < 50; round++) {
      const jobs = ['a', 'b', 'c', 'd', 'e'].map((name) => add(name));
      jobs[(round * 3) % 5]!.leave();
      await settle();
      jobs.forEach((job, index) => ((index + round) % 2 ? job.finish() : job.fail(new Error('boom'))));
      await Promise.allSettled(jobs.map(({ outcome }) => outcome));
    }
    events = [];
    ['a', 'b', 'c', 'd', 'e'].forEach((name) => add(name));
    await settle();
    expect(events).toEqual(['a starts', 'b starts']);
    expect(queue.full).toBe(true);
  });
});

describe('a caller that leaves', () => {
  it('while it waits never starts, and gives its place to another', async () => {
    const { queue, add } = open({ slots: 1, waiting: 2 });
    const [a, b, c] = [add('a'), add('b'), add('c')];
    b.leave();
    await expect(b.outcome).rejects.toThrow('b has left');
    expect(queue.full).toBe(false);
    const d = add('d');
    for (const job of [a, c, d]) {
      job.finish();
      await job.outcome;
    }
    expect(events).toEqual(['a starts', 'c starts', 'd starts']);
  });

  it('before it comes never starts', async () => {
    const { queue } = open({ slots: 1, waiting: 2 });
    const signal = AbortSignal.abort(new Error('gone'));
    const job = () => Promise.resolve(events.push('it starts'));
    await expect(queue.run(job, { signal })).rejects.toThrow('gone');
    expect(events).toEqual([]);
    expect(queue.full).toBe(false);
  });

  it('while its job runs keeps its slot until the job has ended', async () => {
    const { add } = open({ slots: 1, waiting: 2 });
    const a = add('a');
    add('b');
    a.leave();
    await settle();
    expect(events).toEqual(['a starts']);
    a.fail(new Error('a was killed'));
    await expect(a.outcome).rejects.toThrow('a was killed');
    await settle();
    expect(events).toEqual(['a starts', 'b starts']);
  });

  it('after its job has started leaves no one else behind in the line', async () => {
    const { add } = open({ slots: 1, waiting: 2 });
    const [a, b, c] = [add('a'), add('b'), add('c')];
    a.finish();
    await a.outcome;
    b.leave();
    b.finish();
    await b.outcome;
    c.finish();
    expect(await c.outcome).toBe('c is done');
  });
});

describe('a deadline', () => {
  it('that passes while a job waits is overloaded: the job has had no place', async () => {
    const { queue, add } = open({ slots: 1, waiting: 2 });
    const past = add('past');
    await settle();
    clock += 7_000;
    past.finish();
    await past.outcome;
    const a = add('a');
    const b = add('b', { reason: late });
    b.leave();
    expect((await overload(b)).retryAfter, 'the length of the line').toBe(7);
    expect(queue.full).toBe(false);
    a.finish();
    await a.outcome;
    await settle();
    expect(events).toEqual(['past starts', 'a starts']);
  });

  it('that passes while a job runs is what the job makes of it', async () => {
    const { add } = open({ slots: 1, waiting: 2 });
    const a = add('a', { reason: late });
    a.leave();
    a.fail(late);
    await expect(a.outcome).rejects.toBe(late);
  });
});

describe('callers', () => {
  /** Ends one job after the other, in the order in which they start, and returns that order. */
  async function startOrder(jobs: readonly Job[]): Promise<string[]> {
    for (let ended = 0; ended < jobs.length; ended += 1) {
      await settle();
      const name = events[ended]?.replace(' starts', '');
      jobs.find((job) => job.name === name)?.finish();
    }
    return events.map((event) => event.replace(' starts', ''));
  }

  it('take turns, however many jobs each has', async () => {
    const { addOf } = open({ slots: 1, waiting: 20 });
    const jobs = [1, 2, 3, 4].map((number) => addOf('a', number));
    jobs.push(addOf('b', 1), addOf('b', 2), addOf('c', 1));
    expect(await startOrder(jobs)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('that hold no slot are served before those that hold one', async () => {
    const { addOf } = open({ slots: 2, waiting: 20 });
    const [a1] = [1, 2, 3, 4].map((number) => addOf('a', number));
    addOf('b', 1);
    addOf('c', 1);
    a1?.finish();
    await settle();
    expect(events).toEqual(['a1 starts', 'a2 starts', 'b1 starts']);
  });

  it('have a share of the slots each: a long job counts until it has ended', async () => {
    const { addOf } = open({ slots: 2, waiting: 20 });
    addOf('a', 1); // runs to the end of the test
    const b = [1, 2, 3].map((number) => addOf('b', number));
    addOf('a', 2);
    for (const job of b) {
      job.finish();
      await job.outcome;
    }
    await settle();
    expect(events).toEqual(['a1 starts', 'b1 starts', 'b2 starts', 'b3 starts', 'a2 starts']);
  });

  it('without a request are one caller', async () => {
    const { add, addOf } = open({ slots: 1, waiting: 20 });
    const jobs = [add('x'), add('y'), add('z'), addOf('a', 1)];
    expect(await startOrder(jobs)).toEqual(['x', 'a1', 'y', 'z']);
  });

  it('with few jobs push out the newest of the longest line when the queue is full', async () => {
    const { queue, addOf } = open({ slots: 1, waiting: 4 });
    const a = [1, 2, 3, 4, 5].map((number) => addOf('a', number));
    expect(queue.full).toBe(true);
    addOf('b', 1);
    await overload(a[4]!);
    addOf('b', 2);
    await overload(a[3]!);
    await overload(addOf('b', 3)); // a still has more jobs, but then it would not
    await overload(addOf('a', 6));
    expect(queue.full).toBe(true);
    a[0]!.finish();
    await settle();
    expect(events).toEqual(['a1 starts', 'b1 starts']);
  });

  it('that hold the slots are pushed out by one that holds nothing, even from their only place', async () => {
    const { addOf } = open({ slots: 1, waiting: 1 });
    addOf('a', 1);
    const second = addOf('a', 2);
    const quiet = addOf('b', 1);
    await overload(second);
    await overload(addOf('c', 1)); // b holds no more than c would
    expect(await Promise.race([quiet.outcome, settle().then(() => 'waits')])).toBe('waits');
  });

  it('that have left already push no one out', async () => {
    const { queue, addOf } = open({ slots: 1, waiting: 2 });
    const a = [1, 2, 3].map((number) => addOf('a', number));
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(runInScope({ caller: 'b' }, () => queue.run(() => Promise.resolve(), { signal }))).rejects.toThrow();
    a.forEach((job) => job.finish());
    expect(await Promise.all(a.map(({ outcome }) => outcome))).toHaveLength(3);
  });
});

describe('a quiet caller beside a greedy one', () => {
  /** Two slots, 16 places, jobs of a second on average; the greedy caller keeps 40 requests in flight. */
  async function simulate() {
    const jobMs = [1_000, 600, 1_400, 800, 1_200];
    const tickMs = 100;
    const queue = createQueue({ slots: 2, waiting: 16 }, () => clock);
    const ends = new Map<() => void, number>();
    let begun = 0;
    let greedyInFlight = 0;
    const quiet = { asked: 0, served: 0, longestWaitMs: 0 };
    const request = (caller: string, started: () => void) => {
      const job = () => {
        started();
        const { promise, resolve } = Promise.withResolvers<undefined>();
        ends.set(() => resolve(undefined), clock + jobMs[begun++ % jobMs.length]!);
        return promise;
      };
      return runInScope({ caller }, () => queue.run(job, { signal: new AbortController().signal }));
    };
    for (clock = 0; clock < 320_000; clock += tickMs) {
      for (const [end, at] of ends) if (at <= clock && ends.delete(end)) end();
      await settle();
      for (; greedyInFlight < 40; greedyInFlight += 1) {
        const over = () => void (greedyInFlight -= 1);
        request('greedy', () => undefined).then(over, over);
      }
      if (clock % 3_000 === 0 && quiet.asked < 100) {
        const askedAt = clock;
        quiet.asked += 1;
        const noteWait = () => (quiet.longestWaitMs = Math.max(quiet.longestWaitMs, clock - askedAt));
        request('quiet', noteWait).then(
          () => (quiet.served += 1),
          () => undefined,
        );
      }
      await settle();
    }
    return { quiet, jobs: begun };
  }

  it('is always served, after two mean jobs at most, and no slot is idle', async () => {
    const { quiet, jobs } = await simulate();
    expect(quiet).toMatchObject({ asked: 100, served: 100 });
    expect(quiet.longestWaitMs).toBeLessThanOrEqual(2_000);
    expect(jobs).toBeGreaterThan(600);
  });
});

describe('Retry-After', () => {
  /** Seconds that are announced to a caller of a full queue, after jobs of these lengths. */
  async function announced(options: CallQueueOptions, ...lengthsMs: number[]): Promise<number | undefined> {
    const { add } = open(options);
    for (const length of lengthsMs) {
      const job = add('past');
      await settle();
      clock += length;
      job.finish();
      await job.outcome;
    }
    for (let place = 0; place < options.slots + options.waiting; place++) add('present');
    return (await overload(add('one too many'))).retryAfter;
  }

  it('is a second when nothing is known yet', async () => {
    expect(await announced({ slots: 1, waiting: 3 })).toBe(1);
  });

  it('is how long the line takes at the pace of the last jobs', async () => {
    expect(await announced({ slots: 1, waiting: 3 }, 2_000, 4_000)).toBe(12);
    expect(await announced({ slots: 2, waiting: 3 }, 2_000, 4_000)).toBe(6);
    expect(await announced({ slots: 1, waiting: 0 }, 30_000)).toBe(30);
  });

  it('is never less than a second', async () => {
    expect(await announced({ slots: 4, waiting: 1 }, 10)).toBe(1);
  });

  it('forgets jobs of long ago', async () => {
    const oneHour = 3_600_000;
    expect(await announced({ slots: 1, waiting: 0 }, oneHour, ...Array<number>(8).fill(2_000))).toBe(2);
  });

  it('is estimated from the running jobs until one has finished, and when they take longer than those before', async () => {
    const { add } = open({ slots: 2, waiting: 1 });
    add('a');
    clock += 20_000;
    add('b');
    add('waits');
    clock += 20_000;
    const estimate = async () => (await overload(add('one too many'))).retryAfter;
    // One slot every 40 s and one every 20 s: the second job from now starts after two thirds of 40 s.
    expect(await estimate()).toBeCloseTo(26.667, 3);
    clock += 200_000;
    expect(await estimate()).toBeCloseTo(2 / (1 / 240 + 1 / 220), 3);
  });

  it('of a running job that is slower than the last ones is how long it has taken', async () => {
    const { add } = open({ slots: 1, waiting: 0 });
    const quick = add('quick');
    await settle();
    clock += 1_000;
    quick.finish();
    await quick.outcome;
    add('slow');
    clock += 300_000;
    expect((await overload(add('one too many'))).retryAfter).toBe(300);
  });

  it('is at most an hour', async () => {
    const { add } = open({ slots: 1, waiting: 0 });
    add('a');
    clock += 86_400_000;
    expect((await overload(add('b'))).retryAfter).toBe(3_600);
  });

  it('depends on the line of the caller, in which others take turns', async () => {
    const { addOf } = open({ slots: 1, waiting: 5 });
    const a = [1, 2, 3, 4, 5].map((number) => addOf('a', number));
    addOf('b', 1);
    clock += 10_000;
    expect((await overload(addOf('a', 6))).retryAfter, 'four of its own, one of b, and then this one').toBe(60);
    addOf('c', 1);
    expect((await overload(a[4]!)).retryAfter, 'three of its own, one of b, and then this one').toBe(50);
  });
});
