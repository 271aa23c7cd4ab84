/** Characters that providers split between two deltas, in each of the three streams. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Action } from './support/script.ts';
import { completed, content, emit, reasoning, stepStarted, toolFinished } from './support/script.ts';
import { openChatService, type ChatService } from '../openai/support/chat.ts';
import { chunk, streams as chunks } from '../engines/llm-agent/support.ts';
import { createApi } from '../support/http.ts';

let chatService: ChatService & AsyncDisposable;
beforeAll(async () => (chatService = await openChatService([])));
afterAll(() => chatService[Symbol.asyncDispose]());

interface Delta {
  readonly kind: 'content' | 'reasoning';
  readonly text: string;
}

type Event = Readonly<Record<string, unknown>>;

interface Stream {
  readonly path: string;
  readonly bodyOf: (script: string) => object;
  readonly deltaOf: (event: Event) => Delta | undefined;
}

const messagesOf = (content: string) => ({ model: 'scripted', messages: [{ role: 'user', content }] });

const streams: readonly Stream[] = [
  {
    path: '/api/v1/chat/stream',
    bodyOf: messagesOf,
    deltaOf: ({ type, delta }) =>
      typeof delta === 'string' ? { kind: type === 'content.delta' ? 'content' : 'reasoning', text: delta } : undefined,
  },
  {
    path: '/v1/chat/completions',
    bodyOf: (script) => ({ ...messagesOf(script), stream: true }),
    deltaOf({ choices }) {
      const { content, reasoning_content: thought } = (choices as { delta: Record<string, string> }[])[0]!.delta;
      if (thought !== undefined) return { kind: 'reasoning', text: thought };
      return content === undefined ? undefined : { kind: 'content', text: content };
    },
  },
  {
    path: '/v1/responses',
    bodyOf: (input) => ({ model: 'scripted', input, stream: true }),
    deltaOf: ({ type, delta }) =>
      typeof delta === 'string'
        ? { kind: type === 'response.output_text.delta' ? 'content' : 'reasoning', text: delta }
        : undefined,
  },
];

/** The deltas of the whole stream, none of which may have half a character, and its text. */
async function read({ path, bodyOf, deltaOf }: Stream, script: readonly Action[]) {
  const { text } = await createApi(chatService.service.url).post(path, bodyOf(JSON.stringify(script)));
  const blocks = text.matchAll(/^data: (\{.*)$/gm);
  const deltas = [...blocks].flatMap(([, data = '']) => deltaOf(JSON.parse(data) as Event) ?? []);
  const joined = (wanted: Delta['kind']) =>
    deltas.flatMap(({ kind, text }) => (kind === wanted ? [text] : [])).join('');
  return { text, content: joined('content'), reasoning: joined('reasoning') };
}

/** JSON.stringify writes every lone half as an escape, and pairs as they are. */
const half = /\\ud[89a-f]/;
const units = (text: string) => text.split('');

describe.each(streams)('$path', (stream) => {
  it.each(['Hi 😀 there', '👩‍👩‍👧', '😀😀', '𝐇\n𝐢'])('never sends half of a character of %j', async (said) => {
    const thoughts = units(said).map((unit) => reasoning(0, unit));
    const words = units(said).map((unit) => content(0, unit));
    const script = [stepStarted(0), ...thoughts, ...words, completed(said, said)];
    const { text, ...whole } = await read(stream, script);
    expect(text).not.toMatch(half);
    expect(whole).toEqual({ content: said, reasoning: said });
  });

  it.each([
    ['a first half at the end', ['Hi ', '\ud83d'], 'Hi \ufffd'],
    ['a second half at the beginning', ['\ude00', ' Hi'], '\ufffd Hi'],
    ['halves in the wrong order', ['\ude00', '\ud83d', 'Hi'], '\ufffd\ufffdHi'],
    ['two first halves', ['\ud83d', '\ud83d', '\ude00'], '\ufffd😀'],
    ['an empty delta between', ['\ud83d', '', '\ude00'], '😀'],
  ])('sends %s as whole characters, or U+FFFD', async (_what, deltas, expected) => {
    const said = deltas.join('');
    const script = [stepStarted(0), ...deltas.map((delta) => content(0, delta)), completed(said)];
    const { text, ...whole } = await read(stream, script);
    expect(text).not.toMatch(half);
    expect(whole).toEqual({ content: expected, reasoning: '' });
  });

  it('does not join halves of two steps', async () => {
    const script = [stepStarted(0), content(0, 'a\ud83d'), stepStarted(1), content(1, '\ude00b'), completed('\ude00b')];
    const { text, ...whole } = await read(stream, script);
    expect(text).not.toMatch(half);
    expect(whole.content.replace('\n\n', '')).toBe('a\ufffd\ufffdb');
  });
});

it('arguments and outputs of tools have no half characters', async () => {
  const call = { step: 0, call: 0, name: 'tool' } as const;
  const script = [
    stepStarted(0),
    emit({ type: 'tool-started', ...call, arguments: { text: ['a\ud83d'] } }),
    emit({ type: 'tool-event', step: 0, call: 0, event: { type: 'progress', progress: 1, message: 'b\ud83d' } }),
    emit({ type: 'tool-finished', ...call, ok: true, output: 'c\ud83d', durationMs: 1 }),
    emit({ type: 'tool-started', ...call, call: 1, arguments: {} }),
    toolFinished(0, 1, 'tool'),
    completed(''),
  ];
  const { text } = await read(streams[0]!, script);
  expect(text).not.toMatch(half);
  for (const shown of ['"a\ufffd"', '"b\ufffd"', '"c\ufffd"']) expect(text).toContain(shown);
});

it.each(['chat/completions', 'responses'])(
  'arguments of calls that /v1/%s returns have none either',
  async (operation) => {
    const part = (args: string) =>
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'tool', arguments: args } }] });
    chatService.provider.behave(chunks(part('{"text":"\ud83d'), part('\ude00 \ud83d"}'), chunk({}, 'tool_calls')));
    const question = { ...messagesOf('Hi'), input: 'Hi', model: 'remote' };
    const tools = [{ type: 'function', name: 'tool', function: { name: 'tool' } }];
    const { text } = await createApi(chatService.service.url).post(`/v1/${operation}`, { ...question, tools });
    expect(text).not.toMatch(half);
    expect(text).toContain('😀 \ufffd');
  },
);
