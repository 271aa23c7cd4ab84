/** Sandbox mode is a setting; it starts at once, logs a warning, and needs no provider. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { spokenWords } from '../../src/conformance/recordings.ts';
import { loadSettings, type Environment } from '../../src/settings/load.ts';
import type { Schemas } from '../../src/contract/operations.ts';
import { startChildService } from '../support/child-service.ts';
import { createApi } from '../support/http.ts';
import { startTestService } from '../support/service.ts';
import { startStopwatch, waitedMs } from '../support/stopwatch.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { saying } from './support.ts';

const sandboxAlone = { sandbox: { use: 'sandbox' } };

async function load(env: Environment, yaml?: string) {
  const folder = await temporaryDirectory();
  if (yaml !== undefined) await writeFiles(folder, { 'parlance.config.yaml': yaml });
  return loadSettings(env, folder);
}

describe('the setting', () => {
  it('is off unless asked for, and then the sandbox is no engine either', async () => {
    const { sandbox, engines } = await load({});
    expect(sandbox).toBe(false);
    expect(JSON.stringify(engines)).not.toContain('sandbox');
  });

  it('makes the sandbox the only engine, whatever keys the environment has', async () => {
    const env = { PARLANCE_SANDBOX: '1', OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: 'http://127.0.0.1:1' };
    expect((await load(env)).engines).toEqual(sandboxAlone);
    expect((await load({}, 'sandbox: true')).engines).toEqual(sandboxAlone);
    expect((await load({ PARLANCE_SANDBOX: 'off' }, 'sandbox: true')).engines).not.toEqual(sandboxAlone);
  });

  it('leaves the engines to a file that lists them', async () => {
    const { sandbox, engines } = await load({ PARLANCE_SANDBOX: '1' }, 'engines: { voice: { use: espeak } }');
    expect(sandbox).toBe(true);
    expect(engines).toEqual({ voice: { use: 'espeak' } });
  });
});

describe('the engine', () => {
  it('stands beside others when the file says so', async () => {
    const config = 'engines: { sandbox: { use: sandbox }, voice: { use: espeak } }';
    const service = await startTestService({ config });
    onTestFinished(() => service[Symbol.asyncDispose]());
    const { body } = await createApi(service.url).get('/api/v1/tts/models');
    const { data, default: standard } = body as Schemas['SpeechModelList'];
    expect(data.map(({ id, engine }) => [id, engine])).toEqual([
      ['sandbox-speech', 'sandbox'],
      ['sandbox-speech-slow', 'sandbox'],
      ['espeak', 'voice'],
    ]);
    expect(standard).toBe('sandbox-speech');
  });

  it('has no settings', async () => {
    const config = 'engines: { sandbox: { use: sandbox, voice: en } }';
    await expect(startTestService({ config })).rejects.toThrow(/engines\.sandbox.*"voice"/);
  });
});

describe('a start in sandbox mode', () => {
  it('says what it is, and serves all three in less than ten seconds', async () => {
    const elapsedMs = startStopwatch();
    const service = await startChildService({ env: { PARLANCE_SANDBOX: '1', PATH: '/nowhere' } });
    const api = createApi(service.url);
    const body = new FormData();
    body.set('file', new File([await readFile(spokenWords)], 'memo.wav'));
    expect((await api.send('POST', '/api/v1/transcribe', { body })).body).toMatchObject({ duration_ms: 2100 });
    expect((await api.post('/api/v1/chat', saying('Hello'))).body).toMatchObject({ content: 'You said: Hello' });
    expect((await api.post('/api/v1/tts', { text: 'Hello' })).status).toBe(200);
    expect((await api.get('/api/v1/models', { prefer: 'code=503' })).status).toBe(503);
    expect(elapsedMs() - waitedMs(service.pid)).toBeLessThan(10_000);
    await expect.poll(() => service.said.stderr).toContain('THIS IS A SANDBOX');
    await expect.poll(() => service.said.stderr).toContain('works with sandbox-chat');
  });

  it('says so only then', async () => {
    const service = await startChildService({ config: 'engines: { sandbox: { use: sandbox } }' });
    await expect.poll(() => service.said.stderr).toContain('works with sandbox-speech');
    service.kill('SIGTERM');
    await service.exit; // by then it has said everything
    expect(service.said.stderr).not.toContain('THIS IS A SANDBOX');
  });
});
