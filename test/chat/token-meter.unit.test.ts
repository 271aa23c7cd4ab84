/** The tokens of runs that end before their usage is known. */
import { expect, it } from 'vitest';
import type { AgentEvent } from '../../engines/contract/index.ts';
import { TokenMeter } from '../../src/chat/token-meter.ts';

/** 40 characters: 10 tokens. */
const messages = [{ role: 'user', content: 'x'.repeat(40) }] as const;
const step = (index: number): AgentEvent => ({ type: 'step-started', step: index });
const content = (tokens: number, index = 0): AgentEvent => ({
  type: 'content-delta',
  step: index,
  delta: 'x'.repeat(tokens * 4),
});
const reasoning = (tokens: number): AgentEvent => ({ type: 'reasoning-delta', step: 0, delta: 'x'.repeat(tokens * 4) });
const head = { step: 0, call: 0, name: 'look_up' } as const;
/** `{"a":"..."}` has 8 characters besides the text: 2 tokens. */
const called = (tokens: number): AgentEvent => ({
  type: 'tool-started',
  ...head,
  arguments: { a: 'x'.repeat(tokens * 4 - 8) },
});
const returned = (tokens: number): AgentEvent => ({
  type: 'tool-finished',
  ...head,
  ok: true,
  output: 'x'.repeat(tokens * 4),
  durationMs: 1,
});

/** A number reports the usage of the run so far. */
function tokensOf(run: readonly (AgentEvent | number)[], isLeft = false): number {
  const meter = new TokenMeter(messages);
  for (const item of run) {
    if (typeof item === 'number') meter.report(item);
    else meter.see(item);
  }
  return meter.tokens(isLeft);
}

it.each<[string, number, (AgentEvent | number)[]]>([
  ['the prompt and the answer', 10 + 5, [step(0), content(2), content(3)]],
  ['reasoning', 10 + 7, [step(0), reasoning(7)]],
  ['arguments of tools', 10 + 6, [step(0), called(6)]],
  ['the prompt of a later step, with its answers and outputs', 10 + 8 + (10 + 8 + 4) + 1, [
    ...[step(0), content(2), called(6), returned(4)],
    ...[step(1), content(1, 1)],
  ]],
  ['only what the engine has not reported', 90, [step(0), content(2), 90]],
  ['tool calls of a step as part of its usage', 90, [step(0), content(2), 90, called(6), returned(4)]],
  ['the last step, where those before it were reported', 90 + (10 + 2 + 6 + 4) + 3, [
    ...[step(0), content(2), 90, called(6), returned(4)],
    ...[step(1), content(3, 1)],
  ]],
  ['nothing of a step that has not delivered anything', 90, [step(0), content(2), 90, step(1)]],
  ['the tool calls of the result', 10 + 3, [step(0), {
    type: 'completed',
    result: {
      ...{ content: '', finishReason: 'tool_calls', reasoning: null, usage: null },
      toolCalls: [{ id: 'a', name: 'b', arguments: 'x'.repeat(12) }],
    },
  }]],
])('counts %s', (_what, tokens, run) => {
  expect(tokensOf(run)).toBe(tokens);
}); // prettier-ignore

it('counts the prompt of a caller that disconnects before the first word', () => {
  expect(tokensOf([step(0)], true)).toBe(10);
  expect(tokensOf([step(0), content(1)], true)).toBe(11);
  expect(tokensOf([step(0), 90], true)).toBe(90);
});

it('counts each character once, and a part of a token as one', () => {
  const calls = [{ id: 'a', name: 'b', arguments: '{"a":1}' }];
  const meter = new TokenMeter([{ role: 'assistant', content: 'x', toolCalls: calls }]);
  expect(meter.tokens(true)).toBe(0);
  meter.see(step(0));
  expect(meter.tokens(true)).toBe(2);
  meter.see(content(1));
  expect(meter.tokens(false)).toBe(3);
});

it('does not fail on arguments that are nested too deeply to serialize', () => {
  const deep = JSON.parse('{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)) as Record<string, unknown>;
  expect(tokensOf([step(0), { type: 'tool-started', ...head, arguments: deep }])).toBe(10);
});
