/** The texts of failures: a user never sees an error of the program. */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { applyEvent, fail, newAnswer, type Answer } from '../../page/conversation-state.ts';
import { failureOf } from '../../page/failure.ts';
import { applyTranscriptionEvent, newTranscript } from '../../page/transcript.ts';
import { createClient, ParlanceError } from '../../src/client/index.ts';

const ofPage = { text: 'This page has failed. Reload it and try again.' };

beforeEach(() => void vi.spyOn(console, 'error').mockReturnValue(undefined));

describe('the text of a failure', () => {
  test.each([
    new TypeError("Cannot read properties of undefined (reading 'map')"),
    new RangeError('Invalid array length'),
    new ReferenceError('x is not defined'),
    new SyntaxError('Unexpected token < in JSON'),
    new Error(''),
    'a text',
    undefined,
  ])('hides an error of the program, which is logged: %s', (error) => {
    expect(failureOf(error)).toEqual(ofPage);
    expect(console.error).toHaveBeenCalledExactlyOnceWith(error);
  });

  test('is that of an error of the service, of the page and of the microphone', () => {
    expect(failureOf(new ParlanceError('overloaded', 'Busy.', { requestId: 'r' }))).toEqual({
      ...{ text: 'Busy.', code: 'overloaded', requestId: 'r' },
    });
    expect(failureOf(new Error('The browser could not record.'))).toEqual({ text: 'The browser could not record.' });
    expect(failureOf(new DOMException('No such device.', 'OddError'))).toEqual({ text: 'No such device.' });
    expect(console.error).not.toHaveBeenCalled();
  });
});

describe('whatever the service answers', () => {
  const html = '<html><h1>Log in</h1></html>';
  const stream = (...events: object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const answers: readonly (readonly [string, number, string, string])[] = [
    ['HTML', 200, 'text/html', html],
    ['HTML as an error', 502, 'text/html', html],
    ['HTML as JSON', 200, 'application/json', html],
    ['HTML as a stream', 200, 'text/event-stream', html],
    ['no body', 200, 'text/event-stream', ''],
    ['a problem without members', 500, 'application/problem+json', 'null'],
    ['a stream of nulls', 200, 'text/event-stream', 'data: null\n\n'],
    ...['chat.failed', 'chat.completed', 'content.delta', 'tool.finished', 'audio.created', 'tool.started'].map(
      (type) => [`an empty ${type}`, 200, 'text/event-stream', stream({ type, seq: 0 })] as const,
    ),
    ...['transcription.failed', 'transcription.completed', 'segment.created', 'transcription.progress'].map(
      (type) => [`an empty ${type}`, 200, 'text/event-stream', stream({ type, seq: 0 })] as const,
    ),
  ];

  test.each(answers)('a chat and a transcription fail with a text for users: %s', async (_what, status, type, body) => {
    const fetch = () => Promise.resolve(new Response(body, { status, headers: { 'content-type': type } }));
    await expectTypedFailures(fetch);
  });

  test('a chat and a transcription fail with a text for users: no answer', async () => {
    await expectTypedFailures(() => Promise.reject(new TypeError('Failed to fetch')));
  });

  async function expectTypedFailures(fetch: () => Promise<Response>): Promise<void> {
    const client = createClient({ baseUrl: 'http://service.test', fetch });
    for (const run of [chat, transcription]) {
      const { failure } = await run(client);
      expect(failure?.code).toMatch(/^(unreachable|unexpected-answer|stream-broken)$/);
      expect(failure?.text).not.toMatch(/TypeError|undefined|null|<html>/);
    }
    expect(console.error).not.toHaveBeenCalled();
  }

  async function chat(client: ReturnType<typeof createClient>): Promise<Answer> {
    let answer = newAnswer(1);
    try {
      const events = client.streamChat({ messages: [{ role: 'user', content: 'Hello.' }] });
      for await (const event of events) answer = applyEvent(answer, event);
      return answer;
    } catch (error) {
      return fail(answer, error);
    }
  }

  async function transcription(client: ReturnType<typeof createClient>) {
    try {
      for await (const event of client.streamTranscription(new Uint8Array(8)))
        applyTranscriptionEvent(newTranscript, event);
      return {};
    } catch (error) {
      return { failure: failureOf(error) };
    }
  }
});
