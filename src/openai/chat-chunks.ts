/** The streamed answer of a chat completion, in chunks. */
import type { ChatResult } from '../../engines/contract/index.ts';
import type { RunFormat } from '../chat/run.ts';
import { createStepJoin } from '../chat/step-join.ts';
import { toUsage, toWireCall, type AnswerFacts } from './chat-answer.ts';
import type { Schemas } from './operations.ts';

export type Chunk = Schemas['ChatCompletionChunk'];
type Delta = Schemas['CompletionDelta'];

const none: readonly Chunk[] = [];

export function createChunks(facts: AnswerFacts, { withUsage }: { readonly withUsage: boolean }): RunFormat<Chunk> {
  const joinContent = createStepJoin();
  const joinReasoning = createStepJoin();
  const { id, created, model } = facts;

  function chunk(delta: Delta, finish_reason: ChatResult['finishReason'] | null = null): Chunk {
    const choices = [{ index: 0 as const, delta, finish_reason }];
    return { id, object: 'chat.completion.chunk', created, model, choices };
  }

  function last({ finishReason, toolCalls, usage }: ChatResult): readonly Chunk[] {
    const calls = toolCalls?.map((call, index) => ({ index, ...toWireCall(call) }));
    return [
      ...(calls ? [chunk({ tool_calls: calls })] : none),
      chunk({}, finishReason),
      ...(withUsage ? [{ ...chunk({}), choices: [], usage: toUsage(usage) }] : none),
    ];
  }

  return {
    start: () => [chunk({ role: 'assistant', content: '' })],
    toEvents(event) {
      switch (event.type) {
        case 'content-delta':
          return event.delta === '' ? none : [chunk({ content: joinContent(event) })];
        case 'reasoning-delta':
          return event.delta === '' ? none : [chunk({ reasoning_content: joinReasoning(event) })];
        case 'completed':
          return last(event.result);
        default:
          return none; // the server's own tools are not shown
      }
    },
  };
}

/** Returns false for the first chunk, which only announces the run. */
export function isFromProvider({ choices: [choice] }: Chunk): boolean {
  return choice?.delta.role === undefined;
}
