/** A local model stays loaded between recordings: whisper.cpp in a program of ours that outlives its calls. */
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startChildService } from '../support/child-service.ts';
import { upload } from '../support/local-service.ts';
import { processes, type Process } from '../support/proc.ts';
import { describeWith } from '../support/programs.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';
import { multipart, multipartType } from '../api/support/forms.ts';
import { openStream, type TranscriptionEvent } from './support/stream.ts';
import { tonePcm, toneWav, wav, writeToneModel } from '../support/tone-model.ts';

const rate = 8_000;
const short = toneWav({ words: ['alpha', 'über'], language: 'de', rate });
const text = 'alpha über';

const formOf = (model: string, value: Uint8Array) =>
  multipart({ name: 'model', value: model }, { name: 'file', value, filename: 'memo.wav' });

/** Three minutes: the program is busy for seconds. Each half minute but the last has a word at its start. */
const [window, windows] = [30 * rate, 6];
function longWav(silentWindows = 0): Buffer {
  const samples = new Int16Array(window * (windows + silentWindows));
  for (let index = 0; index < windows - 1; index++) {
    samples.set(tonePcm({ words: [index % 2 === 0 ? 'alpha' : 'kilo'], rate }), index * window);
  }
  return wav(samples, { rate, channels: 1 });
}
const longText = Array.from({ length: windows - 1 }, (_, index) => (index % 2 === 0 ? 'alpha' : 'kilo')).join(' ');

describeWith(['whisper-cli', 'whisper-host'], 'a loaded model', (programs) => {
  let directory: string;
  const long: { bytes: Buffer } = { bytes: Buffer.alloc(0) };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'parlance-loaded-'));
    await writeToneModel(join(directory, 'tones.bin'));
    long.bytes = longWav();
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  let files = 0;
  /** A model file of its own, by which its programs are known. */
  async function modelFile(): Promise<string> {
    const path = join(directory, `model-${(files += 1)}.bin`);
    await copyFile(join(directory, 'tones.bin'), path);
    return path;
  }

  const config = (models: readonly { id: string; file: string }[], options: object = {}) =>
    // JSON is YAML.
    `engines: { local: ${JSON.stringify({ use: 'whisper-cli', program: programs['whisper-cli'], models, ...options })} }`;

  /** A service with one model, which ends with the test. */
  async function start(options: object = {}, service: TestServiceOptions = {}) {
    const file = await modelFile();
    const started = await startTestService({ ...service, config: config([{ id: 'local', file }], options) });
    onTestFinished(() => started[Symbol.asyncDispose]());
    return { service: started, file, hosts: () => hostsOf(file) };
  }

  const hostsOf = (file: string): Process[] =>
    processes().filter(({ commandLine }) => commandLine.includes('whisper-host') && commandLine.endsWith(file));

  async function transcribe(service: TestService, fields: Readonly<Record<string, string>> = {}, recording = short) {
    const response = await upload(service, recording, { fields });
    return { status: response.status, ...((await response.json()) as { text?: string; code?: string }) };
  }

  const logged = ({ log }: TestService, message: string) => log.filter(({ msg }) => msg === message);

  test('is loaded by the first recording, and serves the next ones', async () => {
    const { service, hosts } = await start();
    expect(hosts()).toEqual([]);
    expect(await transcribe(service)).toMatchObject({ status: 200, text, language: 'de', model: 'local' });
    const [first, ...others] = hosts();
    expect(others).toEqual([]);
    expect(await transcribe(service)).toMatchObject({ status: 200, text });
    expect(hosts()).toEqual([first]);
    expect(logged(service, 'the model is loaded')).toHaveLength(1);
    await expect.poll(() => service.leftovers()).toEqual([]);
  });

  test('begins to load while the recording is uploaded', async () => {
    const { service, hosts } = await start();
    const sending = request(`${service.url}/api/v1/transcribe`, {
      method: 'POST',
      agent: false,
      headers: multipartType,
    });
    const answered = new Promise<number | undefined>((resolve) => sending.once('response', (response) => resolve(response.statusCode))); // prettier-ignore
    const form = multipart({ name: 'file', value: short, filename: 'memo.wav' });
    sending.write(form.subarray(0, 1_000));
    await expect.poll(() => logged(service, 'the model is loaded')).toHaveLength(1);
    expect(hosts()).toHaveLength(1);
    sending.end(form.subarray(1_000));
    expect(await answered).toBe(200);
  });

  test('is loaded at the start where the settings say so', async () => {
    const { service, hosts } = await start({ preload: true });
    await expect.poll(() => logged(service, 'the model is loaded')).toHaveLength(1);
    expect(hosts()).toHaveLength(1);
  });

  test('does not exist where the settings say so', async () => {
    const { service, hosts } = await start({ keepLoaded: false, preload: true });
    expect(await transcribe(service)).toMatchObject({ status: 200, text });
    expect(hosts()).toEqual([]);
  });

  test('is unloaded when it has been idle', async () => {
    const { service, hosts } = await start({ idleUnload: 1 });
    expect(await transcribe(service)).toMatchObject({ text });
    expect(hosts()).toHaveLength(1);
    await expect.poll(hosts).toEqual([]);
    expect(await transcribe(service)).toMatchObject({ text });
    expect(logged(service, 'the model is loaded')).toHaveLength(2);
  });

  test('fills its slots one by one; who finds none free is transcribed by whisper-cli', async () => {
    const { service, hosts } = await start({ slots: 2 }, { env: { MEMORY_BUDGET: '1048576' } });
    const answers = await Promise.all([transcribe(service), transcribe(service), transcribe(service)]);
    expect(answers.map((answer) => answer.text)).toEqual([text, text, text]);
    expect(hosts()).toEqual([]); // none fits
  });

  test('takes turns with another one where memory is for one', async () => {
    const [one, other] = [await modelFile(), await modelFile()];
    const models = [
      { id: 'one', file: one },
      { id: 'other', file: other },
    ];
    const budget = String(220 * 2 ** 20); // each is expected to need 200 MiB and its file
    const service = await startTestService({ env: { MEMORY_BUDGET: budget }, config: config(models, { slots: 2 }) });
    onTestFinished(() => service[Symbol.asyncDispose]());
    const stream = await openLong(service, 'one');
    expect(await transcribe(service, { model: 'other' })).toMatchObject({ text }); // by whisper-cli
    expect([hostsOf(one).length, hostsOf(other).length]).toEqual([1, 0]);
    await stream.all();
    expect(await transcribe(service, { model: 'other' })).toMatchObject({ text });
    expect([hostsOf(one).length, hostsOf(other).length]).toEqual([0, 1]);
    // Now it is known what they use: they fit both.
    expect(await transcribe(service, { model: 'one' })).toMatchObject({ text });
    expect([hostsOf(one).length, hostsOf(other).length]).toEqual([1, 1]);
  });

  /** Sends the long recording; resolves once its first segment has come. */
  async function openLong(service: { readonly url: string }, model = 'local') {
    const stream = await openStream(service.url, { headers: multipartType, body: formOf(model, long.bytes) });
    await expect.poll(() => segmentsOf(stream).length).toBeGreaterThan(0);
    return stream;
  }
  const segmentsOf = ({ events }: { readonly events: readonly TranscriptionEvent[] }) =>
    events.flatMap((event) => (event.type === 'segment.created' ? [event.segment.text] : []));

  describe('in the middle of a long recording', () => {
    test('that is left by its caller ends at once, and the next recording is transcribed', async () => {
      const { service, hosts } = await start();
      const stream = await openLong(service);
      const [first] = hosts();
      stream.close();
      expect(await transcribe(service)).toMatchObject({ status: 200, text });
      expect(hosts()).toHaveLength(1);
      expect(first).toBeDefined();
      expect(logged(service, 'a loaded model has crashed')).toEqual([]);
      await expect.poll(() => service.leftovers()).toEqual([]);
    });

    test('that takes too long is ended at its deadline', async () => {
      const { service } = await start({}, { env: { TRANSCRIBE_TIMEOUT: '3' } });
      expect(await transcribe(service, {}, longWav(28))).toMatchObject({
        status: 504,
        code: 'engine-timeout',
      });
      // A busy machine may need more than that for the model, too.
      await expect.poll(() => transcribe(service), { timeout: 40_000 }).toMatchObject({ status: 200, text });
      await expect.poll(() => service.leftovers()).toEqual([]);
    });

    test('loses nothing when it is killed: whisper-cli continues, and every segment comes once', async () => {
      const { service, hosts } = await start();
      const stream = await openLong(service);
      process.kill(hosts()[0]!.pid, 'SIGKILL');
      const events = await stream.all();
      expect(segmentsOf(stream).join(' ')).toBe(longText);
      expect(events.at(-1)).toMatchObject({ type: 'transcription.completed', result: { text: longText } });
      expect(logged(service, 'a loaded model has crashed')).toHaveLength(1);
      expect(await transcribe(service)).toMatchObject({ status: 200, text });
    });

    test('ends with a service that is killed', async () => {
      const file = await modelFile();
      const service = await startChildService({ config: config([{ id: 'local', file }]) });
      const stream = await openLong(service);
      expect(hostsOf(file)).toHaveLength(1);
      service.kill('SIGKILL');
      await service.exit;
      await expect.poll(() => hostsOf(file)).toEqual([]);
      stream.close();
    });
  });

  test('is not served from memory when its file is cut off, and is loaded anew when it is whole again', async () => {
    const { service, file, hosts } = await start();
    expect(await transcribe(service)).toMatchObject({ text });
    const [first] = hosts();
    await truncate(file, 1_000_000);
    expect(await transcribe(service)).toMatchObject({ status: 503, code: 'model-unavailable' });
    await copyFile(join(directory, 'tones.bin'), `${file}.new`);
    await rename(`${file}.new`, file);
    await service.service.registry.recheck();
    expect(await transcribe(service)).toMatchObject({ text });
    await expect.poll(() => hosts().length).toBe(1);
    expect(hosts()[0]!.pid).not.toBe(first!.pid);
  });

  /** whisper-cli in a directory where whisper-host is the script. */
  async function besideHost(script: string): Promise<string> {
    const bin = await mkdtemp(join(directory, 'bin-'));
    await symlink(programs['whisper-cli'], join(bin, 'whisper-cli'));
    await writeFile(join(bin, 'whisper-host'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return join(bin, 'whisper-cli');
  }

  test.each([{ keepLoaded: false }, {}])(
    'keeps a prompt and keywords out of the list of processes: %o',
    async (options) => {
      const bin = await mkdtemp(join(directory, 'bin-'));
      const called = join(bin, 'called');
      await writeFile(join(bin, 'whisper-cli'), `#!/bin/sh\ntouch ${called}\nexit 3\n`, { mode: 0o755 });
      await symlink(programs['whisper-host'], join(bin, 'whisper-host'));
      const named = { program: join(bin, 'whisper-cli'), ...options };
      const { service } = await start(named, { env: { MEMORY_BUDGET: '1048576' } });
      const fields = { model: 'local', prompt: 'A private word.', keywords: 'Zürich' };
      const answer = await upload(service, short, { fields, path: '/v1/audio/transcriptions' });
      expect(await answer.json()).toMatchObject({ text });
      expect(existsSync(called)).toBe(false);
      await expect.poll(() => service.leftovers()).toEqual([]);
    },
  );

  test('is said to be loading while it is', async () => {
    // The program is never ready.
    const { service } = await start({ program: await besideHost('exec cat'), preload: true });
    const probe = async () => (await (await fetch(`${service.url}/api/v1/transcribe`)).json()) as object;
    const loading = { available: true, code: 'loading', reason: 'Ready: loading the model.' };
    await expect.poll(probe).toMatchObject(loading);
  });

  test('that cannot be loaded is replaced by whisper-cli', async () => {
    const { service } = await start({ program: await besideHost('echo no such instruction >&2; exit 4') });
    for (let n = 0; n < 4; n++) expect(await transcribe(service)).toMatchObject({ status: 200, text });
    expect(logged(service, 'a loaded model has crashed')).toHaveLength(3); // then it is paused
    expect(logged(service, 'the loaded model failed; retrying with a separate program').length).toBeGreaterThan(0);
  });
});
