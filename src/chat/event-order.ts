/** What every run keeps to, whoever wrote its engine: the order that the stream promises to its readers. */
import { EngineError, type AgentEvent } from '../../engines/contract/index.ts';

/**
 * Takes the events of one run in turn; true for those that readers may see. Throws `engine-failed` at the first that
 * breaks the order. Only what a tool says after its end is passed over: it is late, and no fault of the engine's.
 */
export function createRules(): (event: AgentEvent) => boolean {
  let step = -1;
  /** Of this step. */
  let content = '';
  let calls = 0;
  const running = new Set<number>();

  return (event) => {
    switch (event.type) {
      case 'step-started':
        must(event.step === step + 1, `step ${event.step} follows step ${step}`);
        must(running.size === 0, `step ${event.step} starts while tools run`);
        step = event.step;
        content = '';
        calls = 0;
        return true;
      case 'reasoning-delta':
      case 'content-delta':
        must(event.step === step, `a delta belongs to step ${event.step} in step ${step}`);
        must(typeof event.delta === 'string', 'a delta is no text');
        if (event.type === 'content-delta') content += event.delta;
        return true;
      case 'tool-started':
        must(event.step === step && event.call === calls, `call ${event.call} of step ${event.step} is out of turn`);
        running.add(calls++);
        return true;
      case 'tool-event':
        return event.step === step && running.has(event.call);
      case 'tool-finished':
        must(event.step === step && running.delete(event.call), `call ${event.call} ends without running`);
        return true;
      case 'completed':
        must(step >= 0, 'the run is completed before its first step');
        must(running.size === 0, 'the run is completed while tools run');
        must(event.result.content === content, 'the deltas of the last step are not the content of the result');
        return true;
      default:
        throw broken(`"${String((event as { type: unknown }).type)}" is no event`);
    }
  };
}

function must(isKept: boolean, what: string): asserts isKept {
  if (!isKept) throw broken(what);
}

function broken(what: string): EngineError {
  return new EngineError('engine-failed', 'The engine broke the rules of its contract.', { cause: new Error(what) });
}
