// my-engine: repeats the last message, word by word. Replace `answer` by your model.
import { setTimeout as sleep } from 'node:timers/promises';
import { defineEngine, EngineError, type ChatCall } from '@parlance/server/engine';

interface Options {
  /** Milliseconds for each word. */
  pace?: number;
}

export default defineEngine<'chat', Options>({
  contract: 1,
  name: 'my-engine',
  capability: 'chat',
  options: {
    type: 'object',
    properties: { pace: { type: 'integer', minimum: 0, default: 20, description: 'Milliseconds for each word.' } },
    additionalProperties: false,
  },
  create({ pace = 20 }) {
    return {
      models: [{ id: 'my-engine', local: true }],
      async *complete(call, { signal }) {
        if (call.model !== 'my-engine') throw new EngineError('unknown-model', `Unknown model ${call.model}.`);
        // A model that calls tools has a further step for each round of them.
        yield { type: 'step-started', step: 0 };
        let content = '';
        for (const delta of answer(call)) {
          await sleep(pace, undefined, { signal }).catch(() => signal.throwIfAborted());
          content += delta;
          yield { type: 'content-delta', step: 0, delta };
        }
        yield { type: 'completed', result: { content, finishReason: 'stop', reasoning: null, usage: null } };
      },
    };
  },
});

function answer({ messages }: ChatCall): string[] {
  const question = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  return ['You said: ', ...question.split(/(?<=\s)/)];
}
