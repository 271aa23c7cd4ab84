/** What the sandbox speaks, it transcribes: in every format without ffmpeg, through both APIs, jobs and live sessions. */
import { describe, expect, it } from 'vitest';
import { pcmFormat } from '../../engines/contract/index.ts';
import { wavHeader } from '../../lib/wav.ts';
import { create, end } from '../jobs/support/jobs.ts';
import { commitEvent, inputUpdate, openLiveSession, transcription } from '../support/realtime-client.ts';
import { sentences } from './sentences.ts';
import { serveSandbox } from './support.ts';

const sandbox = serveSandbox();

/** tones.unit.test.ts has the others. */
const some = sentences.slice(0, 3);

async function speak(path: string, request: object): Promise<Buffer> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${sandbox.service.url}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(request),
  });
  if (response.status !== 200) throw new Error(await response.text());
  return Buffer.from(await response.arrayBuffer());
}

async function transcribe(path: string, sound: Uint8Array, fields: Readonly<Record<string, string>> = {}) {
  const body = new FormData();
  body.set('file', new File([Buffer.from(sound)], 'memo'));
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  return (await sandbox.api.send('POST', path, { body })).body as {
    text: string;
    language?: string;
    words?: { start_ms: number; end_ms: number }[];
  };
}

/** G.711. */
function toMuLaw(sample: number): number {
  const value = Math.min(32_635, Math.abs(sample)) + 132;
  const exponent = 31 - Math.clz32(value) - 7;
  return ~((sample < 0 ? 128 : 0) | (exponent << 4) | ((value >> (exponent + 3)) & 15)) & 255;
}

const asWav = (pcm: Buffer) => Buffer.concat([wavHeader(pcm.length, pcmFormat.sampleRate), pcm]);

describe('the same text comes back', () => {
  it.each(['mp3', 'wav', 'ogg', 'pcm'])('from %s of /api/v1', async (format) => {
    for (const text of some) {
      const spoken = await speak('/api/v1/tts', { text, format });
      const sound = format === 'pcm' ? asWav(spoken) : spoken;
      expect((await transcribe('/api/v1/transcribe', sound)).text).toBe(text);
    }
  });

  it.each(['mp3', 'wav', 'pcm'])('from %s of /v1, at half and twice the speed', async (format) => {
    for (const [index, input] of some.entries()) {
      const request = { model: 'tts-1', voice: 'alloy', input, response_format: format, speed: [0.5, 1, 2][index] };
      const spoken = await speak('/v1/audio/speech', request);
      const sound = format === 'pcm' ? asWav(spoken) : spoken;
      expect((await transcribe('/v1/audio/transcriptions', sound, { model: 'whisper-1' })).text).toBe(input);
    }
  });

  it('with times of words within 60 ms of those of the sound itself, in every format', async () => {
    const timesIn = async (format: string) => {
      const sound = await speak('/api/v1/tts', { text: sentences[0], format });
      const { words = [] } = await transcribe('/api/v1/transcribe', sound, { timestamps: 'word' });
      // MP3 has the delay of its encoder, by which all of the sound is late: 67 ms.
      const delay = format === 'mp3' ? 67 : 0;
      return words.flatMap(({ start_ms, end_ms }) => [start_ms - delay, end_ms - delay]);
    };
    const exact = await timesIn('wav');
    expect(exact).toHaveLength(2 * 9);
    for (const format of ['mp3', 'ogg']) {
      const times = await timesIn(format);
      expect(times).toHaveLength(exact.length);
      for (const [index, ms] of times.entries()) expect(Math.abs(ms - exact[index]!)).toBeLessThanOrEqual(60);
    }
  });

  it('in the language of the voice, and without markup if the request asks for that', async () => {
    const spoken = await speak('/api/v1/tts', {
      text: 'Guten **Morgen** 🙂',
      voice_id: 'de',
      format: 'wav',
      speakable: true,
    });
    expect(await transcribe('/api/v1/transcribe', spoken)).toMatchObject({ text: 'Guten Morgen', language: 'de' });
  });

  it('from a job that is cut into parts', { timeout: 180_000 }, async () => {
    const text = Array.from({ length: 130 }, (_, index) => `Sentence number ${index}.`).join(' ');
    const spoken = await speak('/api/v1/tts', { text: `${text} ${text} ${text}`, format: 'mp3' });
    const { id } = await create(sandbox.service, spoken);
    const job = await end(sandbox.service, id);
    expect(job.duration_ms).toBeGreaterThan(300_000);
    expect(job.result?.text).toBe(`${text} ${text} ${text}`);
  });
});

describe('a live session', () => {
  const pcm = (text: string) => speak('/api/v1/tts', { text, format: 'pcm' });
  const texts = (events: readonly object[]) => events.map((event) => (event as { transcript: string }).transcript);

  it('reads turns that its detector finds', async () => {
    const session = await openLiveSession(sandbox.service);
    const pause = Buffer.alloc(2 * pcmFormat.sampleRate);
    for (const text of sentences.slice(0, 4)) session.sound(Buffer.concat([await pcm(text), pause]), 4_800);
    const completed = await session.until(`${transcription}completed`, 4);
    const turns = (await session.until('input_audio_buffer.committed', 4)).map(({ item_id: id }) => id);
    // A transcript may come before the one of the turn before it.
    const inOrder = turns.flatMap((id) => completed.filter(({ item_id: turn }) => turn === id));
    expect(texts(inOrder)).toEqual(sentences.slice(0, 4));
  });

  it('reads G.711, and fails where the speech says so', async () => {
    const session = await openLiveSession(sandbox.service);
    session.say(inputUpdate({ format: { type: 'audio/pcmu' }, turn_detection: null }));
    await session.until('session.updated');
    for (const text of [sentences[4]!, 'fail: overloaded']) {
      const wide = await pcm(text);
      const samples = new Int16Array(Uint8Array.from(wide).buffer).filter((_, index) => index % 3 === 0);
      session.sound(Buffer.from(Array.from(samples, toMuLaw)));
      session.say(commitEvent);
    }
    expect(texts(await session.until(`${transcription}completed`))).toEqual([sentences[4]]);
    await session.until(`${transcription}failed`);
  });
});

it('a spoken failure is an answer of both APIs', async () => {
  const spoken = await speak('/api/v1/tts', { text: 'Hello\nfail: overloaded', format: 'wav' });
  expect(await transcribe('/api/v1/transcribe', spoken)).toMatchObject({ status: 503, code: 'overloaded' });
  expect(await transcribe('/v1/audio/transcriptions', spoken)).toMatchObject({ error: { code: 'overloaded' } });
});
