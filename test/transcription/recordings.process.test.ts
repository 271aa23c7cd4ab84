/** POST /api/v1/transcribe: a real recording goes in, real words come out of whisper.cpp on this machine. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLocalService, upload } from '../support/local-service.ts';
import { describeWith, run } from '../support/programs.ts';
import { recordingKind, usual } from '../support/recordings.ts';
import type { TestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { toneWav } from '../support/tone-model.ts';
import { areTranscribed, bytesOf, kinds } from './support/kinds.ts';

const text = usual.words.join(' ');

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
  const fromBrowser = () => bytesOf(recordingKind('webm/opus as MediaRecorder writes it (no duration, live clusters)'));

  areTranscribed(kinds.quarter);

  describe('on one service', () => {
    let service: TestService;
    beforeAll(async () => {
      service = await startLocalService();
    });
    afterAll(() => service[Symbol.asyncDispose]());

    test.each([
      { name: '../../../../etc/passwd', type: 'text/plain' },
      { name: '$(touch /tmp/pwned) `id`; rm -rf', type: 'audio/mpeg' },
    ])('is told by its content, whatever it is called: $name $type', async ({ name, type }) => {
      const response = await upload(service, await fromBrowser(), { name, type });
      expect(await response.json()).toMatchObject({ text, language: 'de' });
    });

    test('with a NUL in its name is rejected as an invalid form', async () => {
      const response = await upload(service, await fromBrowser(), { name: 'nul\0byte' });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ code: 'malformed-body' });
    });

    test('can be sent by curl', async () => {
      const path = join(await temporaryDirectory(), 'recording.webm');
      await writeFile(path, await fromBrowser());
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
      const response = await upload(service, await fromBrowser(), { fields: { language: 'xx' } });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ code: 'language-not-supported' });
    });

    test.each([1, 2000])('of %i ms of silence is a success with an empty text', async (ms) => {
      const response = await upload(service, silentWav(ms));
      expect(await response.json()).toEqual({ text: '', language: null, duration_ms: ms, model: 'local' });
    });
  });
});
