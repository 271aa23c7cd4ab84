import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sniff } from '../../src/audio/sniff.ts';
import { describeWith, run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';

describeWith(['ffmpeg'], 'what ffmpeg writes', ({ ffmpeg }) => {
  it.each([
    ['AAC audio without a container (ADTS)', '-c:a aac -ar 48000 -f adts'],
    ['AAC audio without a container (ADTS)', '-c:a aac -ar 44100 -f adts'],
    ['AAC audio without a container (ADTS)', '-c:a aac -ar 22050 -f adts'],
    ['MPEG audio layer II', '-c:a mp2 -f mp2'],
    ['AIFF audio', '-f aiff'],
    ['CAF audio', '-f caf'],
    ['Sun audio (.au)', '-f au'],
    ['Windows media (ASF)', '-c:a wmav2 -f asf'],
    ['an AVI video', '-f avi'],
  ])('is refused as %s (%s)', async (detected, format) => {
    const path = join(await temporaryDirectory(), 'recording');
    const tone = ['-f', 'lavfi', '-i', 'sine=duration=0.2'];
    await run(ffmpeg, ['-nostdin', '-loglevel', 'error', ...tone, ...format.split(' '), path]);
    await using file = await open(path);
    expect(await sniff(file)).toEqual({ container: undefined, detected });
  });
});
