/** Conversations over a real socket, with the models of the sandbox. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keysFile, tokenOf, type TestEntry } from '../../keys/support/keys.ts';
import { quiet, sound, voice } from '../../realtime/support.ts';
import { createApi } from '../../support/http.ts';
import { commitEvent, openLiveSession, transcription, type LiveSession } from '../../support/realtime-client.ts';
import type { WireEvent } from '../../support/realtime-laws.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { sandboxSpeech } from './spoken-turns.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
});
afterAll(() => service[Symbol.asyncDispose]());

const sessionUpdate = (session: object, more: object = {}) => ({
  type: 'session.update',
  session: { type: 'realtime', ...session },
  ...more,
});

const textOnly = sessionUpdate({ output_modalities: ['text'], audio: { input: { turn_detection: null } } });

async function openText({ url } = service, token?: string, session = textOnly): Promise<LiveSession> {
  const live = await openLiveSession({ url }, 'model=gpt-realtime', token);
  live.say(session);
  await live.until('session.updated');
  return live;
}

const userItem = (text: string, more: object = {}) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
  ...more,
});

const create = (response?: object) => ({ type: 'response.create', ...(response && { response }) });

interface Response {
  readonly id: string;
  readonly status: string;
  readonly status_details: { readonly error?: object } | null;
  readonly output: readonly {
    readonly id: string;
    readonly type: string;
    readonly content?: readonly { readonly text?: string; readonly transcript?: string }[];
    readonly call_id?: string;
    readonly arguments?: string;
  }[];
  readonly usage: { readonly total_tokens: number };
  readonly metadata: object | null;
}

const responseOf = (event: WireEvent | undefined) => event?.response as unknown as Response;

async function answered(session: LiveSession, count = 1): Promise<Response> {
  return responseOf((await session.until('response.done', count)).at(-1));
}

const textOf = ({ output }: Response) => output[0]?.content?.[0]?.text;

async function ask(session: LiveSession, text: string, response?: object): Promise<Response> {
  const before = session.events.filter(({ type }) => type === 'response.done').length;
  session.say(userItem(text));
  session.say(create(response));
  return answered(session, before + 1);
}

const typesAfter = (session: LiveSession, type: string) => {
  const types = session.events.map((event) => event.type);
  return types.slice(types.indexOf(type) + 1);
};

const errorsOf = (session: LiveSession) =>
  session.events.flatMap(({ error, type }) => (type === 'error' && error ? [error.code] : []));

describe('a text answer', () => {
  it('has its events in order, its usage, and no error', async () => {
    const session = await openText();
    const response = await ask(session, 'Hi');
    expect(typesAfter(session, 'session.updated')).toEqual([
      ...['conversation.item.added', 'conversation.item.done', 'response.created'],
      ...['response.output_item.added', 'conversation.item.added', 'response.content_part.added'],
      ...['response.output_text.delta', 'response.output_text.delta', 'response.output_text.delta'],
      ...['response.output_text.done', 'response.content_part.done'],
      ...['response.output_item.done', 'conversation.item.done', 'response.done'],
    ]);
    expect(response).toMatchObject({ status: 'completed', status_details: null, metadata: null });
    expect(textOf(response)).toBe('You said: Hi');
    expect(response.usage).toEqual({
      ...{ total_tokens: expect.any(Number) as number, input_tokens: expect.any(Number) as number, output_tokens: 3 },
      input_token_details: { text_tokens: expect.any(Number) as number, audio_tokens: 0, cached_tokens: 0 },
      output_token_details: { text_tokens: 3, audio_tokens: 0 },
    });
    expect(errorsOf(session)).toEqual([]);
  });

  it('without a message of the user follows the instructions', async () => {
    const session = await openText();
    session.say(create({ instructions: 'Greet the user.' }));
    expect(textOf(await answered(session))).toBe('You said: Greet the user.');
  });

  it('of the settings of one response, with its metadata', async () => {
    const session = await openText();
    const response = await ask(session, 'a b c d e f', { max_output_tokens: 3, metadata: { client_event_id: 'x' } });
    expect(response).toMatchObject({
      ...{ status: 'incomplete', status_details: { type: 'incomplete', reason: 'max_output_tokens' } },
      metadata: { client_event_id: 'x' },
    });
    const created = responseOf((await session.until('response.created')).at(-1));
    expect(created.metadata).toEqual({ client_event_id: 'x' });
    expect(textOf(await ask(session, 'a b'))).toBe('You said: a b');
  });

  it('that fails has the error in its end, and the session continues', async () => {
    const session = await openText();
    const response = await ask(session, 'fail: context-length-exceeded');
    expect(response).toMatchObject({
      status: 'failed',
      status_details: {
        type: 'failed',
        error: { code: 'context_length_exceeded', message: expect.any(String) as string },
      },
      usage: { total_tokens: 0, input_token_details: { cached_tokens: 0 }, output_token_details: { audio_tokens: 0 } },
    });
    expect(textOf(await ask(session, 'Again'))).toBe('You said: Again');
    expect(errorsOf(session)).toEqual([]);
  });

  it('is canceled, with the text so far', async () => {
    const session = await openText(
      service,
      undefined,
      sessionUpdate({ output_modalities: ['text'], model: 'sandbox-chat-slow' }),
    );
    session.say(userItem('a b c d e f g h i j'));
    session.say(create());
    await session.until('response.output_text.delta');
    session.say({ type: 'response.cancel' });
    const response = await answered(session);
    expect(response).toMatchObject({
      ...{ status: 'cancelled', status_details: { type: 'cancelled', reason: 'client_cancelled' } },
      output: [{ status: 'incomplete' }],
    });
    expect(errorsOf(session)).toEqual([]);
  });
});

it('a session gets nothing of one that has ended in the middle of its answer', async () => {
  const slow = sessionUpdate({ output_modalities: ['text'], model: 'sandbox-chat-slow' });
  const left = await openText(service, undefined, slow);
  left.say(userItem('a b c d e f g h i j'));
  left.say(create());
  await left.until('response.output_text.delta');
  left.leave();
  const next = await openText();
  const response = await ask(next, 'Hi');
  expect(textOf(response)).toBe('You said: Hi');
  const responses = next.events.flatMap(({ response_id: id }) => (id === undefined ? [] : [id]));
  expect(new Set(responses)).toEqual(new Set([response.id]));
});

describe('a second response', () => {
  it('is refused while one is active, and the first completes', async () => {
    const session = await openText();
    session.say(userItem('Hi'));
    session.say(create());
    session.say({ ...create(), event_id: 'second' });
    expect(await session.until('error')).toMatchObject([
      { error: { code: 'conversation_already_has_active_response', event_id: 'second' } },
    ]);
    expect(await answered(session)).toMatchObject({ status: 'completed' });
  });

  it('runs beside it if it is not part of the conversation, up to four', async () => {
    const session = await openText(
      service,
      undefined,
      sessionUpdate({ output_modalities: ['text'], model: 'sandbox-chat-slow' }),
    );
    session.say(userItem('Hi there'));
    session.say(create());
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Beside' }] }];
    for (let count = 0; count < 5; count += 1)
      session.say(create({ conversation: 'none', input, metadata: { n: `${count}` } }));
    expect(await session.until('error')).toMatchObject([
      { error: { code: 'conversation_already_has_active_response' } },
    ]);
    await session.until('response.done', 5);
    const done = session.events.filter(({ type }) => type === 'response.done').map(responseOf);
    expect(done.map(textOf).toSorted()).toEqual([...Array<string>(4).fill('You said: Beside'), 'You said: Hi there']);
    expect(done.filter(({ metadata }) => metadata !== null)).toHaveLength(4);
    expect(session.events.filter(({ type }) => type === 'conversation.item.added')).toHaveLength(2);
  });

  it('answers references to items', async () => {
    const session = await openText();
    await ask(session, 'First');
    const [first] = session.events.flatMap(({ item, type }) =>
      type === 'conversation.item.added' && item ? [item.id] : [],
    );
    session.say(create({ conversation: 'none', input: [{ type: 'item_reference', id: first }] }));
    expect(textOf(await answered(session, 2))).toBe('You said: First');
    session.say(create({ conversation: 'none', input: [{ type: 'item_reference', id: 'absent' }] }));
    expect(await session.until('error')).toMatchObject([
      { error: { code: 'invalid_value', param: 'response.input[0].id' } },
    ]);
  });
});

describe("the client's tools", () => {
  const tool = (name: string) => ({ type: 'function', name, description: 'A tool.', parameters: { type: 'object' } });
  const withTools = sessionUpdate({
    output_modalities: ['text'],
    tools: [tool('one'), tool('two')],
    tool_choice: 'auto',
  });

  it('are called, several in one response, and their outputs are answered', async () => {
    const session = await openText(service, undefined, withTools);
    const response = await ask(session, 'call one {"a": 1}\ncall two {}');
    expect(response.output.map(({ type, arguments: json }) => [type, json])).toEqual([
      ['function_call', '{"a": 1}'],
      ['function_call', '{}'],
    ]);
    expect(typesAfter(session, 'response.created').slice(0, 6)).toEqual([
      ...['response.output_item.added', 'conversation.item.added', 'response.function_call_arguments.delta'],
      ...['response.function_call_arguments.done', 'response.output_item.done', 'conversation.item.done'],
    ]);
    for (const { call_id } of response.output) {
      session.say({
        type: 'conversation.item.create',
        item: { type: 'function_call_output', call_id, output: 'found' },
      });
    }
    session.say(create());
    const text = textOf(await answered(session, 2));
    expect(text).toContain('one said: found');
    expect(text).toContain('two said: found');
  });

  it('that are not answered have no result yet', async () => {
    const session = await openText(service, undefined, withTools);
    await ask(session, 'call one {}');
    session.say(create());
    expect(textOf(await answered(session, 2))).toContain('one said: (no result yet)');
  });

  it.each([
    ['of another kind', { tools: [{ type: 'mcp', server_label: 'x' }] }, 'unsupported_value', 'session.tools[0].type'],
    ['without a name', { tools: [{ type: 'function' }] }, 'invalid_value', 'session.tools[0].name'],
    ['that are absent', { tool_choice: 'other' }, 'invalid_value', 'session.tool_choice'],
  ])('%s are refused', async (_what, session, code, param) => {
    const live = await openText();
    live.say(sessionUpdate(session, { event_id: 'mine' }));
    expect(await live.until('error')).toMatchObject([{ error: { code, param, event_id: 'mine' } }]);
  });
});

describe('items', () => {
  it('are placed, retrieved and deleted', async () => {
    const session = await openText();
    session.say(userItem('b', { item: { ...userItem('b').item, id: 'b' } }));
    session.say(userItem('a', { item: { ...userItem('a').item, id: 'a' }, previous_item_id: 'root' }));
    session.say(userItem('c', { item: { ...userItem('c').item, id: 'c' }, previous_item_id: 'a' }));
    expect((await session.until('conversation.item.added', 3)).map((event) => event.previous_item_id)).toEqual([
      null,
      null,
      'a',
    ]);
    session.say({ type: 'conversation.item.retrieve', item_id: 'c' });
    expect(await session.until('conversation.item.retrieved')).toMatchObject([
      { item: { id: 'c', role: 'user', content: [{ type: 'input_text', text: 'c' }] } },
    ]);
    session.say({ type: 'conversation.item.delete', item_id: 'b' });
    await session.until('conversation.item.deleted');
    session.say(create());
    expect(textOf(await answered(session))).toBe('You said: c');
  });

  it.each([
    [
      'an image',
      { content: [{ type: 'input_image', image_url: 'data:' }] },
      'unsupported_value',
      'item.content[0].type',
    ],
    [
      'audio without audio',
      { content: [{ type: 'input_audio' }] },
      'missing_required_parameter',
      'item.content[0].audio',
    ],
    [
      'audio that is not base64',
      { content: [{ type: 'input_audio', audio: '*' }] },
      'invalid_value',
      'item.content[0].audio',
    ],
    [
      'audio beside text',
      {
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_audio', audio: 'AAAA' },
        ],
      },
      'unsupported_value',
      'item.content',
    ],
    ['another type', { type: 'mcp_call' }, 'unsupported_value', 'item.type'],
    ['no role', { role: undefined }, 'missing_required_parameter', 'item.role'],
    ['an id that is taken', { id: 'taken' }, 'invalid_value', 'item.id'],
  ])('with %s are refused', async (_what, change, code, param) => {
    const session = await openText();
    session.say(userItem('', { item: { ...userItem('a').item, id: 'taken' } }));
    session.say(userItem('', { item: { ...userItem('a').item, ...change }, event_id: 'mine' }));
    expect(await session.until('error')).toMatchObject([{ error: { code, param, event_id: 'mine' } }]);
  });

  it.each([
    ['conversation.item.retrieve', 'item_retrieve_invalid_item_id'],
    ['conversation.item.delete', 'item_delete_invalid_item_id'],
    ['conversation.item.truncate', 'item_truncate_invalid_item_id'],
    ['response.cancel', 'response_cancel_not_active'],
    ['output_audio_buffer.clear', 'unsupported_value'],
  ])('%s of nothing is refused with %s', async (type, code) => {
    const session = await openText();
    session.say({ type, item_id: 'absent', content_index: 0, audio_end_ms: 0, event_id: 'mine' });
    expect(await session.until('error')).toMatchObject([{ error: { code, event_id: 'mine' } }]);
  });
});

it('a committed turn is an item, and its transcript is answered', async () => {
  const session = await openText();
  session.sound(sound(24_000, [voice, 1_000]));
  session.say(commitEvent);
  session.say(create());
  const response = await answered(session);
  const [committed] = await session.until('input_audio_buffer.committed');
  session.say({ type: 'conversation.item.retrieve', item_id: committed?.item_id });
  const [retrieved] = await session.until('conversation.item.retrieved');
  const { content } = retrieved!.item as unknown as { content: { transcript: string }[] };
  expect(content[0]!.transcript).not.toBe('');
  expect(textOf(response)).toBe(`You said: ${content[0]!.transcript}`);
  expect(session.events.some(({ type }) => type.includes('input_audio_transcription'))).toBe(false);
});

it('a message with audio gets its transcript, which a response waits for', async () => {
  const session = await openText(
    service,
    undefined,
    sessionUpdate({ output_modalities: ['text'], audio: { input: { transcription: {} } } }),
  );
  const audio = sound(24_000, [voice, 1_500]).toString('base64');
  const content = [{ type: 'input_audio', audio }];
  session.say({ type: 'conversation.item.create', item: { id: 'mine', type: 'message', role: 'user', content } });
  session.say(create());
  const response = await answered(session);
  const [completed] = await session.until('conversation.item.input_audio_transcription.completed');
  expect(completed).toMatchObject({ item_id: 'mine', usage: { seconds: 1.5 } });
  expect(textOf(response)).toBe(`You said: ${completed!.transcript}`);
  expect(session.events.filter(({ item }) => item?.id === 'mine')).toMatchObject([
    { type: 'conversation.item.added', item: { content: [{ type: 'input_audio', transcript: null }] } },
    { type: 'conversation.item.done' },
  ]);
  expect(errorsOf(session)).toEqual([]);
});

describe('a spoken answer', () => {
  const bytesOf = (session: LiveSession) =>
    session.events
      .filter(({ type }) => type === 'response.output_audio.delta')
      .map(({ delta }) => Buffer.from(delta!, 'base64').length);

  it.each([
    ['audio/pcm', 4_800, 1],
    ['audio/pcmu', 800, 6],
    ['audio/pcma', 800, 6],
  ])('has its words and sound in parts of 100 ms: %s', async (type, partBytes, ratio) => {
    const format = { type };
    const manual = { input: { turn_detection: null }, output: { format } };
    const session = await openText(service, undefined, sessionUpdate({ audio: manual }));
    const response = await ask(session, 'say: **One** sentence. And `another` one.');
    expect(response.output[0]!.content).toEqual([
      { type: 'output_audio', transcript: 'One sentence. And another one.' },
    ]);
    const parts = bytesOf(session);
    expect(Math.max(...parts)).toBe(partBytes);
    const seconds = parts.reduce((sum, bytes) => sum + bytes, 0) / (48_000 / ratio);
    expect(seconds).toBeGreaterThan(0.5);
    const created = responseOf((await session.until('response.created')).at(-1));
    expect(created).toMatchObject({
      output_modalities: ['audio'],
      audio: { output: { voice: expect.any(String) as string } },
    });
    expect(typesAfter(session, 'response.content_part.added').slice(0, 2)).toEqual([
      'response.output_audio_transcript.delta',
      'response.output_audio.delta',
    ]);
  });

  it('to a turn that the service detects comes by itself, and a turn interrupts it', async () => {
    const session = await openLiveSession(service, '');
    // Its sound takes longer than the 15 s that are sent at once, so that the answer is not complete before the next turn.
    session.sound(await sandboxSpeech(service, `say: ${'This is a long story. '.repeat(20)}`));
    await session.until('response.output_audio.delta');
    session.sound(sound(24_000, [quiet, 600], [voice, 1_000]));
    const response = await answered(session);
    expect(response).toMatchObject({ status: 'cancelled', status_details: { reason: 'turn_detected' } });
    session.sound(sound(24_000, [quiet, 700]));
    await answered(session, 2);
    expect(errorsOf(session)).toEqual([]);
    session.leave();
    const lines = () => service.log.filter(({ interruptions }) => interruptions !== undefined);
    await expect.poll(lines).toHaveLength(1);
    const spoken_ms = Math.round(bytesOf(session).reduce((sum, bytes) => sum + bytes, 0) / 48);
    expect(lines()[0]).toMatchObject({ turns: 2, responses: 2, interruptions: 1, spoken_ms });
    expect(JSON.stringify(service.log)).not.toContain('You said');
  });
});

describe('the session', () => {
  it('is sent whole, and merged', async () => {
    const session = await openText();
    session.say(sessionUpdate({ instructions: 'Be brief.', max_output_tokens: 100, tracing: 'auto' }));
    session.say(sessionUpdate({ model: 'gpt-realtime-2.1', max_output_tokens: null, truncation: 'disabled' }));
    const updated = (await session.until('session.updated', 3)).at(-1)!;
    expect(updated.session).toMatchObject({
      ...{ type: 'realtime', object: 'realtime.session', model: 'sandbox-chat', output_modalities: ['text'] },
      ...{
        instructions: 'Be brief.',
        tools: [],
        tool_choice: 'auto',
        max_output_tokens: 'inf',
        truncation: 'disabled',
      },
      audio: {
        input: { transcription: null, turn_detection: null, noise_reduction: null },
        output: { format: { type: 'audio/pcm', rate: 24_000 }, speed: 1 },
      },
      ...{ tracing: null, prompt: null, include: null },
    });
  });

  it('keeps the settings of turns', async () => {
    const session = await openLiveSession(service, '');
    expect(session.events[0]!.session).toMatchObject({
      audio: {
        input: {
          turn_detection: {
            ...{ type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 },
            ...{ create_response: true, interrupt_response: true, idle_timeout_ms: null },
          },
        },
      },
    });
    const changed = { type: 'semantic_vad', create_response: false };
    session.say(
      sessionUpdate({
        audio: {
          input: { turn_detection: { ...changed, idle_timeout_ms: 5_000 }, transcription: { model: 'whisper-1' } },
        },
      }),
    );
    const [updated] = await session.until('session.updated');
    expect(updated!.session!.audio.input).toMatchObject({
      turn_detection: { ...changed, eagerness: 'auto', interrupt_response: true, idle_timeout_ms: null },
      transcription: { model: 'sandbox-transcribe' },
    });
  });

  it('keeps what an update has as null, and resets what has a default', async () => {
    const session = await openText();
    const nulls = {
      tools: null,
      tool_choice: null,
      max_output_tokens: null,
      model: null,
      reasoning: null,
      prompt: null,
    };
    session.say(sessionUpdate({ ...nulls, audio: { input: { format: null }, output: null }, include: null }));
    session.say(sessionUpdate({ audio: null }));
    await session.until('session.updated', 3);
    session.say(create({ ...nulls, model: undefined, audio: null, input: null, metadata: null, instructions: 'Hi' }));
    expect(textOf(await answered(session))).toBe('You said: Hi');
    expect(errorsOf(session)).toEqual([]);
  });

  it.each([
    ['two modalities', { output_modalities: ['text', 'audio'] }, 'invalid_value', 'session.output_modalities'],
    ['a prompt', { prompt: { id: 'x' } }, 'unsupported_parameter', 'session.prompt'],
    [
      'log probabilities',
      { include: ['item.input_audio_transcription.logprobs'] },
      'unsupported_value',
      'session.include',
    ],
    ['an unknown model', { model: 'absent' }, 'model_not_found', 'session.model'],
    [
      'another rate',
      { audio: { output: { format: { type: 'audio/pcm', rate: 16_000 } } } },
      'invalid_value',
      'session.audio.output.format.rate',
    ],
    ['instructions that are too long', { instructions: 'x'.repeat(200_000) }, 'invalid_value', 'session'],
    ['another type', { type: 'transcription' }, 'invalid_value', 'session.type'],
  ])('refuses %s by name', async (_what, session, code, param) => {
    const live = await openText();
    live.say(sessionUpdate(session));
    expect(await live.until('error')).toMatchObject([{ error: { code, param } }]);
  });
});

describe('a key', () => {
  const start = (...keys: readonly TestEntry[]) =>
    startTestService({
      env: { PARLANCE_SANDBOX: '1', API_KEYS_FILE: 'keys.yaml' },
      files: { 'keys.yaml': keysFile(...keys) },
    });

  async function refusalOf({ url }: TestService, query: string, key: string) {
    const headers = {
      ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      ...{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', authorization: `Bearer ${tokenOf(key)}` },
    };
    const { status, error } = await createApi(url).get(`/v1/realtime${query}`, headers);
    return [status, error.code];
  }

  it('that may not chat gets no conversation', async () => {
    await using limited = await start({ name: 'deaf', operations: ['createTranscription'] });
    expect(await refusalOf(limited, '?model=gpt-realtime', 'deaf')).toEqual([403, 'operation_not_allowed']);
  });

  it('that may no longer chat loses its conversation, and keeps its transcription', async () => {
    await using changed = await startTestService({
      env: { PARLANCE_SANDBOX: '1', API_KEYS_FILE: 'keys.yaml' },
      files: { 'keys.yaml': keysFile({ name: 'app' }) },
      socketCheckMs: 20,
    });
    const conversation = await openLiveSession(changed, '', tokenOf('app'));
    const transcription = await openLiveSession(changed, 'intent=transcription', tokenOf('app'));
    const operations = ['createTranscription'];
    await writeFile(join(changed.dir, 'keys.yaml'), keysFile({ name: 'app', operations }));
    await changed.service.reload();
    expect(await conversation.closed).toBe(1008);
    transcription.say({ type: 'input_audio_buffer.clear' });
    await transcription.until('input_audio_buffer.cleared');
  });

  it('that may only chat gets a conversation without audio', async () => {
    await using limited = await start({ name: 'mute', operations: ['streamChat'] });
    const session = await openLiveSession(limited, '', tokenOf('mute'));
    expect(session.events[0]!.session).toMatchObject({
      output_modalities: ['text'],
      audio: { input: { transcription: null, turn_detection: null } },
    });
    session.say({ type: 'input_audio_buffer.append', audio: 'AAAA' });
    session.say(userItem('', { item: { ...userItem('').item, content: [{ type: 'input_audio', audio: 'AAAA' }] } }));
    session.say(sessionUpdate({ output_modalities: ['audio'] }));
    expect(await session.until('error', 3)).toMatchObject([
      { error: { code: 'unsupported_value' } },
      { error: { code: 'unsupported_value' } },
      { error: { code: 'unsupported_value', param: 'session.output_modalities' } },
    ]);
    expect(textOf(await ask(session, 'Hi'))).toBe('You said: Hi');
  });

  it('that has used up its audio budget still gets a conversation in text', async () => {
    await using limited = await start({ name: 'app', limits: { audioMinutesPerDay: 0.01 } });
    const session = await openText(limited, tokenOf('app'));
    for (const end of ['completed', 'failed']) {
      session.say(sessionUpdate({ audio: { input: { transcription: {} } } }));
      session.sound(sound(24_000, [voice, 1_000]));
      session.say(commitEvent);
      await session.until(`${transcription}${end}`);
    }
    const second = await openText(limited, tokenOf('app'));
    expect(textOf(await ask(second, 'Hi'))).toBe('You said: Hi');
    expect(await refusalOf(limited, '?intent=transcription', 'app')).toEqual([429, 'insufficient_quota']);
  });

  it.each([
    ['rate_limit_exceeded', { requestsPerMinute: 2 }],
    ['insufficient_quota', { tokensPerDay: 1 }],
  ])('that has reached a limit gets a failed response, and the session continues: %s', async (code, limits) => {
    await using limited = await start({ name: 'app', limits });
    const session = await openText(limited, tokenOf('app'));
    expect(await ask(session, 'Hi')).toMatchObject({ status: 'completed' });
    expect(await ask(session, 'Hi')).toMatchObject({ status: 'failed', status_details: { error: { code } } });
    session.say({ type: 'input_audio_buffer.clear' });
    await session.until('input_audio_buffer.cleared');
    expect(errorsOf(session)).toEqual([]);
  });
});
