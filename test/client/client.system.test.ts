/** An abort in the client ends the work in the service within 250 ms. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../src/client/index.ts';
import { eventually } from '../api/support/eventually.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { collect, say, wav } from './support/calls.ts';
import { scripted } from './support/scripted.ts';

let service: TestService;
let client: Client;

beforeAll(async () => {
  service = await startTestService(scripted);
  client = createClient({ baseUrl: service.url });
});
afterAll(() => service[Symbol.asyncDispose]());

describe('an abort', () => {
  const reason = new Error('the user has left');

  /** The work begins, is aborted, and has ended in the service within 250 ms. */
  async function cancels(call: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const before = service.log.length;
    const seen = (msg: string) => service.log.slice(before).find((line) => line.msg === msg);
    const controller = new AbortController();
    const failing = expect(call(controller.signal)).rejects.toBe(reason);
    await eventually(() => seen('the engine works')).toBeDefined();
    const sinceAborted = startStopwatch();
    controller.abort(reason);
    await failing;
    await eventually(() => seen('ended')).toBeDefined();
    expect(sinceAborted()).toBeLessThan(250);
  }

  it('ends a transcription', () => cancels((signal) => client.transcribe(wav, { language: 'zz', signal })));
  it('ends the stream of a transcription', () =>
    cancels((signal) => collect(client.streamTranscription(wav, { language: 'zz', signal }))));
  it('ends a chat', () => cancels((signal) => client.chat(say('wait'), { signal })));
  it('ends a stream', () => cancels((signal) => collect(client.streamChat(say('wait'), { signal }))));
  it('ends speech while it is played', () =>
    cancels(async (signal) => (await client.speak({ text: 'wait' }, { signal })).arrayBuffer()));

  it('is equivalent to leaving the loop', async () => {
    const before = service.log.length;
    let sinceLeft = () => Infinity;
    for await (const event of client.streamChat(say('wait'))) {
      if (event.type !== 'content.delta') continue;
      await eventually(() => service.log.slice(before).find(({ msg }) => msg === 'the engine works')).toBeDefined();
      sinceLeft = startStopwatch();
      break;
    }
    await eventually(() => service.log.slice(before).find(({ msg }) => msg === 'ended')).toBeDefined();
    expect(sinceLeft()).toBeLessThan(250);
  });
});
