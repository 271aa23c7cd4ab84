/** The length that a file states, before it is decoded. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Container } from '../../engines/contract/index.ts';
import { statedMs } from '../../src/audio/stated-length.ts';
import { describeWith } from '../support/programs.ts';
import { recordingKind, usual } from '../support/recordings.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { speechSeconds } from '../support/tone-model.ts';
import '../support/shared-compile-cache.ts';

const { signal } = new AbortController();

describeWith(['ffmpeg'], 'the length', () => {
  const stated = async (name: string) => {
    const { container, make } = recordingKind(name);
    return statedMs({ path: await make(usual.words, { directory: await temporaryDirectory() }), container }, signal);
  };

  test.each([
    'webm/opus ordinary',
    'mp4/aac with the moov at the end',
    'mp4/opus',
    'ogg/opus',
    'ogg/vorbis',
    'mp3 with Xing header',
    'mp3 without Xing header',
    'wav s16 at 48 kHz, stereo',
    'flac',
  ])('is known: %s', async (name) => {
    expect(Math.abs((await stated(name))! / 1000 - speechSeconds(usual))).toBeLessThan(0.15);
  });

  test.each(['webm/opus as MediaRecorder writes it (no duration, live clusters)', 'mp4/aac fragmented (Safari)'])(
    'is not stated: %s',
    async (name) => expect(await stated(name)).toBeUndefined(),
  );
});

test.each(['webm', 'mp4', 'ogg', 'mp3', 'flac', 'wav'] satisfies Container[])(
  'a damaged %s states none, and does not fail',
  async (container) => {
    const path = join(await temporaryDirectory(), 'damaged');
    await writeFile(path, Buffer.alloc(10_000, 0x55));
    expect(await statedMs({ path, container }, signal)).toBeUndefined();
  },
);
