/** Early answers over a real socket: one is used when the turn ends, and one is dropped when the user continues to speak. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { quiet, sound, voice } from '../../realtime/support.ts';
import { openLiveSession } from '../../support/realtime-client.ts';
import { startTestService } from '../../support/service.ts';
import { engineOf } from './scripted-engines.ts';

const files = {
  'ears.mjs': engineOf(
    'transcription',
    `transcribe: async () => ({ text: 'Tell me a story.', language: 'en', durationMs: 1000 })`,
  ),
  'brain.mjs': engineOf(
    'chat',
    `async *complete(_call, { signal }) {
      log.info({}, 'chat');
      signal.addEventListener('abort', () => log.info({}, 'chat ended'));
      yield { type: 'step-started', step: 0 };
      yield { type: 'content-delta', step: 0, delta: 'There was a king.' };
      yield { type: 'completed', result: { content: 'There was a king.', finishReason: 'stop', reasoning: null, usage: null } };
    }`,
  ),
  'mouth.mjs': engineOf(
    'speech',
    `async synthesize() {
      log.info({}, 'speech');
      const audio = (async function* () { yield new Uint8Array(4_800).fill(16); })();
      return { mediaType: 'audio/pcm', audio };
    }`,
  ),
};

const config = 'engines: { ears: { use: ./ears.mjs }, brain: { use: ./brain.mjs }, mouth: { use: ./mouth.mjs } }\n';

/** Turns end long before a stall of the machine would end them. */
const detection = { type: 'server_vad', silence_duration_ms: 5_000 };
const rate = 24_000;
const words = sound(rate, [quiet, 500], [voice, 400]);
const pause = sound(rate, [quiet, 240]);
const breath = sound(rate, [quiet, 20]);
const rest = sound(rate, [quiet, 5_000]);

it('an early answer is sent once the turn ends, and is never sent if the user continues to speak', async () => {
  // The clock is stopped, because on a busy machine the models would not be known to be quick.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  await using service = await startTestService({ config, files });
  const session = await openLiveSession(service, '');
  const count = (message: string) => service.log.filter(({ msg }) => msg === message).length;
  const created = () => session.events.filter(({ type }) => type === 'response.created').length;
  const say = (...parts: readonly Buffer[]) => session.sound(Buffer.concat(parts));
  /** Waits until this many texts have been spoken. Audio keeps arriving, because a turn also ends without it. */
  const spoken = (texts: number) => expect.poll(() => (say(breath), count('speech'))).toBe(texts);
  session.say({
    type: 'session.update',
    session: { type: 'realtime', audio: { input: { turn_detection: detection } } },
  });
  await session.until('session.updated');
  // The first answer loads the modules, and the second one shows how long a transcription takes.
  for (const turn of [1, 2]) {
    say(words, rest);
    await session.until('response.done', turn);
  }
  expect([count('chat'), count('speech')]).toEqual([2, 2]);

  say(words, pause);
  await spoken(3);
  expect([created(), count('chat')]).toEqual([2, 3]);
  say(rest);
  await session.until('response.done', 3);
  expect([count('chat'), count('speech')]).toEqual([3, 3]);

  say(words, pause);
  await spoken(4);
  say(words, rest);
  await session.until('response.done', 4);
  expect([created(), count('chat')]).toEqual([4, 5]);
  const done = session.events.filter(({ type }) => type === 'response.done');
  expect(done.map(({ response }) => response?.status)).toEqual(Array<string>(4).fill('completed'));
});
