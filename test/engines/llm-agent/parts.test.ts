/** Tool calls and reasoning in very many parts: the work is linear in their number, not quadratic. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createCallParts } from '../../../engines/llm-agent/call-parts.ts';
import { mostParts } from '../../../engines/llm-agent/dialect.ts';
import { createReasoningDetails } from '../../../engines/llm-agent/reasoning-details.ts';
import { answers } from '../../support/provider.ts';
import { chunk, says, startAgent, streams, tool } from './support.ts';

const many = 60_000;

type Part = Readonly<Record<string, unknown>>;
type Kind = (text: string, at: number) => Part;

const named = (index: number, text: string, id = `c${index}`) => ({
  ...{ index, id },
  function: { name: 'echo', arguments: text },
});

/** How providers stream the parts of a call: its head once, or with every part. */
const kinds: Readonly<Record<string, Kind>> = {
  'with an index': (text, at) => (at === 0 ? named(0, text) : { index: 0, function: { arguments: text } }),
  'with the name in every part': (text) => named(0, text),
  'with an id and the name in every part': (text) => ({ id: 'c0', function: { name: 'echo', arguments: text } }),
  'with neither': (text, at) => (at === 0 ? named(0, text) : { function: { arguments: text } }),
};

/** `{"n":"xxxx..."}` split into this many pieces. */
const pieces = (count: number) => ['{"n":"', ...Array.from({ length: count - 2 }, () => 'x'.repeat(10)), '"}'];
const argumentsOf = (count: number) => pieces(count).join('');

function take(parts: readonly Part[]): readonly { readonly arguments: string }[] {
  const calls = createCallParts(() => 'own');
  for (const part of parts) calls.add(part);
  return calls.calls();
}

/** CPU time of this thread in milliseconds: the best of several runs. */
function costOf(work: () => void): number {
  const costs = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...costs);
}

/** Assembling the parts costs about as much as reading them; it once cost some hundred times as much. */
function expectCheap(parts: readonly Part[], work: (parts: readonly Part[]) => void): void {
  const lines = parts.map((part) => JSON.stringify(part));
  const readingMs = costOf(() => lines.forEach((line) => JSON.parse(line) as unknown));
  expect(costOf(() => work(parts)) / readingMs).toBeLessThan(40);
}

describe('a call in 60,000 parts', () => {
  test.each(Object.entries(kinds))('%s is put together in about the time that it takes to read it', (_name, kind) => {
    expect(take(pieces(many).map(kind))).toMatchObject([{ arguments: argumentsOf(many) }]);
    expectCheap(pieces(many).map(kind), take);
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
    const { ask } = await startAgent(answerWith(Array.from({ length: mostParts + 1 }, () => ({ index: 0 }))));
    await expect(ask()).rejects.toMatchObject({ code: 'provider-bad-response' });
  });
});

describe('consecutive calls with the same index', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['brackets in strings', ['{"a":"}', '{\\"', '"}', '{"b":1}'], ['{"a":"}{\\""}', '{"b":1}']],
    ['nested objects', ['{"a":{}', '}', '{}'], ['{"a":{}}', '{}']],
    ['a space after the object', ['{"a":1} ', '{}'], ['{"a":1} ', '{}']],
    ['an array, which is not an object', ['[]', '{}'], ['[]{}']],
    ['brackets that do not match', ['{]', '{}'], ['{]{}']],
    ['empty parts', ['{}', '', '{}'], ['{}', '{}']],
  ])('%s', (_name, texts, expected) => {
    expect(take(texts.map((text) => named(0, text))).map((call) => call.arguments)).toEqual(expected);
  });
});

describe('reasoning in 60,000 pieces', () => {
  test.each<[string, (at: number) => Part]>([
    ['in one block', () => ({ type: 'reasoning.text', index: 0, text: 'x'.repeat(20) })],
    ['in a block each', (at) => ({ type: 'reasoning.summary', index: at, summary: 'x' })],
    ['that are encrypted', (at) => ({ type: 'reasoning.encrypted', index: at, data: 'x' })],
    ['with separate field names', (at) => ({ type: 'reasoning.text', index: 0, text: 'x', [`field${at}`]: 1 })],
  ])('%s is assembled in about the time that it takes to read it', (_name, pieceOf) => {
    const list = Array.from({ length: many }, (_, at) => pieceOf(at));
    expectCheap(list, () => {
      const details = createReasoningDetails();
      for (const piece of list) details.add(piece);
      details.blocks();
    });
  });
});

test('too many items of /responses are rejected', async () => {
  const output = Array.from({ length: mostParts + 1 }, () => ({ type: 'function_call' }));
  const { ask } = await startAgent(answers(200, { status: 'completed', output }), { api: 'responses' });
  await expect(ask()).rejects.toMatchObject({ code: 'provider-bad-response' });
});
