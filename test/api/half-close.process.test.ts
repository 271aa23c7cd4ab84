/** A bare FIN counts as a disconnect, since it cannot be told from a full close: everything of the request ends, through either API. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { chatOf, content, scripted, stepStarted, type Script } from '../chat/support/script.ts';
import { startSpeechService } from '../speech/support.ts';
import { anyAlive, runningPrograms, standIns, startMisbehavingService } from '../support/misbehaving.ts';
import { until } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { toneWav } from '../support/tone-model.ts';
import { eventually } from './support/eventually.ts';
import { multipart, multipartType } from './support/forms.ts';
import { connectRaw, requestHead, type RawConnection } from './support/raw-socket.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Ten times what is promised. */
const limitMs = 2_500;

const said = ({ log }: TestService, message: string) => log.filter(({ msg }) => msg === message);

async function post(service: TestService, path: string, body: Buffer, type: string): Promise<RawConnection> {
  const connection = await connectRaw(service.url);
  onTestFinished(() => connection[Symbol.dispose]());
  const headers = { 'content-type': type, 'content-length': body.length };
  await connection.send(Buffer.concat([Buffer.from(requestHead('POST', path, headers)), body]));
  return connection;
}

const postJson = (service: TestService, path: string, body: object) =>
  post(service, path, Buffer.from(JSON.stringify(body)), 'application/json');

/** The connection and the request end in time, and the log calls it a disconnect. */
async function expectDisconnect(service: TestService, connection: RawConnection): Promise<void> {
  connection.halfClose();
  await until('the request has ended', () => said(service, 'request').length === 1, limitMs);
  expect(said(service, 'request')).toMatchObject([{ status: 499 }]);
  await connection.closed;
  expect(service.log.filter(({ level }) => level >= 40)).toEqual([]);
}

describe('a chat', () => {
  const begun = [stepStarted(0), content(0, 'Hel')];

  it.each<[string, string, Script]>([
    ['that waits for its provider', '/api/v1/chat', [stepStarted(0), { wait: 'signal' }]],
    ['that streams', '/api/v1/chat/stream', [...begun, { wait: 'signal' }]],
    ['whose engine does not heed its signal', '/api/v1/chat/stream', [...begun, { wait: 'ever' }]],
  ])('%s ends', async (_which, path, script) => {
    const service = await startTestService(scripted);
    onTestFinished(() => service[Symbol.asyncDispose]());
    const connection = await postJson(service, path, chatOf(script));
    await eventually(() => said(service, 'began')).toHaveLength(1);
    await expectDisconnect(service, connection);
    expect(said(service, 'aborted')).toMatchObject([{ reason: 'ClientDisconnected' }]);
  });

  it('whose reader has stopped is canceled', async () => {
    const service = await startTestService(scripted);
    onTestFinished(() => service[Symbol.asyncDispose]());
    const connection = await postJson(service, '/api/v1/chat/stream', chatOf([stepStarted(0), { flood: 600 }]));
    await eventually(() => connection.received).toContain('chat.started');
    connection.pause();
    let before = -1;
    const produced = () => said(service, 'produced').length;
    const isStill = () => (produced() > 0 && produced() === before ? true : ((before = produced()), false));
    await expect.poll(isStill, { timeout: 20_000, interval: 400 }).toBe(true);
    connection.halfClose();
    await until('the run has ended', () => said(service, 'ended').length === 1, limitMs);
    await eventually(() => said(service, 'request')).toMatchObject([{ status: 499 }]);
  });
});

describe('a transcription', () => {
  const recording = toneWav({ words: ['alpha'], rate: 8_000 }); // at 16 kHz, it would need no decoder

  async function start(env: Readonly<Record<string, string>> = {}): Promise<TestService> {
    const service = await startMisbehavingService({ behaviors: ['hang'], engine: 'slots: 1, waiting: 2', env });
    onTestFinished(() => service[Symbol.asyncDispose]());
    return service;
  }

  it.each([
    ['is decoded', { FFMPEG: standIns['endless ffmpeg'] }, 'endless ffmpeg', '/api/v1/transcribe'],
    ['is transcribed', {}, 'whisper-cli', '/v1/audio/transcriptions'],
  ] as const)('takes its programs along while it %s (%s, %s, %s)', async (_stage, env, program, path) => {
    const service = await start(env);
    const body = multipart({ name: 'file', value: recording, filename: 'a.wav' });
    const connection = await post(service, path, body, multipartType['content-type']);
    const programs = await runningPrograms(service, program);
    await expectDisconnect(service, connection);
    await until('no program is left', () => !anyAlive(programs), limitMs);
    await expect.poll(() => service.leftovers()).toEqual([]);
  });

  it('leaves no file during the upload', async () => {
    const path = '/api/v1/transcribe';
    const service = await start();
    const connection = await connectRaw(service.url);
    onTestFinished(() => connection[Symbol.dispose]());
    const headers = { ...multipartType, 'content-length': 1_000_000 };
    const upload = multipart({ name: 'file', value: Buffer.alloc(200_000), filename: 'a.wav' }).subarray(0, 150_000);
    await connection.send(Buffer.concat([Buffer.from(requestHead('POST', path, headers)), upload]));
    await expect.poll(() => service.leftovers().then((files) => files.length), { timeout: 10_000 }).toBeGreaterThan(0);
    await expectDisconnect(service, connection);
    await until('no file is left', async () => (await service.leftovers()).length === 0, limitMs);
    expect(connection.received).toBe('');
  });
});

describe('speech', () => {
  it.each([
    ['before its first bytes', 'hang 1', '/api/v1/tts', 'text'],
    ['while it is sent', '1000 hang', '/v1/audio/speech', 'input'],
  ])('ends %s (%s, %s)', async (_when, text, path, field) => {
    const service = await startSpeechService();
    const connection = await postJson(service, path, { [field]: text });
    await eventually(() => said(service, 'synthesize')).toHaveLength(1);
    if (text.startsWith('1')) await eventually(() => connection.received).toContain('0123456789');
    await expectDisconnect(service, connection);
    await until('the synthesis has ended', () => said(service, 'ended').length === 1, limitMs);
  });
});

it('a request that can be answered at once still gets its response', async () => {
  const service = await startTestService(scripted);
  onTestFinished(() => service[Symbol.asyncDispose]());
  using connection = await connectRaw(service.url);
  await connection.send(requestHead('GET', '/healthz', {}));
  connection.halfClose();
  expect(await connection.answer('GET', '/healthz')).toMatchObject({ status: 200 });
  await connection.closed;
});
