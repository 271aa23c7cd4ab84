import type { AgentEvent } from '../../contract/index.ts';
import { follow, type Follower } from '../../../lib/deadline.ts';

type Events = AsyncGenerator<AgentEvent, void, undefined>;
type Result = IteratorResult<AgentEvent, void>;

const readerLeft = new Error('the reader of the events has left');

/**
 * Events that end when their reader leaves, even while the next one is waited for: a generator alone hears of it only
 * when it has something to yield. (One more generator around it would cost 5 % of a plain chat.)
 */
export function endable(open: (signal: AbortSignal) => Events, caller: AbortSignal): AsyncIterable<AgentEvent> {
  let follower: Follower | undefined;
  let events: Events | undefined;
  let leave = () => {};

  function begin(): Events {
    const own = follow(caller);
    follower = own;
    leave = () => own.abort(readerLeft);
    return open(own.signal);
  }

  async function settle(ask: () => Promise<Result>): Promise<Result> {
    try {
      const result = await ask();
      if (result.done) follower?.[Symbol.dispose]();
      // What a tool has begun may go on when its run has completed.
      else if (result.value.type === 'completed') leave = () => {};
      return result;
    } catch (error) {
      events ??= nothing();
      follower?.abort(error as Error); // for the other tools
      follower?.[Symbol.dispose]();
      if (error === readerLeft) return { done: true, value: undefined };
      throw error;
    }
  }

  const iterator = {
    next: () => settle(() => (events ??= begin()).next()),
    return() {
      leave();
      return settle(() => (events ??= nothing()).return());
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

async function* nothing(): Events {}
