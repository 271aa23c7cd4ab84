/** What a client sends while an answer is playing: speech interrupts it, and everything else does not. */
import { expect, it } from 'vitest';
import { toG711, viewSamples16 } from '../../../lib/samples.ts';
import { quiet, sound, voice } from '../../realtime/support.ts';
import { openLiveSession, type LiveSession } from '../../support/realtime-client.ts';
import { startTestService } from '../../support/service.ts';

const rate = 24_000;

/** Asks the sandbox for an answer that takes longer than 15 s, all of which the client has before it can have played it. */
async function startAnswer(session: LiveSession): Promise<void> {
  const content = [{ type: 'input_text', text: `say: ${'This is a long story. '.repeat(20)}` }];
  session.say({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  session.say({ type: 'response.create' });
  await session.until('response.output_audio.delta', 140);
}

const samplesOf = (session: LiveSession) =>
  viewSamples16(
    Buffer.concat(
      session.events.flatMap(({ type, delta }) =>
        type === 'response.output_audio.delta' ? [Buffer.from(delta!, 'base64')] : [],
      ),
    ),
  );

const bytesOf = ({ buffer, byteOffset, byteLength }: Int16Array) => Buffer.from(buffer, byteOffset, byteLength);

it.each(['audio/pcm', 'audio/pcmu'])(
  'is speech, and neither a click nor its own sound, 20 dB lower: %s',
  async (type) => {
    await using service = await startTestService({ env: { PARLANCE_SANDBOX: '1' } });
    const session = await openLiveSession(service, '');
    const input = { format: { type } };
    session.say({ type: 'session.update', session: { type: 'realtime', audio: { input } } });
    await session.until('session.updated');
    await startAnswer(session);
    const send = (bytes: Buffer) =>
      session.sound(
        type === 'audio/pcm'
          ? bytes
          : Buffer.from(
              toG711(
                viewSamples16(bytes).filter((_, i) => i % 3 === 0),
                'ulaw',
              ),
            ),
      );

    send(sound(rate, [quiet, 1_000], [voice, 60], [quiet, 500], [voice, 60], [quiet, 500]));
    const echo = samplesOf(session).map((sample) => sample / 10);
    send(bytesOf(echo));
    send(sound(rate, [quiet, 1_000], [voice, 400]));

    const [started] = await session.until('input_audio_buffer.speech_started');
    expect(started!.audio_start_ms).toBeGreaterThan(2_000 + echo.length / 24);
    const [done] = await session.until('response.done');
    expect(done!.response).toMatchObject({ status: 'cancelled', status_details: { reason: 'turn_detected' } });
    expect(session.events.filter(({ type: name }) => name === 'error')).toEqual([]);
  },
);
