/** What live conversations leave in the metrics. */
import { expect, it } from 'vitest';
import { quiet, sound, voice } from '../realtime/support.ts';
import { openLiveSession } from '../support/realtime-client.ts';
import { startTestService } from '../support/service.ts';
import { find, readSeries } from './support.ts';

it('the wait for the first sound of an answer, with its parts, and interruptions', async () => {
  await using service = await startTestService({ env: { METRICS_PORT: '0', PARLANCE_SANDBOX: '1' } });
  const value = async (name: string, labels = {}) => find(await readSeries(service), name, labels).sum;
  const interruptions = 'parlance_realtime_interruptions_total';
  const firstSound = 'parlance_realtime_first_sound_seconds';
  const session = await openLiveSession(service, '');

  session.sound(sound(24_000, [quiet, 600], [voice, 1_000], [quiet, 700]));
  await session.until('response.output_audio.delta');
  for (const part of ['transcription', 'answer', 'all']) {
    await expect.poll(() => value(`${firstSound}_count`, { part })).toBe(1);
  }
  const [parts, all] = [await value(`${firstSound}_sum`), await value(`${firstSound}_sum`, { part: 'all' })];
  expect(parts - all).toBeCloseTo(all);
  expect(await value(interruptions)).toBe(0);

  await session.until('response.done');
  // It plays for half a minute.
  const content = [{ type: 'input_text', text: `say: ${'This is a long story. '.repeat(20)}` }];
  session.say({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  session.say({ type: 'response.create' });
  const first = session.events.filter(({ type }) => type === 'response.output_audio.delta').length;
  await session.until('response.output_audio.delta', first + 1);
  session.sound(sound(24_000, [quiet, 600], [voice, 1_000]));
  await session.until('input_audio_buffer.speech_started', 2);
  expect(await value(interruptions)).toBe(1);
});
