/** Tool calls and reasoning in very many parts. What putting them together costs: `npm run bench -- parts`. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createCallParts } from '../../../engines/llm-agent/call-parts.ts';
import { maxParts } from '../../../engines/llm-agent/dialect.ts';
import { createReasoningDetails } from '../../../engines/llm-agent/reasoning-details.ts';
import { answers } from '../../support/provider.ts';
import { callKinds, many, named, pieces, reasoningKinds, type Part } from './part-kinds.ts';
import { chunk, says, startAgent, streams, tool } from './support.ts';

const argumentsOf = (count: number) => pieces(count).join('');

function take(parts: readonly Part[]): readonly { readonly arguments: string }[] {
  const calls = createCallParts(() => 'own', new Set(['echo']));
  for (const part of parts) calls.add(part);
  return calls.calls();
}

describe('a call in 60,000 parts', () => {
  test.each(Object.entries(callKinds))('%s is put together', (_name, kind) => {
    expect(take(pieces(many).map(kind))).toMatchObject([{ arguments: argumentsOf(many) }]);
  });

  test('is parsed at most once, whatever its parts look like', () => {
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const closing = Array.from({ length: many }, (_, at) => named(0, at === 0 ? '{]}' : '}'));
    expect(take(closing)).toHaveLength(1);
    const nested = [...Array.from({ length: many / 2 }, () => '{"a":'), ...Array.from({ length: many / 2 }, () => '}')];
    expect(take(nested.map((text) => named(0, text)))).toHaveLength(1);
    expect(parse.mock.calls.length).toBeLessThan(10);
  });

  test('may be one of 128 interleaved calls', () => {
    const texts = pieces(many / 128);
    const parts = texts.flatMap((text) => Array.from({ length: 128 }, (_, index) => named(index, text)));
    const calls = take(parts);
    expect(calls).toHaveLength(128);
    for (const call of calls) expect(call.arguments).toBe(texts.join(''));
  });

  test('reaches its tool', async () => {
    const echo = tool('echo', ({ n }) => String(n).length);
    const parts = pieces(many).map((text) => named(0, text));
    const chunks = parts.map((part) => chunk({ tool_calls: [part] }));
    const { run } = await startAgent([streams(...chunks, chunk({}, 'tool_calls')), says('Done.')]);
    const events = await run({ tools: [echo] });
    const output = String(10 * (many - 2));
    expect(events.find(({ type }) => type === 'tool-finished')).toMatchObject({ ok: true, output });
  });

  test.each([
    ['in a stream', (parts: readonly Part[]) => streams(chunk({ tool_calls: parts }), chunk({}, 'tool_calls'))],
    [
      'in one piece',
      (parts: readonly Part[]) =>
        answers(200, { choices: [{ message: { tool_calls: parts }, finish_reason: 'tool_calls' }] }),
    ],
  ])('is rejected beyond the limit on parts, %s', async (_how, answerWith) => {
    const { ask } = await startAgent(answerWith(Array.from({ length: maxParts + 1 }, () => ({ index: 0 }))));
    await expect(ask()).rejects.toMatchObject({ code: 'provider-bad-response' });
  });
});

describe('consecutive calls with the same index and without ids', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['brackets in strings', ['{"a":"}', '{\\"', '"}', '{"b":1}'], ['{"a":"}{\\""}', '{"b":1}']],
    ['nested objects', ['{"a":{}', '}', '{}'], ['{"a":{}}', '{}']],
    ['a space after the object', ['{"a":1} ', ' \n', '{}'], ['{"a":1} ', '{}']],
    ['an array, which is not an object', ['[]', '{}'], ['[]{}']],
    ['brackets that do not match', ['{]', '{}'], ['{]{}']],
    ['empty parts', ['{}', '', '{}'], ['{}', '{}']],
  ])('%s', (_name, texts, expected) => {
    expect(take(texts.map((text) => named(0, text, ''))).map((call) => call.arguments)).toEqual(expected);
  });
});

test.each(Object.entries(reasoningKinds))(
  'reasoning in 60,000 pieces %s is put together',
  (_name, { pieceOf, blocks }) => {
    const details = createReasoningDetails();
    for (let at = 0; at < many; at += 1) details.add(pieceOf(at));
    expect(details.blocks()).toHaveLength(blocks(many));
  },
);

test('too many items of /responses are rejected', async () => {
  const output = Array.from({ length: maxParts + 1 }, () => ({ type: 'function_call' }));
  const { ask } = await startAgent(answers(200, { status: 'completed', output }), { api: 'responses' });
  await expect(ask()).rejects.toMatchObject({ code: 'provider-bad-response' });
});
