/** Sandbox speech through ffmpeg, and through an encoder that crashes. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createApi } from '../support/http.ts';
import { describeWith } from '../support/programs.ts';
import { startTestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { sentences } from './sentences.ts';
import { serveSandbox } from './support.ts';

const sandbox = serveSandbox();

async function speak(request: object): Promise<{ type: string | null; sound: Buffer }> {
  const response = await sandbox.service.post('/tts', request);
  if (response.status !== 200) throw new Error(await response.text());
  return { type: response.headers.get('content-type'), sound: Buffer.from(await response.arrayBuffer()) };
}

/** own-speech.test.ts has the others, without ffmpeg. */
const some = sentences.slice(0, 3);

describeWith(['ffmpeg'], 'with ffmpeg', () => {
  it('speaks opus', async () => {
    const { type, sound } = await speak({ text: 'Good morning.', format: 'opus' });
    expect(type).toBe('audio/ogg');
    expect(sound.includes('OpusHead')).toBe(true);
  });

  it.each([
    ['flac', /^fLaC/],
    ['aac', /^\xff[\xf0\xf1]/],
  ])('speaks %s', async (format, begins) => {
    const { type, sound } = await speak({ text: 'Good morning.', format });
    expect(type).toBe(`audio/${format}`);
    expect(sound.toString('latin1', 0, 4)).toMatch(begins);
  });

  it.each([
    ['opus', []],
    ['flac', []],
    ['aac', ['-f', 'wav']],
  ])('is read back from %s', async (format, decoding) => {
    for (const text of some) {
      const { sound } = await speak({ text, format });
      const file = decoding.length === 0 ? sound : await runFfmpeg(sound, decoding);
      const body = new FormData();
      body.set('file', new File([Buffer.from(file)], 'memo'));
      expect((await sandbox.api.send('POST', '/v1/audio/transcriptions', { body })).body).toMatchObject({ text });
    }
  });

  it.each([0.5, 2])('is read back from opus at a speed of %d', async (speed) => {
    for (const input of some) {
      const request = { model: 'tts-1', voice: 'alloy', input, response_format: 'opus', speed };
      const headers = { 'content-type': 'application/json' };
      const spoken = await fetch(`${sandbox.service.url}/v1/audio/speech`, {
        ...{ method: 'POST', headers, body: JSON.stringify(request) },
      });
      const body = new FormData();
      body.set('file', new File([await spoken.bytes()], 'memo'));
      expect((await sandbox.api.send('POST', '/api/v1/transcribe', { body })).body).toMatchObject({ text: input });
    }
  });
});

/** Decodes AAC, as a player does: the service refuses it without a container. */
async function runFfmpeg(sound: Buffer, options: readonly string[]): Promise<Buffer> {
  const child = spawn('ffmpeg', ['-loglevel', 'error', '-f', 'aac', '-i', 'pipe:0', ...options, 'pipe:1']);
  child.stdin.end(sound);
  return buffer(child.stdout);
}

describe('without ffmpeg', () => {
  it.each(['opus', 'flac', 'aac'])('%s is refused, and the message names what is missing', async (format) => {
    await using service = await startTestService({ env: { PARLANCE_SANDBOX: '1', PATH: '/nowhere' } });
    const { post } = createApi(service.url);
    const { problem } = await post('/api/v1/tts', { text: 'one', format });
    expect(problem).toMatchObject({ status: 422, code: 'format-not-supported' });
    expect(problem.detail).toBe(`${format} needs ffmpeg on the server; supported: mp3, wav, ogg, pcm.`);
    const { status, body } = await post('/v1/audio/speech', { input: 'one', response_format: format });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { param: 'response_format', code: 'format_not_supported' } });
    expect(JSON.stringify(body)).toContain('ffmpeg');
  });
});

describe('opus, when the encoder dies', () => {
  async function startWith(script: string) {
    const FFMPEG = join(await temporaryDirectory(), 'ffmpeg');
    await writeFile(FFMPEG, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const service = await startTestService({ env: { PARLANCE_SANDBOX: '1', FFMPEG } });
    return { service, release: () => writeFile(`${FFMPEG}.go`, '') };
  }
  const request = { text: 'one two three', format: 'opus' };

  it('before the first byte, is answered with engine-failed', async () => {
    await using service = (await startWith('kill -SEGV $$')).service;
    const { problem } = await createApi(service.url).post('/api/v1/tts', request);
    expect(problem).toMatchObject({ status: 500, code: 'engine-failed' });
  });

  it('in the middle, breaks off, and the log says engine-failed', async () => {
    const { service, release } = await startWith('echo OggS; until [ -e "$0.go" ]; do sleep 0.01; done; kill -SEGV $$');
    await using _ = service;
    const response = await service.post('/tts', request);
    expect(response.status).toBe(200);
    await release();
    await expect(response.arrayBuffer()).rejects.toThrow();
    await expect.poll(() => JSON.stringify(service.log)).toContain('"engine-failed"');
  });
});
