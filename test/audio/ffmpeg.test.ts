import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeWithFfmpeg } from '../../src/audio/ffmpeg.ts';
import { describeWith } from '../support/programs.ts';
import { processesWith, until } from '../support/processes.ts';
import { stopTheDisk } from '../support/slow-disk.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { toneWav } from '../support/tone-model.ts';

describeWith(['ffmpeg'], 'decoding with ffmpeg', ({ ffmpeg }) => {
  test('loses no sound when the disk is slow, as it is under many uploads', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'upload');
    await writeFile(path, toneWav({ words: ['alpha'], rate: 16_000 }));
    const goOn = await stopTheDisk();
    const job = { path, container: 'wav', wavPath: join(directory, 'decoded.wav'), maxSeconds: 60 } as const;
    const decoding = decodeWithFfmpeg(ffmpeg, job, { signal: new AbortController().signal });
    decoding.catch(() => undefined); // it may fail before anybody waits for it
    try {
      await until('an ffmpeg that has begun all the same has ended', () => processesWith(path).length === 0);
    } finally {
      await goOn();
    }
    expect((await decoding).durationMs).toBe(1250);
  });
});
