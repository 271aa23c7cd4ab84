/** `ChatEngine.complete` of an engine that runs the agent loop. */
import type { AgentEvent, CallerTool, ChatCall, ChatOptions, Tool } from '../../contract/index.ts';
import { abortable } from '../../../lib/abort.ts';
import { hasCallerTools, runLoop, type Loop } from './loop.ts';

export interface ToolOffer {
  /**
   * The tools that the model may call: those of the caller; if there are none, those of the service, unless the
   * messages contain calls to the caller's tools.
   */
  readonly tools: readonly (Tool | CallerTool)[];
  /** True if the tools are the caller's. */
  readonly returnsCalls: boolean;
}

/** `begin` is called by the first `next()`, which rejects with the error if `begin` throws. */
export function complete(
  call: ChatCall,
  { signal, tools, onUsage }: ChatOptions,
  begin: (offer: ToolOffer) => Pick<Loop, 'conversation' | 'maxSteps'>,
): AsyncIterable<AgentEvent> {
  const { tools: callerTools = [] } = call;
  const returnsCalls = callerTools.length > 0;
  const ownTools = hasCallerTools(call) ? [] : tools;
  return abortable<AgentEvent>(
    (own) => {
      const begun = begin({ tools: returnsCalls ? callerTools : ownTools, returnsCalls });
      return runLoop({ ...begun, tools: ownTools, returnsCalls, ...(onUsage && { onUsage }) }, own);
    },
    signal,
    ({ type }) => type === 'completed',
  );
}
