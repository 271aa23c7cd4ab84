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

/** Returns the offer for a call with these tools of the service. */
export function offerOf(call: ChatCall, tools: readonly Tool[]): ToolOffer {
  const { tools: callerTools = [] } = call;
  const returnsCalls = callerTools.length > 0;
  return { tools: returnsCalls ? callerTools : hasCallerTools(call) ? [] : tools, returnsCalls };
}

/** `begin` is called by the first `next()`, which rejects with the error if `begin` throws. */
export function complete(
  call: ChatCall,
  { signal, tools, onUsage }: ChatOptions,
  begin: (offer: ToolOffer) => Pick<Loop, 'conversation' | 'maxSteps'>,
): AsyncIterable<AgentEvent> {
  const offer = offerOf(call, tools);
  const { returnsCalls } = offer;
  const ownTools = hasCallerTools(call) ? [] : tools;
  return abortable<AgentEvent>(
    (own) => runLoop({ ...begin(offer), tools: ownTools, returnsCalls, ...(onUsage && { onUsage }) }, own),
    signal,
    ({ type }) => type === 'completed',
  );
}
