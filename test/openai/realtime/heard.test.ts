/** After an interruption: the next call of the model has what was heard, and the session still speaks. */
import { expect, it } from 'vitest';
import { quiet, sound, voice } from '../../realtime/support.ts';
import { openLiveSession, type LiveSession } from '../../support/realtime-client.ts';
import { startTestService } from '../../support/service.ts';
import { askedOf, msPerWord, scriptedTalk, wordsHeard } from './scripted-engines.ts';

const firstSound = 'response.output_audio.delta';
const rate = 24_000;
const speech = sound(rate, [quiet, 400], [voice, 500]);
const pause = sound(rate, [quiet, 700]);

const countOf = ({ events }: LiveSession, type: string) => events.filter((event) => event.type === type).length;

/** Speaks, and resolves once the turn has begun: it has interrupted the answer that was playing. */
async function interrupt(session: LiveSession): Promise<void> {
  session.sound(speech);
  const started = 'input_audio_buffer.speech_started';
  await session.until(started, countOf(session, started) + 1);
}

/** Ends the turn, and resolves with the item of the answer to it, once it sounds. */
async function listen(session: LiveSession): Promise<string> {
  const before = countOf(session, firstSound);
  session.sound(pause);
  return (await session.until(firstSound, before + 1))[before]!.item_id!;
}

interface Playing {
  /** How much of the answer the client has got. */
  readonly sentMs: number;
  /** How much of it can have been played, at least and at most: between two events, the machine may stall. */
  readonly playedMs: Range;
}

type Range = readonly [least: number, most: number];

interface Client {
  readonly after?: (id: string) => object;
  /** How much the client must have got before the user speaks. */
  readonly sentMs?: number;
  readonly heardMs: (playing: Playing) => Range;
}

const truncate = (ms: number) => (id: string) => ({
  ...{ type: 'conversation.item.truncate', item_id: id, content_index: 0, audio_end_ms: ms },
});

const deletion = (id: string) => ({ type: 'conversation.item.delete', item_id: id });

it.each<[string, Client]>([
  ['truncates', { after: truncate(4 * msPerWord), heardMs: () => [4 * msPerWord, 4 * msPerWord] }],
  ['truncates too much', { after: truncate(99_000), heardMs: ({ sentMs }) => [sentMs, sentMs] }],
  ['deletes the item', { after: deletion, heardMs: () => [0, 0] }],
  // Sound beyond 15 s comes only as the sound before it is played.
  ['does nothing', { sentMs: 17_000, heardMs: ({ playedMs }) => playedMs }],
])('the model sees the words that were heard by a user whose client %s', async (_what, client) => {
  await using service = await startTestService(scriptedTalk());
  const session = await openLiveSession(service, '');
  await interrupt(session);
  // The first answer loads all modules.
  session.say(deletion(await listen(session)));
  await interrupt(session);
  const asked = performance.now();
  const id = await listen(session);
  const begun = performance.now();
  const before = countOf(session, firstSound);
  await session.until(firstSound, before + (client.sentMs ?? 10_000) / 100);
  const spoken = performance.now();
  await interrupt(session);
  const playedMs: Range = [spoken - begun, performance.now() - asked];
  const sentMs = session.events.filter(({ type, item_id: of }) => type === firstSound && of === id).length * 100;
  if (client.after) session.say(client.after(id));
  await listen(session);
  const answer = askedOf(service)
    .at(-1)!
    .find((message) => message.startsWith('assistant'));
  const [least, most] = client.heardMs({ sentMs, playedMs }).map((ms) => Math.round(ms / msPerWord));
  expect(wordsHeard(answer), answer).toBeGreaterThanOrEqual(least! - 1);
  expect(wordsHeard(answer), answer).toBeLessThanOrEqual(most! + 1);
  expect(answer === undefined).toBe(most === 0);
});

it('the session still speaks after each of 100 interruptions', { timeout: 120_000 }, async () => {
  await using service = await startTestService(scriptedTalk({ wordMs: 100 }));
  const session = await openLiveSession(service, '');
  for (let turn = 0; turn <= 100; turn += 1) {
    await interrupt(session);
    await listen(session);
  }
  const done = session.events.flatMap(({ type, response }) => (type === 'response.done' ? [response!] : []));
  expect(done).toHaveLength(100);
  for (const { status_details: details } of done) expect(details).toMatchObject({ reason: 'turn_detected' });
});
