/** Connections that break in the middle of a stream. test/engines/providers has the table of failures. */
import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../../engines/contract/index.ts';
import { chunk, says, stallsAfter, startAgent } from './support.ts';

const hi = chunk({ content: 'Hi.' });

describe('a failure', () => {
  test('after the first deltas does not retract them', async () => {
    const { events, provider } = await startAgent(stallsAfter(hi));
    const seen: string[] = [];
    const reading = async () => {
      for await (const { type } of events()) {
        seen.push(type);
        if (type === 'content-delta') provider.calls[0]!.socket.resetAndDestroy();
      }
    };
    await expect(reading()).rejects.toMatchObject({ code: 'provider-bad-response' });
    expect(seen).toEqual(['step-started', 'content-delta']);
  });

  test('of the connection after finish_reason is ignored', async () => {
    const { events, provider } = await startAgent(stallsAfter(hi, chunk({}, 'stop')));
    let last: AgentEvent | undefined;
    for await (const event of events()) {
      last = event;
      if (event.type === 'content-delta') provider.calls[0]!.socket.resetAndDestroy();
    }
    expect(last).toMatchObject({ result: { content: 'Hi.', finishReason: 'stop' } });
  });
});

test('the engine itself sends nothing without the key that it needs', async () => {
  const { ask, provider } = await startAgent(says('Hi.'), { apiKey: '' });
  await expect(ask()).rejects.toMatchObject({ code: 'model-unavailable' });
  expect(provider.calls).toEqual([]);
});
