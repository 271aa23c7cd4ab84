/** Clips in the model's order of calls, although their syntheses run side by side. */
import type { AgentEvent } from '../../engines/contract/index.ts';
import { readAloudName } from '../tools/read-aloud.ts';

type CallEvent = Extract<AgentEvent, { call: number }>;

interface ReadAloud {
  readonly call: number;
  /** Its clip and what came after it. */
  readonly held: CallEvent[];
}

/**
 * Takes the tool events of a run, in an order that the rules allow, and returns those that readers may see now. A clip
 * waits until every earlier read_aloud of its step has announced its own or has ended; the end of its call waits behind
 * it. The engine never waits: only the events do, and since a step ends after all of its calls, none is left then.
 */
export function createClipOrder(): (event: CallEvent) => readonly CallEvent[] {
  /** The calls of this step that readers have seen neither a clip nor the end of. */
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
    pending.splice(index, 1); // it has failed, and has no clip
    return [event, ...release()];
  };

  function release(): CallEvent[] {
    const ready = pending.findIndex(({ held }) => held.length === 0);
    return pending.splice(0, ready < 0 ? pending.length : ready).flatMap(({ held }) => held);
  }
}
