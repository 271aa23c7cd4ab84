/** Enforces the event order that the contract promises, for every engine. */
import type { AgentEvent } from '../../engines/contract/index.ts';
import { violation } from '../engine-host/guard/failures.ts';
import { createStepJoin } from './step-join.ts';

/**
 * Checks the events of one run in turn; true for those to emit. Throws `engine-failed` at the first violation. The only
 * events dropped are those that a tool emits after its end, which is not the engine's fault.
 */
export function createEventOrder(): (event: AgentEvent) => boolean {
  let step = -1;
  /** The content of the current step so far. An array, because each `+=` on a string would keep an object in memory. */
  let content: string[] = [];
  /** The reasoning by step. */
  const reasoning: string[] = [];
  const joinReasoning = createStepJoin();
  let calls = 0;
  let running: readonly number[] = [];

  return (event) => {
    switch (event.type) {
      case 'step-started':
        must(event.step === step + 1, `step ${event.step} follows step ${step}`);
        must(running.length === 0, `step ${event.step} starts while tools are running`);
        step = event.step;
        content = [];
        calls = 0;
        return true;
      case 'reasoning-delta':
      case 'content-delta':
        must(event.step === step, `a delta of step ${event.step} in step ${step}`);
        must(typeof event.delta === 'string', 'a delta is not a string');
        if (event.type === 'content-delta') content.push(event.delta);
        else reasoning.push(joinReasoning(event));
        return true;
      case 'content-retracted':
        must(event.step === step, `a retraction of step ${event.step} in step ${step}`);
        content = [];
        return true;
      case 'tool-started':
        must(event.step === step && event.call === calls, `call ${event.call} of step ${event.step} is out of order`);
        running = [...running, calls++];
        return true;
      case 'tool-event':
        return event.step === step && running.includes(event.call);
      case 'tool-finished':
        must(event.step === step && running.includes(event.call), `call ${event.call} finished without running`);
        running = running.filter((call) => call !== event.call);
        return true;
      case 'completed':
        must(step >= 0, 'the run completed before its first step');
        must(running.length === 0, 'the run completed while tools are running');
        must(
          event.result.content === content.join(''),
          'the deltas of the last step differ from the content of the result',
        );
        must(
          (event.result.reasoning ?? '') === reasoning.join(''),
          'the reasoning deltas, with an empty line between steps, differ from the reasoning of the result',
        );
        return true;
      default:
        throw violation(`"${String((event as { type: unknown }).type)}" is not an event type`);
    }
  };
}

function must(isValid: boolean, what: string): asserts isValid {
  if (!isValid) throw violation(what);
}
