/** The duration of real recordings, read from their containers. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../support/programs.ts';
import { answers } from '../../support/provider.ts';
import { recordings, usual } from '../../support/recordings.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { speechSeconds } from '../../support/tone-model.ts';
import { openHosted, type Hosted } from './support.ts';

let hosted: Hosted & AsyncDisposable;
beforeAll(async () => {
  hosted = await openHosted();
});
afterAll(() => hosted[Symbol.asyncDispose]());

/** The duration in the answer when the provider says this. */
async function durationOf(bytes: Uint8Array, answer: object = {}): Promise<unknown> {
  hosted.provider.behave(answers(200, { text: 'ok', ...answer }));
  return ((await hosted.transcribe({}, bytes)).body as { duration_ms?: unknown }).duration_ms;
}

describeWith(['ffmpeg'], 'the duration', () => {
  const { words, language } = usual;
  /** Codecs pad with silence and cut into frames. */
  const toleranceMs = 120;

  test.each(recordings)('of $name is read from its container', async ({ make }) => {
    const bytes = await readFile(await make(words, { directory: await temporaryDirectory(), language }));
    const measured = (await durationOf(bytes)) as number;
    expect(Math.abs(measured - speechSeconds({ words }) * 1000)).toBeLessThan(toleranceMs);
  });
});
