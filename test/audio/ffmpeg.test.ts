import { pbkdf2 } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeWithFfmpeg } from '../../src/audio/ffmpeg.ts';
import { describeWith } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { toneWav } from '../support/tone-model.ts';

describeWith(['ffmpeg'], 'decoding with ffmpeg', ({ ffmpeg }) => {
  test('loses no sound when the disk is slow, as it is under many uploads', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'upload');
    await writeFile(path, toneWav({ words: ['alpha'], rate: 16_000 }));
    // Whoever opens a file now waits for seconds, and ffmpeg has ended long before.
    const busy = Array.from(
      { length: 8 },
      () => new Promise((resolve) => pbkdf2('a', 'b', 1_500_000, 64, 'sha512', resolve)),
    );
    const job = { path, container: 'wav', wavPath: join(directory, 'decoded.wav'), maxSeconds: 60 } as const;
    const { durationMs } = await decodeWithFfmpeg(ffmpeg, job, { signal: new AbortController().signal });
    expect(durationMs).toBe(1250);
    await Promise.all(busy);
  });
});
