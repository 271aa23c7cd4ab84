/** The conversation as the program with the model gets it. */
import { expect, test } from 'vitest';
import type { Message } from '../../../engines/contract/index.ts';
import { converse } from '../../../engines/llama-local/conversation.ts';

const call = (id: string, city: string) => ({ id, name: 'weather', arguments: JSON.stringify({ city }) });
const output = (toolCallId: string, content: string): Message => ({ role: 'tool', toolCallId, content });

/** The results that the calls of these messages have in the history. */
async function resultsIn(messages: readonly Message[]): Promise<unknown[]> {
  const asked: { readonly history: readonly { readonly response?: readonly (string | { readonly result: unknown })[] }[] }[] = []; // prettier-ignore
  const { requestRound } = converse(
    { model: 'm', messages },
    {
      tools: [],
      contextSize: 4_096,
      reasons: false,
      ask: (question) => {
        asked.push(question as unknown as (typeof asked)[number]);
        return Promise.resolve({});
      },
    },
  );
  for await (const _deltas of requestRound(false, new AbortController().signal).deltas);
  const responses = asked[0]!.history.flatMap(({ response = [] }) => response);
  return responses.flatMap((part) => (typeof part === 'string' ? [] : [part.result]));
}

test('an id that is used again in a later message has the result that follows that message', async () => {
  const messages: Message[] = [
    { role: 'user', content: 'Paris?' },
    { role: 'assistant', content: '', toolCalls: [call('call_1', 'Paris')] },
    output('call_1', 'sunny'),
    { role: 'assistant', content: 'Sunny.' },
    { role: 'user', content: 'Rome?' },
    { role: 'assistant', content: '', toolCalls: [call('call_1', 'Rome')] },
    output('call_1', 'rain'),
  ];
  expect(await resultsIn(messages)).toEqual(['sunny', 'rain']);
});

test('an id that is used twice in a message has its results in their order', async () => {
  const messages: Message[] = [
    { role: 'user', content: 'Paris and Rome?' },
    { role: 'assistant', content: '', toolCalls: [call('a', 'Paris'), call('a', 'Rome'), call('b', 'Oslo')] },
    output('b', 'snow'),
    output('a', 'sunny'),
    output('a', 'rain'),
  ];
  expect(await resultsIn(messages)).toEqual(['sunny', 'rain', 'snow']);
});

test('a call without a result has an empty one', async () => {
  const messages: Message[] = [
    { role: 'assistant', content: '', toolCalls: [call('a', 'Paris')] },
    { role: 'user', content: 'Never mind.' },
  ];
  expect(await resultsIn(messages)).toEqual(['']);
});
