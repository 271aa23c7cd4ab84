/** A client that does not read the sound of its answers: it can still interrupt them, and they end with it. */
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startTestService } from '../../support/service.ts';
import { engineOf } from './scripted-engines.ts';

/** The model writes without an end, and each sentence is minutes of sound, which is there at once. */
const files = {
  'brain.mjs': engineOf(
    'chat',
    `async *complete(_call, { signal }) {
      signal.addEventListener('abort', () => log.info({}, 'chat ended'));
      yield { type: 'step-started', step: 0 };
      for (;;) {
        yield { type: 'content-delta', step: 0, delta: 'This is one of many sentences. ' };
        await new Promise(setImmediate);
      }
    }`,
  ),
  'mouth.mjs': engineOf(
    'speech',
    `async synthesize(_call, { signal }) {
      log.info({}, 'speech');
      signal.addEventListener('abort', () => log.info({}, 'speech ended'));
      const audio = (async function* () { for (let n = 0; n < 200; n++) yield new Uint8Array(48_000).fill(16); })();
      return { mediaType: 'audio/pcm', audio };
    }`,
  ),
};

it('cancels its answer, and takes the others with it when it leaves', async () => {
  const config = 'engines: { brain: { use: ./brain.mjs }, mouth: { use: ./mouth.mjs } }\n';
  await using service = await startTestService({ config, files });
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/realtime`, { perMessageDeflate: false });
  const say = (event: object) => socket.send(JSON.stringify(event));
  const count = (message: string) => service.log.filter(({ msg }) => msg === message).length;
  await once(socket, 'open');
  socket.pause();
  const instructions = 'Tell me a story.';
  say({ type: 'response.create', response: { instructions } });
  for (let n = 0; n < 4; n++)
    say({ type: 'response.create', response: { conversation: 'none', input: [], instructions } });
  await expect.poll(() => count('speech')).toBe(10); // two pieces each: the second one is made ahead
  say({ type: 'response.cancel' });
  await expect.poll(() => count('chat ended')).toBe(1);
  await expect.poll(() => count('speech ended')).toBe(2);
  socket.terminate();
  await expect.poll(() => count('chat ended')).toBe(5);
  await expect.poll(() => count('speech ended')).toBe(10);
  expect(count('speech')).toBe(10);
});
