/** POST /api/v1/transcribe: a real recording goes in, real words come out of whisper.cpp on this machine. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decoders, startLocalService, upload } from '../support/local-service.ts';
import { describeWith, run } from '../support/programs.ts';
import { recordings, usual } from '../support/recordings.ts';
import type { TestService } from '../support/service.ts';
import { speechSeconds, toneWav } from '../support/tone-model.ts';

const { words, language } = usual;
const text = words.join(' ');
/** Codecs pad with silence and cut into frames. */
const toleranceMs = 120;

/**
 * Each sample format, each rate and both channel counts of WAV once; everything else. More pairs of these are in
 * test/audio/wasm.process.test.ts, sample by sample, and with ffmpeg in test/support/recordings.process.test.ts.
 */
const kinds = recordings.filter(
  ({ name }) => !/^wav .* at /.test(name) || /s16 at 8 |s24 at 44|f32 at 16|mu-law at 48/.test(name),
);

/** 16 kHz mono silence of so many milliseconds. */
function silentWav(ms: number): Buffer {
  const header = toneWav({ words: [], rate: 16_000 }).subarray(0, 44);
  const dataBytes = ms * 32;
  const file = Buffer.concat([header, Buffer.alloc(dataBytes)]);
  file.writeUInt32LE(36 + dataBytes, 4);
  file.writeUInt32LE(dataBytes, 40);
  return file;
}

describeWith(['ffmpeg', 'whisper-cli', 'curl'], 'a recording', ({ curl }) => {
  let directory: string;
  const made = new Map<string, Buffer>();
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'parlance-recordings-'));
    for (const { name, make } of kinds) {
      made.set(name, await readFile(await make(words, { directory, language })));
    }
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const bytesOf = (name: string) => made.get(name)!;
  const fromBrowser = () => bytesOf('webm/opus as MediaRecorder writes it (no duration, live clusters)');

  describe.each(Object.keys(decoders) as (keyof typeof decoders)[])('decoded by %s', (decoder) => {
    let service: TestService;
    beforeAll(async () => {
      service = await startLocalService({ env: decoders[decoder] });
    });
    afterAll(() => service[Symbol.asyncDispose]());

    const lacks = (needsFfmpeg: boolean) => needsFfmpeg && decoder !== 'ffmpeg';

    test.each(kinds.filter((kind) => !lacks(kind.needsFfmpegToDecode)))('is transcribed: $name', async ({ name }) => {
      const response = await upload(service, bytesOf(name));
      const answer = (await response.json()) as { duration_ms: number };
      expect({ status: response.status, answer }).toMatchObject({
        status: 200,
        answer: { text, language: 'de', model: 'local' },
      });
      const expectedMs = speechSeconds({ words }) * 1000;
      expect(Math.abs(answer.duration_ms - expectedMs)).toBeLessThan(toleranceMs);
    });

    test.each(kinds.filter((kind) => lacks(kind.needsFfmpegToDecode)))(
      'needs ffmpeg, and the answer says so: $name',
      async ({ name }) => {
        const response = await upload(service, bytesOf(name));
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

  describe('on one service', () => {
    let service: TestService;
    beforeAll(async () => {
      service = await startLocalService();
    });
    afterAll(() => service[Symbol.asyncDispose]());

    test.each([
      { name: 'recording.webm', type: 'audio/webm;codecs=opus' },
      { name: 'recording.mp3', type: 'audio/mpeg' },
      { name: 'recording.txt', type: 'text/plain' },
      { name: 'recording', type: '' },
      { name: 'a"b\n\'c\r.webm', type: 'video/webm' },
      { name: '../../../../etc/passwd', type: '' },
      { name: '/etc/passwd', type: 'application/octet-stream' },
      { name: '$(touch /tmp/pwned) `id`; rm -rf', type: '' },
      { name: 'x'.repeat(10_000), type: '' },
    ])('is told by its content, whatever it is called: $name $type', async ({ name, type }) => {
      const response = await upload(service, fromBrowser(), { name, type });
      expect(await response.json()).toMatchObject({ text, language: 'de' });
    });

    test('with a NUL in its name is rejected as an invalid form', async () => {
      const response = await upload(service, fromBrowser(), { name: 'nul\0byte' });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ code: 'malformed-body' });
    });

    test('can be sent by curl', async () => {
      const path = join(directory, 'recording.webm');
      await writeFile(path, fromBrowser());
      const answer = await run(curl, ['-sS', '-F', `file=@${path}`, `${service.url}/api/v1/transcribe`]);
      expect(JSON.parse(answer)).toMatchObject({ text, language: 'de', model: 'local' });
    });

    test('has its language detected by default', async () => {
      const french = toneWav({ words: ['kilo'], language: 'fr', rate: 16_000 });
      expect(await (await upload(service, french)).json()).toMatchObject({ text: 'kilo', language: 'fr' });
    });

    test('skips the detection if a language is given', async () => {
      const english = toneWav({ words: ['kilo'], language: 'en', rate: 16_000 });
      const response = await upload(service, english, { fields: { language: 'de', model: 'local' } });
      expect(await response.json()).toMatchObject({ text: 'kilo', language: 'de' });
    });

    test('is rejected in a language that the model does not support', async () => {
      const response = await upload(service, fromBrowser(), { fields: { language: 'xx' } });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ code: 'language-not-supported' });
    });

    test.each([1, 10, 99, 2000])('of %i ms of silence is a success with an empty text', async (ms) => {
      const response = await upload(service, silentWav(ms));
      expect(await response.json()).toEqual({ text: '', language: null, duration_ms: ms, model: 'local' });
    });
  });
});
