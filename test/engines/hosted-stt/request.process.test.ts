/** Real recordings are sent to the provider with their file name and media type. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { describeWith } from '../../support/programs.ts';
import { readForm } from '../../support/provider.ts';
import { recordings } from '../../support/recordings.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { startHosted } from './support.ts';

describeWith(['ffmpeg'], 'a recording from a browser or a file', () => {
  const kinds = [...new Map(recordings.map((kind) => [kind.container, kind])).values()];
  const types = {
    webm: 'audio/webm',
    mp4: 'audio/mp4',
    ogg: 'audio/ogg',
    mp3: 'audio/mpeg',
    wav: 'audio/wav',
    flac: 'audio/flac',
  };
  test.each(kinds)('goes up as what it is: $container', async ({ container, make }) => {
    const bytes = await readFile(await make(['alpha'], { directory: await temporaryDirectory() }));
    const { provider, transcribe } = await startHosted();
    expect((await transcribe({}, bytes)).status).toBe(200);
    const { file } = await readForm(provider.calls[0]!);
    expect(file?.head).toContain(`filename="recording.${container}"\r\nContent-Type: ${types[container]}`);
    expect(file?.content.equals(bytes)).toBe(true);
  });
});
