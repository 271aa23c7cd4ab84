/** Measures the length of speech encoded by our encoders and by ffmpeg, as providers use it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAudioMeter } from '../../src/speech/audio-length.ts';
import { describeWith, run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { collect, encode, formats, stay, tone, useEncoder } from '../audio/encode-support.ts';

const seconds = 3;

function measure(mediaType: string, bytes: Uint8Array, chunk: number): number {
  const meter = createAudioMeter(mediaType);
  for (let at = 0; at < bytes.length; at += chunk) meter.take(bytes.subarray(at, at + chunk));
  return meter.ms();
}

const id3 = ['-metadata', 'title=A title', '-metadata', 'artist=Somebody', '-id3v2_version', '3'];

const kinds: readonly (readonly [title: string, mediaType: string, file: string, ...args: string[]])[] = [
  ['mp3 of 44.1 kHz', 'audio/mpeg', 'a.mp3', '-ar', '44100', '-b:a', '128k'],
  ['mp3 of 24 kHz (MPEG 2)', 'audio/mpeg', 'b.mp3', '-ar', '24000', '-b:a', '64k'],
  ['mp3 of 11 kHz (MPEG 2.5)', 'audio/mpeg', 'c.mp3', '-ar', '11025', '-b:a', '16k'],
  ['mp3 of a variable rate, with tags', 'audio/mpeg', 'd.mp3', '-ar', '48000', '-q:a', '4', ...id3],
  ['opus', 'audio/ogg', 'e.ogg', '-c:a', 'libopus'],
  ['vorbis', 'audio/ogg', 'f.ogg', '-ar', '22050', '-c:a', 'libvorbis'],
  ['flac', 'audio/flac', 'h.flac', '-ar', '22050', '-c:a', 'flac'],
  ['flac of 48 kHz in small blocks', 'audio/flac', 'i.flac', '-ar', '48000', '-c:a', 'flac', '-frame_size', '192'],
  ['aac of 24 kHz', 'audio/aac', 'j.aac', '-ar', '24000', '-c:a', 'aac', '-f', 'adts'],
  ['aac of 44.1 kHz', 'audio/aac', 'k.aac', '-ar', '44100', '-c:a', 'aac', '-f', 'adts'],
  ['pcm', 'audio/pcm', 'l.raw', '-ar', '24000', '-f', 's16le'],
  ['wav', 'audio/wav', 'g.wav', '-ar', '22050', '-fflags', '+bitexact'],
];

describeWith(['ffmpeg'], 'the length of speech', ({ ffmpeg }) => {
  it.each(kinds)('%s, in pieces of any size', async (_title, mediaType, file, ...args) => {
    const path = join(await temporaryDirectory(), file);
    const tone = `sine=frequency=440:duration=${seconds}`;
    await run(ffmpeg, ['-loglevel', 'error', '-f', 'lavfi', '-i', tone, '-ac', '1', ...args, path]);
    const bytes = await readFile(path);
    const whole = measure(mediaType, bytes, Infinity);
    expect(whole).toBeGreaterThan(1000 * seconds - 10);
    expect(whole).toBeLessThan(1000 * seconds + 220); // encoders pad by frames, which have up to 52 ms
    for (const chunk of [1, 3, 44, 1000]) expect(measure(mediaType, bytes, chunk)).toBe(whole);
  });
});

describe('the length of speech of our encoders', () => {
  useEncoder();

  it.each(formats)('as %s, without the mark of synthetic speech', async (format) => {
    const { mediaType, audio } = encode(tone(seconds, 24_000), format, stay(), 24_000);
    const ms = measure(mediaType, await collect(audio), 1000);
    expect(ms).toBeGreaterThan(1000 * seconds - 1);
    expect(ms).toBeLessThan(1000 * seconds + (format === 'wav' ? 1 : 220));
  });
});

describe('bytes that are no audio', () => {
  it.each(['audio/mpeg', 'audio/ogg', 'audio/wav', 'audio/flac', 'audio/aac'])('measure 0 as %s', (mediaType) => {
    const text = Buffer.from('This is no audio at all. '.repeat(100));
    for (const chunk of [1, 10, 10_000]) expect(measure(mediaType, text, chunk)).toBe(0);
    expect(measure(mediaType, Buffer.alloc(0), 1)).toBe(0);
  });
});
