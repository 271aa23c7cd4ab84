/** A conversation that a local model reads in advance, with the real library. */
import { describe, expect, test } from 'vitest';
import type { AgentEvent, ChatCall, ChatEngine } from '../../../engines/contract/index.ts';
import { answers } from '../../support/chat-model.ts';
import { ticksOf, until } from '../../support/processes.ts';
import { hasLibrary, startLocalChat, type StartOptions } from './support.ts';

const { signal: never } = new AbortController();
const system = (length: number) => ({ role: 'system', content: 'z'.repeat(length) }) as const;
const user = (content: string) => ({ role: 'user', content }) as const;
const parameters = { type: 'object', properties: { text: { type: 'string' } } };
const tools = [{ name: 'read_aloud', description: 'Speaks.', parameters }];

async function startWarm(start?: StartOptions) {
  const chat = await startLocalChat(start);
  const { engine } = chat.service.service.registry.of('chat').all[0]!;
  const countsOf = (message: string) =>
    chat.service.log.filter(({ msg }) => msg === message) as unknown as Readonly<Record<string, number>>[];
  return {
    ...chat,
    engine,
    warmUp: ({ messages = [], ...call }: Partial<ChatCall>, signal = never) =>
      engine.warmUp!({ model: 'mind', messages: [...messages, user(' ')], ...call }, { signal, tools: [] }),
    complete: (call: Partial<ChatCall>) => complete(engine, { model: 'mind', messages: [], ...call }),
    /** Counts of tokens: of what was read in advance, and of the answers. */
    warmed: () => countsOf('a warm-up has ended'),
    answered: () => countsOf('a model has answered'),
    loads: () => countsOf('the model is loaded').length,
  };
}

async function complete(engine: ChatEngine, call: ChatCall): Promise<string> {
  for await (const event of engine.complete(call, { signal: never, tools: [] })) {
    if (event.type === 'completed') return event.result.toolCalls?.[0]?.name ?? event.result.content;
  }
  throw new Error('no result');
}

describe.skipIf(!hasLibrary)('a warm-up', () => {
  test('loads the model and reads the instructions, the tools and the history, which the next call then does not read', async () => {
    const { warmUp, complete, warmed, answered, programs } = await startWarm();
    expect(programs()).toEqual([]);
    await warmUp({ messages: [system(900)], tools });
    expect(programs()).toHaveLength(1);
    expect(warmed().at(-1)!.readTokens).toBeGreaterThan(900);
    const first = [system(900), user('Read this aloud.')];
    expect(await complete({ messages: first, tools })).toBe('read_aloud');
    expect(answered().at(-1)!.promptTokens).toBeGreaterThan(1_000);
    expect(answered().at(-1)!.readTokens).toBeLessThan(60);
    const second = [...first, { role: 'assistant', content: 'y'.repeat(900) } as const];
    await warmUp({ messages: second, tools });
    expect(warmed().at(-1)!.readTokens).toBeGreaterThan(900);
    await complete({ messages: [...second, user('Hello.')], tools });
    expect(answered().at(-1)!.readTokens).toBeLessThan(60);
    await warmUp({ messages: [system(6_000)] });
    expect(warmed().at(-1)!.readTokens, 'what does not fit is not read').toBeUndefined();
  });

  test.each([1, 2])('gives way to a call, which continues what it has read, with %i slots', async (slots) => {
    const contextSize = 32_768;
    const options = { slots, contextSize };
    const { warmUp, complete, warmed, answered, programs, loads } = await startWarm({ context: contextSize, options });
    await warmUp({ messages: [user('Hello.')] });
    const before = ticksOf(programs()[0]!);
    const warming = warmUp({ messages: [system(16_000)] });
    await until('it is busy', () => ticksOf(programs()[0]!) > before + 60);
    expect(await complete({ messages: [system(5_500), user('Hello.')] })).toBe(answers.plain);
    await warming;
    expect(warmed()).toHaveLength(1);
    expect(answered().at(-1)!.readTokens).toBeLessThan(answered().at(-1)!.promptTokens! - 500);
    expect(loads()).toBe(1);
  });

  test('follows 20 answers that the user interrupts, and is interrupted, without a second load', async () => {
    const { engine, warmUp, warmed, loads } = await startWarm();
    const asked = [system(900), user('Go on forever.')];
    for (let round = 0; round < 20; round += 1) {
      const talking = new AbortController();
      const answer = engine.complete({ model: 'mind', messages: asked }, { signal: talking.signal, tools: [] });
      const events = answer[Symbol.asyncIterator]();
      const next = () => events.next();
      for (let type = ''; type !== 'content-delta';) type = ((await next()).value as AgentEvent).type;
      const speaking = warmUp({ messages: [system(3_000)] }); // the next one replaces it
      const rest = next();
      talking.abort(new Error('interrupted'));
      await expect(rest).rejects.toThrow('interrupted');
      await Promise.all([speaking, warmUp({ messages: [...asked, { role: 'assistant', content: 'and so on' }] })]);
      expect(warmed()).toHaveLength(round + 1);
    }
    expect(warmed().at(-1)!.readTokens).toBeLessThan(100);
    expect(loads()).toBe(1);
  });

  test('does nothing while a call is answered, ends with its signal, and fails without an exception', async () => {
    const { engine, warmUp, complete, warmed, service, loads } = await startWarm();
    const forever = { model: 'mind', messages: [user('Go on forever.')] };
    for await (const { type } of engine.complete(forever, { signal: never, tools: [] })) {
      if (type !== 'content-delta') continue;
      await warmUp({ messages: [system(900)] });
      break;
    }
    const leaving = new AbortController();
    const warming = warmUp({ messages: [system(3_900)] }, leaving.signal);
    leaving.abort(new Error('gone'));
    await warming;
    await warmUp({ messages: [system(3_900)] }, leaving.signal);
    await warmUp({ model: 'other' });
    expect(service.log.filter(({ level }) => level > 30)).toEqual([]);
    expect(await complete({ messages: [user('Hello.')] })).toBe(answers.plain);
    expect(warmed()).toEqual([]);
    expect(loads()).toBe(1);
  });
});
