/** Every kind of recording through the service, by ffmpeg and by the WASM decoders: a quarter on a push. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decoders, startLocalService, upload } from '../../support/local-service.ts';
import { quarterOf } from '../../support/quarter.ts';
import { recordings, usual, type RecordingKind } from '../../support/recordings.ts';
import type { TestService } from '../../support/service.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { speechSeconds } from '../../support/tone-model.ts';

const { words, language } = usual;
const text = words.join(' ');
/** Codecs pad with silence and cut into frames. */
const toleranceMs = 120;

/**
 * Each sample format, each rate and both channel counts of WAV once; everything else. More pairs of these are in
 * test/audio/wasm.process.test.ts, sample by sample.
 */
export const kinds = quarterOf(
  recordings.filter(({ name }) => !/^wav .* at /.test(name) || /s16 at 8 |s24 at 44|f32 at 16|mu-law at 48/.test(name)),
  ({ name }) => name.split(' ')[0]!, // container and codec
);

export const bytesOf = async ({ make }: RecordingKind): Promise<Buffer> =>
  readFile(await make(words, { directory: await temporaryDirectory(), language }));

export function areTranscribed(rows: readonly RecordingKind[]): void {
  describe.each(Object.keys(decoders) as (keyof typeof decoders)[])('decoded by %s', (decoder) => {
    let service: TestService;
    beforeAll(async () => {
      service = await startLocalService({ env: decoders[decoder] });
    });
    afterAll(() => service[Symbol.asyncDispose]());

    const lacks = (needsFfmpeg: boolean) => needsFfmpeg && decoder !== 'ffmpeg';

    test.each(rows.filter((kind) => !lacks(kind.needsFfmpegToDecode)))('is transcribed: $name', async (kind) => {
      const response = await upload(service, await bytesOf(kind));
      const answer = (await response.json()) as { duration_ms: number };
      expect({ status: response.status, answer }).toMatchObject({
        status: 200,
        answer: { text, language: 'de', model: 'local' },
      });
      const expectedMs = speechSeconds({ words }) * 1000;
      expect(Math.abs(answer.duration_ms - expectedMs)).toBeLessThan(toleranceMs);
    });

    test.each(rows.filter((kind) => lacks(kind.needsFfmpegToDecode)))(
      'needs ffmpeg, and the answer says so: $name',
      async (kind) => {
        const response = await upload(service, await bytesOf(kind));
        expect(response.status).toBe(422);
        const { code, detail } = (await response.json()) as { code: string; detail: string };
        expect(code).toBe('recording-undecodable');
        expect(detail).toMatch(/AAC.*ffmpeg/);
      },
    );

    test('leaves no files', async () => {
      await expect.poll(() => service.leftovers()).toEqual([]);
    });
  });
}
