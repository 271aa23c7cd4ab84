/** Times of a transcript are those of the file, in all formats and in the parts of a job; a gap is not charged. */
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { create, end, formOf, transcript } from '../jobs/support/jobs.ts';
import { speechOf, wordEngine } from '../jobs/support/speech.ts';
import { keysFile, tokenOf } from '../keys/support/keys.ts';
import { describeWith, run } from '../support/programs.ts';
import { startTestService, type TestServiceOptions } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import '../support/shared-compile-cache.ts';

describeWith(['ffmpeg'], 'a recording with a gap of ten seconds', ({ ffmpeg }) => {
  async function record(): Promise<Buffer> {
    const path = join(await temporaryDirectory(), 'gap.mka');
    const gap = "asetpts='PTS+if(gt(T,0.99),10/TB,0)'";
    const args = ['-loglevel', 'error', '-i', 'pipe:0', '-af', gap, '-c:a', 'pcm_s16le', '-f', 'matroska', path];
    await run(ffmpeg, args, { input: speechOf(4) });
    return readFile(path);
  }

  const times = [100, 600, 11_100, 11_600].map((start_ms, n) => ({ start_ms, end_ms: start_ms + 100, text: `w${n}` }));
  const srt = '00:00:11,100 -->';

  const start = (env: Record<string, string>, options: Partial<TestServiceOptions> = {}) =>
    startTestService({ ...wordEngine, ...options, env: { TRANSCRIBE_MODEL: 'words', ...env } });

  describe.each([
    ['ffmpeg', { FFMPEG: ffmpeg }],
    ['WASM', { PATH: '/nowhere' }],
  ])('decoded with %s', (_name, env: Record<string, string>) => {
    test('has the times of the file in every format', async () => {
      const recording = await record();
      await using service = await start(env);
      const native = await service.api('/transcribe', {
        method: 'POST',
        body: formOf(recording, { timestamps: 'word' }),
      });
      expect(await native.json()).toMatchObject({ segments: times, words: times });
      const compatible = async (response_format: string) => {
        const body = formOf(recording, { model: 'words', response_format });
        return (await fetch(`${service.url}/v1/audio/transcriptions`, { method: 'POST', body })).text();
      };
      expect(await compatible('srt')).toContain(srt);
      expect(await compatible('vtt')).toContain('00:11.100 -->');
      const { segments } = JSON.parse(await compatible('verbose_json')) as { segments: { start: number }[] };
      expect(segments.map((segment) => segment.start)).toEqual([0.1, 0.6, 11.1, 11.6]);
    });

    test('has the times of the file in a job of several parts', async () => {
      await using service = await start({ ...env, TRANSCRIBE_MAX_SECONDS: '5' });
      const job = await end(service, (await create(service, await record(), { timestamps: 'word' })).id);
      expect(job).toMatchObject({ status: 'completed', duration_ms: 12_000 });
      expect(job.result).toMatchObject({ duration_ms: 12_000, segments: times, words: times });
      expect(await (await transcript(service, job.id, 'srt')).text()).toContain(srt);
    });
  });

  const keys = keysFile({ name: 'app', limits: { audioMinutesPerDay: 1 } });
  const headers = { authorization: `Bearer ${tokenOf('app')}` };

  test('is charged for its sound', async () => {
    await using service = await startTestService({
      config: 'engines: { sandbox: { use: sandbox } }\n',
      files: { 'keys.yaml': keys },
      env: { API_KEYS_FILE: 'keys.yaml', FFMPEG: ffmpeg },
    });
    const answer = await service.api('/transcribe', { method: 'POST', headers, body: formOf(await record()) });
    expect(await answer.json()).toMatchObject({ duration_ms: 12_000 });
    expect(answer.headers.get('ratelimit')).toMatch(/"audio";r=58/);
  });

  test('is charged for its sound in a job, too', async () => {
    const files = { ...wordEngine.files, 'keys.yaml': keys };
    await using service = await start(
      { API_KEYS_FILE: 'keys.yaml', FFMPEG: ffmpeg, TRANSCRIBE_MAX_SECONDS: '5' },
      { files },
    );
    const job = await end(service, (await create(service, await record(), {}, headers)).id, headers);
    expect(job).toMatchObject({ status: 'completed', duration_ms: 12_000 });
    const answer = await service.api('/transcribe', { method: 'POST', headers, body: formOf(speechOf(2)) });
    expect(answer.headers.get('ratelimit')).toMatch(/"audio";r=58/);
  });
});
