import { beforeEach, describe, expect, it } from 'vitest';
import { EngineError, type JobQueue, type QueueOptions } from '../../engines/contract.ts';
import { createQueue } from '../../src/machine/queue.ts';

/** Milliseconds on the queue's clock. */
let clock: number;
/** What happened to the jobs, in order. */
let events: string[];

beforeEach(() => {
  clock = 0;
  events = [];
});

interface Job {
  /** What the caller sees. */
  readonly outcome: Promise<string>;
  finish(): void;
  fail(error: Error): void;
  leave(): void;
}

function open(options: QueueOptions) {
  const queue = createQueue(options, () => clock);
  return { queue, add: (name: string, leaving?: Leaving) => addJob(queue, name, leaving) };
}

interface Leaving {
  /** Of the abort. */
  readonly reason: Error;
}

const late = new EngineError('engine-timeout', 'It was not done in time.');

/** A job that runs until it is told to end. */
function addJob(queue: JobQueue, name: string, { reason }: Leaving = { reason: new Error(`${name} has left`) }): Job {
  const work = Promise.withResolvers<string>();
  const caller = new AbortController();
  const job = () => {
    events.push(`${name} starts`);
    return work.promise;
  };
  const outcome = queue.run(job, { signal: caller.signal });
  for (const promise of [outcome, work.promise]) promise.catch(() => {}); // tests look at the outcomes that they are about
  return {
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

  it('lets nobody who has just come overtake one who waits', async () => {
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

  it('after its job has started leaves nobody else behind in the line', async () => {
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

describe('Retry-After', () => {
  /** Seconds that one hears who comes to a full queue, after jobs of these lengths. */
  async function heard(options: QueueOptions, ...lengthsMs: number[]): Promise<number | undefined> {
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
    expect(await heard({ slots: 1, waiting: 3 })).toBe(1);
  });

  it('is how long the line takes at the pace of the last jobs', async () => {
    expect(await heard({ slots: 1, waiting: 3 }, 2_000, 4_000)).toBe(12);
    expect(await heard({ slots: 2, waiting: 3 }, 2_000, 4_000)).toBe(6);
    expect(await heard({ slots: 1, waiting: 0 }, 30_000)).toBe(30);
  });

  it('is never less than a second', async () => {
    expect(await heard({ slots: 4, waiting: 1 }, 10)).toBe(1);
  });

  it('forgets jobs of long ago', async () => {
    const oneHour = 3_600_000;
    expect(await heard({ slots: 1, waiting: 0 }, oneHour, ...Array<number>(8).fill(2_000))).toBe(2);
  });
});
