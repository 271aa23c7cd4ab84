/** What the scripted model does: it echoes, and does what the lines of the last message say. */
import { describe, expect, it } from 'vitest';
import type { Schemas } from '../../src/contract/operations.ts';
import { readEventStream, type StreamedEvent } from '../support/event-stream.ts';
import { saying, serveSandbox } from './support.ts';

const sandbox = serveSandbox();

type Result = Schemas['ChatResult'];

async function chat(request: object): Promise<Result> {
  const { status, body, text } = await sandbox.api.post('/api/v1/chat', request);
  if (status !== 200) throw new Error(text);
  return body as Result;
}

async function stream(request: object): Promise<StreamedEvent[]> {
  const { text } = await sandbox.api.post('/api/v1/chat/stream', request);
  return readEventStream(text, (what) => new Error(what));
}

/** Without what is another in every run: ids and times. */
function withoutChance(events: readonly StreamedEvent[]): object[] {
  const chance = new Set(['id', 'duration_ms', 'url', 'instance']);
  const text = JSON.stringify(events, (name, value: unknown) => (chance.has(name) ? undefined : value));
  return JSON.parse(text) as object[];
}

describe('the scripted model', () => {
  it('is listed as what it is, and echoes', async () => {
    const { body } = await sandbox.api.get('/api/v1/models');
    const { data, default: standard } = body as Schemas['ModelList'];
    expect(standard).toBe('sandbox-chat');
    expect(data.map(({ id }) => id)).toEqual(['sandbox-chat', 'sandbox-chat-slow']);
    for (const { available, local, reason } of data) {
      expect({ available, local, reason }).toEqual({
        available: true,
        local: true,
        reason: 'Sandbox: answers are made up.',
      });
    }
    expect(await chat(saying('Hello there!'))).toEqual({
      model: 'sandbox-chat',
      content: 'You said: Hello there!',
      finish_reason: 'stop',
      reasoning: null,
      usage: { prompt_tokens: 2, completion_tokens: 4, total_tokens: 6, reasoning_tokens: 0 },
    });
  });

  it('echoes the longest message as well, before anybody loses patience', async () => {
    const longest = 'a '.repeat(16_000);
    const started = performance.now();
    expect((await chat(saying(longest))).content).toBe(`You said: ${longest}`);
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  it('answers the last message of the user, and counts the words of all', async () => {
    const messages = [
      { role: 'user', content: 'One.' },
      { role: 'assistant', content: 'Two. Three.' },
      { role: 'user', content: 'Four!' },
      { role: 'system', content: 'Be brief.' },
    ];
    const { content, usage } = await chat({ messages });
    expect(content).toBe('You said: Four!');
    expect(usage?.prompt_tokens).toBe(6);
  });

  it.each([' ', '  two  spaces \n\nand lines\n', 'Grüße 👋🏽', 'a'.repeat(32_000)])('says exactly %j', async (text) => {
    const events = await stream(saying(text));
    const said = events.filter(({ type }) => type === 'content.delta').map(({ delta }) => String(delta));
    expect(said.length).toBeGreaterThan(1);
    expect(said.join('')).toBe(`You said: ${text}`);
  });

  it.each([
    ['the echo', ['Hello there!']],
    ['what it thinks', ['think: about it', 'Well?']],
    ['a call', ['think: of a tool', 'read aloud: Good morning.']],
    ['a failure', ['fail: provider-overloaded']],
  ])('does the same every time (%s)', async (_what, lines) => {
    const [first, second] = [await stream(saying(...lines)), await stream(saying(...lines))];
    expect(withoutChance(second)).toEqual(withoutChance(first));
  });

  it('reasons when it is to think', async () => {
    const events = await stream(saying('think: it is late', 'THINK: or early', 'What time is it?'));
    const thoughts = events.filter(({ type }) => type === 'reasoning.delta').map(({ delta }) => delta);
    expect(thoughts).toEqual(['it', ' is', ' late', '\nor', ' early']);
    expect(events.at(-1)).toMatchObject({
      result: { reasoning: 'it is late\nor early', usage: { reasoning_tokens: 5 } },
    });
  });

  it.each([
    [1, 'You', null],
    [3, 'You said: one', null],
  ])('stops at max_tokens (%d)', async (max_tokens, content, reasoning) => {
    const result = await chat({ ...saying('one two three'), max_tokens });
    expect(result).toMatchObject({ content, reasoning, finish_reason: 'length' });
    expect(result.usage?.completion_tokens).toBe(max_tokens);
  });

  it('counts its thoughts among them, and does not call a tool after the last', async () => {
    const request = { ...saying('think: a b c', 'read aloud: x'), max_tokens: 2 };
    const events = await stream(request);
    expect(events.map(({ type }) => type)).not.toContain('tool.started');
    expect(events.at(-1)).toMatchObject({ result: { content: '', reasoning: 'a b', finish_reason: 'length' } });
    expect(await chat({ ...saying('one'), max_tokens: 3 })).toMatchObject({ finish_reason: 'stop' });
  });
});

describe('its tools', () => {
  it('read aloud: the clip is announced, linked and can be fetched', async () => {
    const events = await stream(saying('read aloud: Good morning.'));
    const audio = events.find(({ type }) => type === 'audio.created')?.audio as Schemas['Audio'];
    const clip = await fetch(`${sandbox.service.url}${audio.url}`);
    expect(clip.headers.get('content-type')).toBe('audio/mpeg');
    expect((await clip.arrayBuffer()).byteLength).toBeGreaterThan(1000);
    expect(events.at(-1)).toMatchObject({
      result: {
        content: 'You said: read aloud: Good morning.\nread_aloud said: The text is being read aloud to the user now.',
      },
    });
    const { headers } = await sandbox.api.post('/api/v1/chat', saying('read aloud: One.', 'Read aloud: Two.'));
    expect(headers.get('link')?.match(/rel="enclosure"; type="audio\/mpeg"/g)).toHaveLength(2);
  });

  it.each([
    ['call read_aloud {"text": "Good \\"morning\\"."}', { text: 'Good "morning".' }],
    ['call read_aloud "Good morning."', { text: 'Good morning.' }],
    ['Call the tool `read_aloud` with the text "Good morning.". Then say so.', { text: 'Good morning.' }],
  ])('are called by %s', async (line, args) => {
    const events = await stream(saying(line));
    expect(events.filter(({ type }) => type === 'tool.started')).toMatchObject([
      { name: 'read_aloud', arguments: args, step: 0 },
    ]);
    expect(events.find(({ type }) => type === 'tool.finished')).toMatchObject({ ok: true });
    expect(events.findLast(({ type }) => type === 'step.started')).toMatchObject({ step: 1 });
  });

  it('may be called wrongly; the model receives the error', async () => {
    const lines = ['call no_such_tool {}', 'call read_aloud {"text": ', 'call read_aloud {"text": ""}'];
    const events = await stream(saying(...lines));
    const finished = events.filter(({ type }) => type === 'tool.finished');
    expect(finished.map(({ ok }) => ok)).toEqual([false, false, false]);
    const { content } = (events.at(-1) as { result?: Result }).result!;
    expect(content).toContain('no_such_tool said: Error: Unknown tool "no_such_tool"; available tools: read_aloud.');
    expect(content).toContain('read_aloud said: Error: The arguments are not a JSON object.');
    expect(content).toContain('read_aloud said: Error: `text` must be a non-empty string.');
  });

  it('are left alone by other messages', async () => {
    const events = await stream(saying('I call you {tomorrow}', 'Please read aloud: x', 'call me "maybe'));
    expect(events.map(({ type }) => type)).not.toContain('tool.started');
  });
});

describe('a failure that the message asks for', () => {
  it('is the status of the plain answer, and the last event of the stream after its first word', async () => {
    const request = saying('fail: provider-quota-exhausted');
    const { status, problem } = await sandbox.api.post('/api/v1/chat', request);
    expect({ status, code: problem.code }).toEqual({ status: 429, code: 'provider-quota-exhausted' });
    const events = await stream(request);
    expect(events.map(({ type }) => type)).toEqual(['chat.started', 'step.started', 'content.delta', 'chat.failed']);
    expect(events.at(-1)).toMatchObject({ problem: { code: 'provider-quota-exhausted', status: 429 } });
  });

  it('comes after the tools', async () => {
    const events = await stream(saying('read aloud: x', 'fail: engine-failed'));
    expect(events.map(({ type }) => type)).toContain('audio.created');
    expect(events.at(-1)).toMatchObject({ type: 'chat.failed', problem: { code: 'engine-failed' } });
  });

  it('does not exist when there is no such code', async () => {
    expect(await chat(saying('fail: everything'))).toMatchObject({ content: 'You said: fail: everything' });
  });
});

describe('the slow model', () => {
  it('takes half a second for a word, and stops when its caller leaves', async () => {
    const caller = new AbortController();
    const started = performance.now();
    const response = await sandbox.service.post(
      '/chat/stream',
      { ...saying('one two three four five six seven'), model: 'sandbox-chat-slow' },
      { signal: caller.signal },
    );
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('content.delta')) text += String((await reader.read()).value);
    expect(performance.now() - started).toBeGreaterThan(450);
    caller.abort();
    await expect.poll(() => sandbox.service.log.some(({ status }) => status === 499)).toBe(true);
    expect(text).not.toContain('chat.completed');
  });
});

describe('a response_format under /v1', () => {
  const ask = (schema: object, more: object = {}) =>
    sandbox.api.post('/v1/chat/completions', {
      ...{ model: 'sandbox-chat', ...saying('Hello'), ...more },
      response_format: { type: 'json_schema', json_schema: { name: 'it', schema } },
    });

  it('with an empty enum is refused, as by a provider', async () => {
    for (const more of [{}, { stream: true }]) {
      const { status, error } = await ask({ enum: [] }, more);
      expect({ status, type: error.type }).toEqual({ status: 400, type: 'invalid_request_error' });
      expect(error.message).toContain('enum without values');
    }
  });

  it('that repeats a constant of 100 KB is answered within bounds', async () => {
    const references = Array.from(
      { length: 500 },
      (_, index) => [`p${String(index)}`, { $ref: '#/$defs/it' }] as const,
    );
    const $defs = { it: { const: 'x'.repeat(100_000) } };
    const { status, text } = await ask({ $defs, type: 'object', properties: Object.fromEntries(references) });
    expect(status).toBe(200);
    expect(text.length).toBeLessThan(2 ** 20);
  });
});
