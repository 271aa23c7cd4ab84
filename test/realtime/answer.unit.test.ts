/** An answer: its parts in order, how far ahead they are made, and its end by failures and aborts. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { EngineError, type AgentEvent, type Tool } from '../../engines/contract/index.ts';
import type { AnswerPart } from '../../src/realtime/answer.ts';
import { sound } from './support.ts';
import { begin, chunksOf, listed, msPerCharacter, never, soundOfText, told, written, type Stage } from './answering.ts';

const three = [
  'Hello there. ',
  'How are you today, my good old friend? ',
  'It is fine, and I hope that it stays like this. ',
];

const all = async (stage: Stage) => told(await listed(begin(stage).parts));

/** The answer has had time for all that it may do. */
async function settled(): Promise<void> {
  for (let i = 0; i < 100; i++) await setImmediate();
}

/** A busy machine would otherwise play meanwhile. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** `written` fails or waits after its deltas. */
async function* broken(deltas: readonly string[], how: () => Promise<never>): AsyncGenerator<AgentEvent> {
  yield { type: 'step-started', step: 0 };
  for (const delta of deltas) yield { type: 'content-delta', step: 0, delta };
  await how();
}

const fails = () => Promise.reject(new EngineError('provider-overloaded', 'Busy.'));

/** Begins to write, and calls the tool of the service. */
async function* withTool(signal: AbortSignal, [own]: readonly Tool[]): AsyncGenerator<AgentEvent> {
  yield { type: 'step-started', step: 0 };
  yield { type: 'content-delta', step: 0, delta: 'Let me look' };
  yield { type: 'tool-started', step: 0, call: 0, name: 'look', arguments: {} };
  const output = await own!.run({}, { signal, emit: () => undefined });
  yield { type: 'tool-finished', step: 0, call: 0, name: 'look', ok: true, output, durationMs: 0 };
  yield { type: 'step-started', step: 1 };
  yield { type: 'content-delta', step: 1, delta: output };
  yield { type: 'completed', result: { content: output, finishReason: 'stop', reasoning: null, usage: null } };
}

describe('a spoken answer', () => {
  it('has the text of each piece before its sound', async () => {
    const [first, second, third] = three.map((text) => text.trim()) as [string, string, string];
    const lines = await all({ chat: () => written(three) });
    expect(lines).toEqual([
      ...[`piece ${first}`, `sound ${msPerCharacter * first.length}`, 'spoken'],
      ...[`piece  ${second}`, `sound ${msPerCharacter * second.length}`, 'spoken'],
      ...[`piece  ${third}`, `sound ${msPerCharacter * third.length}`, 'spoken', 'end stop'],
    ]);
  });

  it('has the text that is spoken, which joins with the spaces of its language', async () => {
    const markdown = [
      '# Soup\n\n',
      'It is **hot**: see [here](https://e.org).\n\n```js\nlet a;\n```\n\n',
      'Enjoy your meal!\n',
    ];
    const { parts, seen } = begin({ chat: () => written(markdown) });
    const texts = (await listed(parts)).flatMap((part) => (part.type === 'piece' ? [part.text] : []));
    expect(texts.join('')).toBe('Soup\nIt is hot: see here. Enjoy your meal!');
    expect(seen.calls.map(({ text }) => text)).toEqual(texts.map((text) => text.trim()));
    expect(
      await all({
        chat: () => written(['你好。', '今天天气怎么样？', '我们去公园吧，好不好，因为天气很好，好吗，我的朋友？']),
      }),
    ).not.toContain(' ');
  });

  it('has no empty lines in the place of code', async () => {
    const lines = await all({ chat: () => written(['Well. It is done.\n\n```js\nlet a;\n```\n\nBye!']) });
    expect(lines[3]).toBe('piece  It is done.\nBye!');
  });

  it.each([
    ['without a text', []],
    ['of white space', [' \n', '\n']],
    ['of code', ['```js\nlet a;\n', '```\n']],
    ['of an image and an address', ['![a cat](b.png)\n\nhttps://e.org']],
  ])('%s has only its end, and no call of the voice', async (_what, deltas) => {
    const { parts, seen } = begin({ chat: () => written(deltas) });
    expect(told(await listed(parts))).toEqual(['end stop']);
    expect(seen.calls).toEqual([]);
  });

  it('has the calls of the caller after its sound', async () => {
    const toolCalls = ['weather', 'time'].map((name, id) => ({ id: String(id), name, arguments: '{}' }));
    const lines = await all({ chat: () => written(['Let me see.'], { finishReason: 'tool_calls', toolCalls }) });
    expect(lines).toEqual(['piece Let me see.', 'sound 110', 'spoken', 'calls weather time', 'end tool_calls']);
  });

  it('is spoken as far as it is written before a tool of the service runs', async () => {
    const gate = Promise.withResolvers<string>();
    const tool: Tool = { name: 'look', description: '', parameters: {}, run: () => gate.promise };
    const { parts } = begin({ chat: withTool, toolsFor: () => Promise.resolve([tool]) });
    const before = [];
    for await (const part of { [Symbol.asyncIterator]: () => ({ next: () => parts.next() }) }) {
      before.push(part);
      if (part.type === 'spoken') break;
    }
    expect(told(before)).toEqual(['piece Let me look', 'sound 110', 'spoken']);
    gate.resolve('As far as I can see, it is there.');
    expect(told(await listed(parts))).toEqual([
      ...['piece \nAs far as I can see,', 'sound 200', 'spoken'],
      ...['piece  it is there.', 'sound 120', 'spoken', 'end stop'],
    ]);
  });

  it('does not speak what turns out to be reasoning, if it has not begun to', async () => {
    async function* chat(): AsyncGenerator<AgentEvent> {
      yield await Promise.resolve({ type: 'step-started', step: 0 } as const);
      yield { type: 'content-delta', step: 0, delta: 'Hmm, let me think' };
      yield { type: 'content-retracted', step: 0 };
      yield { type: 'content-delta', step: 0, delta: 'Yes.' };
      yield { type: 'completed', result: { content: 'Yes.', finishReason: 'length', reasoning: null, usage: null } };
    }
    expect(await all({ chat })).toEqual(['piece Yes.', 'sound 40', 'spoken', 'end length']);
  });

  it('has G.711 where the plan says so', async () => {
    const { parts } = begin({ chat: () => written(['Hello there.']), speech: { encoding: 'pcma' } });
    const sounds = (await listed(parts)).filter((part) => part.type === 'sound');
    expect(sounds.map(({ bytes, ms }) => [bytes.length, ms])).toEqual([[800, 100], [160, 20]]); // prettier-ignore
  });
});

describe('a written answer', () => {
  it('has the deltas as they are, and no voice', async () => {
    const deltas = ['# So', 'up\n\n```', 'js\n', ''];
    const { parts, seen } = begin({ chat: () => written(deltas), speech: null });
    expect(told(await listed(parts))).toEqual(['text # So', 'text up\n\n```', 'text js\n', 'end stop']);
    expect(seen.calls).toEqual([]);
  });

  it('does not wait for a voice that is not there', async () => {
    const speak = () => never<AsyncIterable<Uint8Array>>();
    expect(await all({ chat: () => written(['Hi']), speak, speech: null })).toEqual(['text Hi', 'end stop']);
  });
});

describe('the voice', () => {
  const voices = [{ id: 'anna', name: 'Anna', language: 'de' }, { id: 'bob', name: 'Bob', language: 'en' }]; // prettier-ignore
  const named = { model: null, voice: 'bob', pointers: { model: '/model', voice: '/voice' } };
  const hi = () => written(['Hi.']);

  it.each([
    ['speaks the language of the turn', { language: 'de' }, { language: 'de' }],
    ['ignores a language without a code of two letters', { language: 'yue' }, {}],
    ['that is named speaks every language', { language: 'de', selection: named }, { voice: 'bob' }],
    ['has the speed of the session', { speed: 1.5 }, { speed: 1.5 }],
  ])('%s', async (_what, speech, call) => {
    const { parts, seen } = begin({ chat: hi, voices, speech });
    await listed(parts);
    expect(seen.calls).toEqual([{ text: 'Hi.', model: 'one', format: 'pcm', ...call }]);
  });

  it('is the default one if none speaks the language', async () => {
    const speak: Stage['speak'] = ({ text, language }) =>
      language === 'sw'
        ? Promise.reject(new EngineError('language-not-supported', 'No voice speaks it.'))
        : Promise.resolve(chunksOf(soundOfText(text)));
    const { parts, seen } = begin({ chat: () => written(three), speak, speech: { language: 'sw' } });
    expect(told(await listed(parts)).at(-1)).toBe('end stop');
    expect(seen.calls.map(({ language }) => language)).toEqual(['sw', undefined, undefined, undefined]);
  });
});

describe('an answer is made ahead', () => {
  it('by one piece: the next one begins when the sound of a piece is read', async () => {
    const { parts, seen } = begin({ chat: () => written(three) });
    let pieces = 0;
    for await (const { type } of parts) {
      if (type === 'piece') pieces += 1;
      await settled();
      expect(seen.calls.length).toBe(Math.min(pieces + 1, three.length));
    }
    expect(pieces).toBe(three.length);
  });

  it('with the whole text of the chat, which does not wait for the voice', async () => {
    const done = Promise.withResolvers<undefined>();
    async function* chat(): AsyncGenerator<AgentEvent> {
      for await (const event of written(three)) {
        if (event.type === 'completed') done.resolve(undefined);
        yield event;
      }
    }
    const { parts } = begin({ chat, speak: () => never() });
    void parts.next().catch(() => undefined);
    await done.promise;
  });

  it('with a bounded text: a chat without an end waits for the reader', async () => {
    let count = 0;
    async function* chat(): AsyncGenerator<AgentEvent> {
      yield await Promise.resolve({ type: 'step-started', step: 0 } as const);
      for (; ; count += 1) yield { type: 'content-delta', step: 0, delta: 'a'.repeat(1_024) };
    }
    const { parts } = begin({ chat, speech: null });
    await parts.next();
    await settled();
    const unread = count;
    expect(unread).toBeLessThan(40);
    await parts.next();
    await settled();
    expect(count).toBe(unread + 1);
  });

  it('and reads the sound of its piece, so that the voice is free, but at most 15 s of it', async () => {
    let [seconds, isOver] = [0, false];
    async function* audio() {
      for (; seconds < 17; seconds += 1) yield await Promise.resolve(new Uint8Array(48_000));
      isOver = true;
    }
    const { parts } = begin({ chat: () => written(['Hi.']), speak: () => Promise.resolve(audio()) });
    await parts.next();
    await settled();
    expect([seconds, isOver]).toEqual([14, false]); // the fifteenth is counted with the next one
    for (let i = 0; i < 21; i++) await parts.next();
    await settled();
    expect(isOver).toBe(true);
  });

  it('by 15 s of sound that the client has not played', async () => {
    stopClock();
    const { parts } = begin({
      chat: () => written(['Hi.']),
      speak: () => Promise.resolve(chunksOf(sound(24_000, [-20, 20_000]))),
    });
    await parts.next();
    for (let ms = 0; ms < 15_000; ms += 100) expect((await parts.next()).value).toMatchObject({ ms: 100 });
    let sent = 15_000;
    const read = async () => {
      for await (const part of parts) if (part.type === 'sound') sent += part.ms;
    };
    const reading = read();
    await vi.advanceTimersByTimeAsync(99);
    expect(sent).toBe(15_000);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toBe(15_100);
    await vi.advanceTimersByTimeAsync(900);
    expect(sent).toBe(16_000);
    await vi.advanceTimersByTimeAsync(4_000);
    await reading;
    expect(sent).toBe(20_000);
  });
});

describe('a failure', () => {
  const hello = ['Hello there. ', 'How are you all today, my friends? ', 'Well'];
  /** Is still running when the voice fails. */
  const chat = () => broken(hello, never);
  const inTheMiddle = async function* () {
    yield await Promise.resolve(new Uint8Array(480));
    throw new EngineError('provider-overloaded', 'Busy.');
  };

  it.each<[string, Stage, readonly string[]]>([
    ['of the tools', { toolsFor: fails }, []],
    ['of the chat, at once', { chat: () => broken([], fails) }, []],
    [
      'of the chat, later',
      { chat: () => broken(hello.slice(0, 2), fails) },
      ['piece Hello there.', 'sound 120', 'spoken'],
    ],
    ['of the voice, at once', { chat, speak: fails }, []],
    ['of the voice, in the sound', { chat, speak: () => Promise.resolve(inTheMiddle()) }, ['piece Hello there.', 'sound 10']], // prettier-ignore
    ['of the voice, in the second piece', { chat, speak: ({ text }) => text.startsWith('How') ? fails() : Promise.resolve(chunksOf(soundOfText(text))) }, ['piece Hello there.', 'sound 120', 'spoken']], // prettier-ignore
  ])('%s is thrown after what was made before it, and ends all other work', async (_what, stage, lines) => {
    const { parts, seen } = begin(stage);
    const before: AnswerPart[] = [];
    const reading = (async () => {
      for await (const part of parts) before.push(part);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'provider-overloaded' });
    expect(told([...before, { type: 'spoken' }]).slice(0, -1)).toEqual(lines);
    expect(seen.chatSignal?.aborted).toBe(stage.chat && true);
    expect(await parts.next()).toEqual({ done: true, value: undefined });
  });

  it('is a voice that returns another format, or no sound', async () => {
    await expect(all({ chat, mediaType: 'audio/mpeg' })).rejects.toMatchObject({ code: 'engine-failed' });
    await expect(all({ chat, speak: () => Promise.resolve(chunksOf()) })).rejects.toMatchObject({
      code: 'engine-failed',
    });
  });

  it('is a voice that takes too long, for its first sound and for the rest', async () => {
    const limits = { firstBytesMs: 20, silenceMs: 20 };
    const late = { code: 'engine-timeout' };
    await expect(all({ chat, limits, speak: () => never() })).rejects.toMatchObject(late);
    async function* stalls() {
      yield await Promise.resolve(new Uint8Array(480));
      await never();
    }
    await expect(all({ chat, limits, speak: () => Promise.resolve(stalls()) })).rejects.toMatchObject(late);
  });

  it('is a voice that the model does not have, before the chat begins', async () => {
    const selection = { model: null, voice: 'carl', pointers: { model: '/model', voice: '/voice' } };
    const { parts, seen } = begin({ voices: [{ id: 'bob', name: 'Bob', language: 'en' }], speech: { selection } });
    await expect(parts.next()).rejects.toMatchObject({ code: 'voice-not-supported' });
    expect(seen.chatSignal).toBeUndefined();
  });
});

describe('an abort ends everything', () => {
  const gone = new Error('gone');
  const chat = () => broken(three, never);
  async function* stalls() {
    yield await Promise.resolve(new Uint8Array(480));
    await never();
  }

  /** Engines that ignore their signal. */
  it.each<[string, Stage, number]>([
    ['while the tools are listed', { toolsFor: () => never() }, 0],
    ['before the model writes', { chat: () => broken([], never) }, 0],
    ['while the model writes', { chat: () => broken(['Hi. Ho'], never) }, 3],
    ['before the voice speaks', { chat, speak: () => never() }, 0],
    ['within the sound', { chat, speak: () => Promise.resolve(stalls()) }, 2],
    ['in a text', { speech: null, chat: () => broken(['Hi'], never) }, 1],
  ])('%s', async (_what, stage, read) => {
    const caller = new AbortController();
    const { parts, seen } = begin({ ...stage, signal: caller.signal });
    for (let i = 0; i < read; i++) await parts.next();
    const next = parts.next();
    next.catch(() => undefined);
    await settled();
    caller.abort(gone);
    await expect(next).rejects.toBe(gone);
    await settled();
    expect(seen.chatSignal?.aborted).toBe(stage.chat && true);
    if (stage.speak) expect(seen.signals.map(({ aborted }) => aborted)).not.toContain(false);
    expect(await parts.next()).toEqual({ done: true, value: undefined });
  });

  it.each(['an abort', 'return()'])('also of an answer that is not being read: %s', async (how) => {
    const caller = new AbortController();
    const { parts, seen } = begin({
      signal: caller.signal,
      chat,
      speak: () => Promise.resolve(stalls()),
    });
    await parts.next();
    await settled();
    if (how === 'an abort') caller.abort(gone);
    else await parts.return?.();
    await settled();
    expect(seen.signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(seen.chatSignal?.aborted).toBe(true);
    if (how === 'an abort') await expect(parts.next()).rejects.toBe(gone);
  });

  it('and while the answer waits for the client to play', async () => {
    stopClock();
    const caller = new AbortController();
    const speak = () => Promise.resolve(chunksOf(sound(24_000, [-20, 20_000])));
    const { parts } = begin({ chat: () => written(['Hi.']), speak, signal: caller.signal });
    for (let i = 0; i <= 150; i++) await parts.next();
    const next = parts.next();
    next.catch(() => undefined);
    await settled();
    caller.abort(gone);
    await expect(next).rejects.toBe(gone);
  });

  it('before the first part is read, so that nothing begins', async () => {
    const { parts, seen } = begin({ signal: AbortSignal.abort(gone), chat });
    await expect(parts.next()).rejects.toBe(gone);
    await settled();
    expect(seen.chatSignal).toBeUndefined();
  });
});

describe('an answer that begins early', () => {
  function beginWithTool() {
    const { promise: released, resolve: release, reject: refuse } = Promise.withResolvers();
    const run = vi.fn(() => Promise.resolve('It is there.'));
    const tool: Tool = { name: 'look', description: '', parameters: {}, run };
    return { ...begin({ chat: withTool, toolsFor: () => Promise.resolve([tool]), released }), run, release, refuse };
  }

  it('speaks its first piece, and yields nothing until it is released', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers();
    const { parts, seen } = begin({ chat: () => written(three), released });
    const yielded = vi.fn();
    const first = parts.next();
    void first.then(yielded);
    await settled();
    expect(seen.calls.map(({ text }) => text)).toEqual([three[0]!.trim()]);
    expect(yielded).not.toHaveBeenCalled();
    release(undefined);
    const { value } = await first;
    expect(told([value!, ...(await listed(parts))])).toEqual(await all({ chat: () => written(three) }));
  });

  it('calls a tool only when it is released', async () => {
    const { parts, seen, run, release } = beginWithTool();
    const first = parts.next();
    await settled();
    expect(seen.calls).toHaveLength(1);
    expect(run).not.toHaveBeenCalled();
    release(undefined);
    const { value } = await first;
    expect(told([value!, ...(await listed(parts))]).at(-1)).toBe('end stop');
    expect(run).toHaveBeenCalledOnce();
  });

  it('ends with the reason if it is refused, and no tool is called', async () => {
    const { parts, seen, run, refuse } = beginWithTool();
    const first = parts.next();
    await settled();
    refuse(new Error('Refused.'));
    await expect(first).rejects.toThrow('Refused.');
    await settled();
    expect(seen.chatSignal?.aborted).toBe(true);
    expect(run).not.toHaveBeenCalled();
  });
});
