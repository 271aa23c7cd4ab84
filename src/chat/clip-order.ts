/** Announces clips in the order of the model's calls, although they are synthesized in parallel. */
import type { AgentEvent } from '../../engines/contract/index.ts';
import { readAloudName } from '../tools/read-aloud.ts';

type CallEvent = Extract<AgentEvent, { call: number }>;

interface ReadAloud {
  readonly call: number;
  /** Held events: the clip of the call and everything after it. */
  readonly held: CallEvent[];
}

/**
 * Takes the tool events of a run, in valid event order, and returns those to emit now. A clip waits until every earlier
 * read_aloud of its step has announced its clip or finished; the tool-finished event of its call waits behind it. Only
 * events are delayed, never the engine. A step ends after all of its calls, so nothing is held beyond it.
 */
export function createClipOrder(): (event: CallEvent) => readonly CallEvent[] {
  /** Calls of this step for which neither a clip nor the end has been emitted. */
  const pending: ReadAloud[] = [];

  return (event) => {
    const { type, call } = event;
    if (type === 'tool-started') {
      if (event.name === readAloudName) pending.push({ call, held: [] });
      return [event];
    }
    const index = pending.findIndex((one) => one.call === call);
    const held = pending[index]?.held;
    if (held === undefined) return [event];
    if (held.length > 0 || (type === 'tool-event' && event.event.type === 'audio')) {
      held.push(event);
      return release();
    }
    if (type === 'tool-event') return [event];
    pending.splice(index, 1); // failed without a clip
    return [event, ...release()];
  };

  function release(): CallEvent[] {
    const ready = pending.findIndex(({ held }) => held.length === 0);
    return pending.splice(0, ready < 0 ? pending.length : ready).flatMap(({ held }) => held);
  }
}
