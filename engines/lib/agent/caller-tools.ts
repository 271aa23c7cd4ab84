import type { ChatCall } from '../../contract/index.ts';

/** Whether the caller runs the tools of a chat, or has run some: then none of the service's is offered. */
export function hasCallerTools({ tools = [], messages }: ChatCall): boolean {
  return tools.length > 0 || messages.some(({ role, toolCalls = [] }) => role === 'tool' || toolCalls.length > 0);
}
