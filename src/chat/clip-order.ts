/** Announces clips in the order of the model's calls, even though clips are synthesized in parallel. */
import type { AgentEvent } from '../../engines/contract/index.ts';
import { readAloudName } from '../tools/read-aloud.ts';

type CallEvent = Extract<AgentEvent, { call: number }>;

interface ReadAloud {
  readonly call: number;
  /** Events that are held back: the clip of the call and everything after it. */
  readonly held: CallEvent[];
}

/**
 * Takes the tool events of a run, in valid event order, and returns the events to emit now. A clip waits until every
 * earlier read_aloud call of its step has announced its clip or finished; the tool-finished event of the same call
 * waits behind the clip. Only events are delayed, never the engine. A step ends after all of its calls, so no event is
 * held beyond the step.
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
