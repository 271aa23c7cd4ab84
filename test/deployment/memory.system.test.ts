/** How much memory the service takes when many large recordings come at once: they belong on the disk. */
import { symlink } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startChildService, type ChildService } from '../support/child-service.ts';
import { describeWith } from '../support/programs.ts';
import { wav } from '../support/tone-model.ts';
import { standIns, whisperEngine, writeModels, type Answer, type Models } from './support.ts';

const recordingBytes = 26_214_400;
const mostBytes = 250e6;
const MB = 1e6;

/** Exactly as large as may be, and decodable. At this rate the decoded sound is cheap to make. */
const silence = (channels: number) => wav(new Int16Array((recordingBytes - 44) / 2), { rate: 16_000, channels });
const [mono, stereo] = [silence(1), silence(2)];

/** Writes the same bytes again and again: the client's memory is not the question here. */
async function send({ url }: ChildService, bytes: Buffer): Promise<Answer> {
  const boundary = 'boundary-of-the-form';
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const sending = request(`${url}/api/v1/transcribe`, {
    method: 'POST',
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + bytes.length + tail.length,
    },
  });
  return new Promise((resolve, reject) => {
    sending.once('error', reject);
    sending.once('response', (response) => {
      json(response).then((body) => resolve({ status: response.statusCode!, body: body as Answer['body'] }), reject);
    });
    sending.write(head);
    sending.write(bytes);
    sending.end(tail);
  });
}

describe.skipIf(process.platform !== 'linux')('a service that has just started', () => {
  test('has given back what only its start needed', async () => {
    const service = await startChildService();
    await expect.poll(() => service.memory().now, { timeout: 30_000 }).toBeLessThan(145e6); // the start takes up to 190 MB
  });
});

describe.skipIf(process.platform !== 'linux')('recordings of 25 MB at once', () => {
  describeWith(['ffmpeg'], 'with a real decoder', () => {
    let models: Models;
    beforeAll(async () => {
      models = await writeModels(['blank']);
      // For the stand-in's first line, where ffmpeg is kept off the PATH.
      await symlink(process.execPath, join(models.directory, 'node'));
    });
    afterAll(() => models[Symbol.asyncDispose]());

    test.each([
      ['decoded by ffmpeg', 3, stereo, 'ffmpeg'],
      ['copied, as they need no decoder', 10, mono, 'ffmpeg'],
      ['decoded by WASM decoders', 3, stereo, 'WASM'],
    ] as const)(
      `take less than ${mostBytes / MB} MB of memory when they are %s`,
      { timeout: 600_000 }, // they are decoded one after the other, so that a few show what each of them takes
      async (what, uploads, bytes, decoder) => {
        const engine = whisperEngine(models, ['blank'], { program: standIns.whisper, waiting: uploads });
        const env = decoder === 'WASM' ? { PATH: models.directory } : {};
        const service = await startChildService({ config: `engines: { local: ${engine} }`, env });
        const idle = service.memory().now;
        const answers = await Promise.all(Array.from({ length: uploads }, () => send(service, bytes)));
        for (const answer of answers) expect(answer).toMatchObject({ status: 200 });
        const { now, peak } = service.memory();
        const figures = { idle, peak, afterwards: now };
        const inMB = Object.entries(figures).map(([name, value]) => `${name} ${Math.round(value / MB)} MB`);
        console.info(`${uploads} recordings of 25 MB, ${what}: ${inMB.join(', ')}`);
        expect(peak).toBeLessThan(mostBytes);
        await expect.poll(() => service.leftovers(), { timeout: 10_000 }).toEqual([]);
      },
    );
  });
});
