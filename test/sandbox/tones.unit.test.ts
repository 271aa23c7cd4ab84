/** Speech that carries its text: without it, every recording has the same transcript. */
import { describe, expect, it } from 'vitest';
import { readSpeech, type Transcribed } from '../../engines/sandbox/read-speech.ts';
import { burstsOf, createTones, sampleRate, silenceBetween } from '../../engines/sandbox/tones.ts';
import { levelOf, newGate, pushLevel } from '../../lib/voice-gate.ts';
import { sentences } from './sentences.ts';

function speak(text: string, { speed = 1, voice = 0 } = {}): Int16Array {
  const soundOf = createTones(speed);
  const parts = burstsOf(text, voice).map((burst) => [...soundOf(burst), ...silenceBetween(speed)]);
  return Int16Array.from([...silenceBetween(speed), ...parts.flat()]);
}

/** Reads in pieces, as from a file. */
async function transcribe(samples: Int16Array): Promise<Transcribed | undefined> {
  async function* pieces() {
    for (let at = 0; at < samples.length; at += 7_777) yield await Promise.resolve(samples.slice(at, at + 7_777));
  }
  return readSpeech(pieces, new AbortController().signal);
}

/** Deterministic noise between -1 and 1. */
function createNoise(): () => number {
  let state = 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 1_073_741_823.5 - 1;
}

describe('the speech of the sandbox', () => {
  it.each([0.25, 0.5, 1, 2, 4])('is read back at a speed of %d', async (speed) => {
    for (const text of sentences) expect((await transcribe(speak(text, { speed })))?.text).toBe(text);
  });

  it('is read back in noise, from afar, and in a band of telephones', async () => {
    const noise = createNoise();
    for (const text of sentences) {
      const far = speak(text).map((sample) => 0.05 * sample + 20 * noise());
      const noisy = speak(text).map((sample) => 0.5 * sample + 600 * noise());
      const halved = speak(text).filter((_, index) => index % 2 === 0);
      const narrow = Int16Array.from(
        [...halved].flatMap((sample, index) => [sample, (sample + (halved[index + 1] ?? 0)) / 2]),
      );
      for (const sound of [far, noisy, narrow]) expect((await transcribe(sound))?.text).toBe(text);
    }
  });

  it.each(['Yes.', 'Hello', 'Please continue.'])('interrupts an answer from digital silence: %s', (text) => {
    const frame = sampleRate / 50;
    for (let phase = 0; phase < frame; phase += frame / 10) {
      const samples = Int16Array.from([...new Int16Array(sampleRate + phase), ...speak(text)]);
      let gate = newGate;
      for (let at = 0; at + frame <= samples.length && !gate.isOpen; at += frame) {
        const level = levelOf(samples.subarray(at, at + frame), 32_768);
        gate = pushLevel(gate, level, 20, { pauseMs: 500, isSpeaking: true });
      }
      expect(gate.isOpen, `phase ${phase}`).toBe(true);
    }
  });

  it('names its voice', async () => {
    for (const [voice, language] of ['en', 'de', 'es', 'fr', 'en'].entries()) {
      expect((await transcribe(speak('Hello', { voice })))?.language).toBe(language);
    }
  });

  it('has the true times of words and sentences', async () => {
    const text = 'One two. Three 東京。京都。';
    const { segments, words } = (await transcribe(speak(text)))!;
    // Two pulses of 50 ms and one per byte, and two of silence between words.
    expect(words.map((word) => word.text)).toEqual(['One', 'two.', 'Three', '東京。', '京都。']);
    const starts = [100, 100 + 250 + 100, 100 + 250 + 100 + 300 + 100];
    for (const [index, start] of starts.entries()) expect(Math.abs(words[index]!.startMs - start)).toBeLessThan(10);
    expect(Math.abs(words[1]!.endMs - 750)).toBeLessThan(10);
    expect(segments.map((segment) => segment.text)).toEqual(['One two.', 'Three 東京。', '京都。']);
    expect(segments[0]).toMatchObject({ startMs: words[0]!.startMs, endMs: words[1]!.endMs });
    const bounds = words.flatMap(({ startMs, endMs }) => [startMs, endMs]);
    expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
  });

  it('is read on both sides of a cut between two words', async () => {
    const whole = speak('Before the cut after the cut');
    const cut = (100 + 400 + 100 + 250 + 100 + 250 + 50) * 16;
    expect((await transcribe(whole.slice(0, cut)))?.text).toBe('Before the cut');
    expect((await transcribe(whole.slice(cut)))?.text).toBe('after the cut');
  });

  it('has long words in pieces, of which a broken one costs no other', async () => {
    const text = 'x'.repeat(60);
    const sound = speak(text);
    expect((await transcribe(sound))?.words).toMatchObject([{ text }]);
    sound.fill(0, 8_000, 9_600);
    expect((await transcribe(sound))?.text).toBe('x'.repeat(36));
  });
});

describe('another sound', () => {
  it('is never read as a text', async () => {
    const noise = createNoise();
    const white = Int16Array.from({ length: 160_000 }, () => 8_000 * noise());
    const tones = (hertz: number) => (i: number) => Math.sin((2 * Math.PI * hertz * i) / 16_000);
    const melody = Int16Array.from({ length: 160_000 }, (_, i) => {
      const pulse = Math.sin((Math.PI * (i % 800)) / 800) ** 2;
      const key = (Math.floor(i / 800) * 7) % 16;
      return 8_000 * pulse * (tones(500 + 70 * key)(i) + tones(1_950 + 80 * ((key * 5) % 17))(i));
    });
    const words = Int16Array.from({ length: 160_000 }, (_, i) => melody[i]! * (i % 8_000 < 4_800 ? 1 : 0));
    for (const sound of [white, melody, words]) expect(await transcribe(sound)).toBeUndefined();
    expect((await transcribe(new Int16Array(16_000)))?.text).toBe('');
  });
});
