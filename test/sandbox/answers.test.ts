/** `say:` and the option `answers`: without them, a test cannot choose what the model answers. */
import { describe, expect, it } from 'vitest';
import { startTestService } from '../support/service.ts';
import { saying, serveSandbox } from './support.ts';

const answers = [
  { contains: 'Summarize', say: 'Two\nlines.' },
  { contains: 'weather', call: 'look_up {"city": "Paris"}' },
  { contains: 'limit', fail: 'overloaded' },
  { contains: 'say:', say: 'The first match wins.' },
];
const configOf = (listed: readonly object[]) =>
  JSON.stringify({ engines: { mock: { use: 'sandbox', answers: listed } } });

const sandbox = serveSandbox({ config: configOf(answers) });
const plain = serveSandbox();

const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];

describe('say:', () => {
  const contentOf = async (request: object) =>
    ((await plain.api.post('/api/v1/chat', request)).body as { content: string }).content;

  it('is the whole answer', async () => {
    expect(await contentOf(saying('Say: One.', 'ignored', 'say:  Two **2**'))).toBe('One.\nTwo **2**');
    expect(await contentOf(saying('think: hm', 'read aloud: x', 'say: Done.'))).toBe('Done.');
  });

  it('is sent as it is, where JSON is asked for, and ends at a stop sequence', async () => {
    const ask = async (line: string, more: object) => {
      const request = { model: 'sandbox-chat', ...saying(line), ...more };
      const { body } = await plain.api.post('/v1/chat/completions', request);
      return (body as { choices: { message: { content: string } }[] }).choices[0]?.message.content;
    };
    expect(await ask('say: {"a": 1}', { response_format: { type: 'json_object' } })).toBe('{"a": 1}');
    expect(await ask('say: One. Two.', { stop: ' Two' })).toBe('One.');
  });
});

describe('the option answers', () => {
  const ask = (message: string) =>
    sandbox.api.post('/v1/chat/completions', { ...saying(message), tools, model: 'sandbox-chat' });

  it('says, calls or fails where a message contains the text', async () => {
    expect((await ask('Summarize: a limit for the weather')).body).toMatchObject({
      choices: [{ message: { content: 'Two\nlines.' } }],
    });
    expect((await ask('How is the weather?')).body).toMatchObject({
      choices: [{ message: { tool_calls: [{ function: { name: 'look_up', arguments: '{"city": "Paris"}' } }] } }],
    });
    expect((await ask('to the limit')).status).toBe(503);
    expect((await ask('say: Hello')).body).toMatchObject({
      choices: [{ message: { content: 'The first match wins.' } }],
    });
    expect((await ask('Anything else')).body).toMatchObject({
      choices: [{ message: { content: 'You said: Anything else' } }],
    });
  });

  it.each([
    ['two effects', [{ contains: 'a', say: 'b', fail: 'overloaded' }]],
    ['no effect', [{ contains: 'a' }]],
    ['an unknown code', [{ contains: 'a', fail: 'nonsense' }]],
    ['a call without arguments', [{ contains: 'a', call: 'look_up' }]],
    ['an answer that never matches', [answers[0]!, { contains: 'Summarize this', say: 'c' }]],
  ])('is refused at the start: %s', async (_what, listed) => {
    await expect(startTestService({ config: configOf(listed) })).rejects.toThrow(/engines\.mock.*answers/s);
  });
});
