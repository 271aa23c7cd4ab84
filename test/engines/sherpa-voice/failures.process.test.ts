/** sherpa-voice when something is missing, broken, killed or full: its own request fails, and the next one works. */
import { mkdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createClient } from '../../../src/client/index.ts';
import { killWhileBusy, processesWith, until } from '../../support/processes.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { recognize } from '../../support/tone-listener.ts';
import { startChildService } from '../../support/child-service.ts';
import { voiceModel, writeVoice } from '../../support/voice-model.ts';
import { sentenceOf, startVoices, type Voices } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

const failed = { code: 'engine-failed', message: 'The loaded model failed.' };

/** A package beside others, as npm installs it. */
async function runtimeWith(files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await temporaryDirectory();
  for (const [name, content] of Object.entries({ 'sherpa-onnx-node/package.json': '{}', ...files })) {
    const path = join(directory, 'node_modules', name);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, content);
  }
  return directory;
}

async function expectMissing(
  { availability, say, service }: Voices,
  code: string,
  reason: RegExp | string,
): Promise<void> {
  const matching = (typeof reason === 'string' ? reason : expect.stringMatching(reason)) as string;
  await expect.poll(availability).toEqual({ available: false, code, reason: matching });
  await expect(say()).rejects.toMatchObject({ code: 'model-unavailable', message: availability().reason });
  expect((await service.post('/tts', { text: 'yes', model: 'local-voice' })).status).toBe(503);
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
}

describe('without the library', () => {
  it('the entry is listed with what is missing, and another engine speaks', async () => {
    const voices = await startVoices({ env: { VOICE_RUNTIME: '/nowhere' }, others: { espeak: { use: 'espeak' } } });
    await expectMissing(voices, 'program-missing', 'sherpa-onnx-node not found: /nowhere has no node_modules/sherpa-onnx-node.'); // prettier-ignore
    expect((await voices.service.post('/tts', { text: 'yes', model: 'espeak' })).status).toBe(200);
    expect(voices.programs()).toEqual([]);
  });

  it('the doctor advises no setup where the settings name its place', async () => {
    const { engine } = await startVoices({ env: { VOICE_RUNTIME: '/nowhere' } });
    const detail = 'sherpa-onnx-node not found: /nowhere has no node_modules/sherpa-onnx-node.';
    expect((await engine.inspect?.())?.[0]).toEqual({ what: 'sherpa-onnx', ok: false, detail });
  });

  it('that of the option goes before VOICE_RUNTIME', async () => {
    const voices = await startVoices({ options: { runtime: '/elsewhere' }, env: { VOICE_RUNTIME: '/nowhere' } });
    await expectMissing(voices, 'program-missing', /\/elsewhere has no node_modules/);
  });

  it('the doctor names it, its version, and the voices', async () => {
    const { engine, files } = await startVoices({
      voices: { plain: { kind: 'piper', speakers: 3 }, gone: '/nowhere/gone.onnx' },
    });
    expect(await engine.inspect?.()).toEqual([
      { what: 'sherpa-onnx', ok: true, detail: expect.stringMatching(/^1\.13\.8, .*sherpa-onnx-node$/) as string },
      { what: 'espeak-ng-data', ok: true, detail: expect.stringMatching(/espeak-ng-data/) as string },
      { what: 'voice plain', ok: true, detail: expect.stringMatching(`en-US, 3 speakers, ${files.plain!}$`) as string },
      { what: 'voice gone', ok: false, detail: '/nowhere/gone.onnx does not exist' },
    ]);
  });
});

describe('a library that cannot be loaded', () => {
  it('is unavailable with the true reason after the first request, and works once it is repaired', async () => {
    const binary = `sherpa-onnx-linux-${process.arch}/sherpa-onnx.node`;
    const runtime = await runtimeWith({ [binary]: 'not a library' });
    const voices = await startVoices({ options: { runtime } });
    await expect(voices.say()).rejects.toMatchObject({ code: 'model-unavailable' });
    await expectMissing(
      voices,
      'program-missing',
      /^sherpa-onnx could not be loaded: .*(file too short|invalid ELF header)\.$/,
    );
    const [finding] = (await voices.engine.inspect?.()) ?? [];
    expect(finding).toMatchObject({
      what: 'sherpa-onnx',
      ok: false,
      detail: expect.stringContaining('could not be loaded') as string,
    });
    const packages = join(import.meta.dirname, '../../../node_modules');
    await rm(join(runtime, 'node_modules'), { recursive: true });
    await symlink(packages, join(runtime, 'node_modules'));
    await voices.service.service.registry.recheck();
    expect(recognize(await voices.wav())).toBe('yes no hello');
    expect(voices.availability().code).toBe('ready');
  });

  it('without the binary of the platform says which one is missing', async () => {
    const voices = await startVoices({ options: { runtime: await runtimeWith({}) } });
    await expectMissing(
      voices,
      'program-missing',
      /has no binary for \S+: the package sherpa-onnx-\S+ is not installed\.$/,
    );
    expect(voices.programs()).toEqual([]);
  });
});

describe('data of eSpeak NG', () => {
  it('that are missing are a missing program, for a voice that needs them', async () => {
    const directory = await temporaryDirectory();
    const voices = await startVoices({ voices: { plain: { kind: 'piper' } }, options: { data: directory } });
    await expectMissing(
      voices,
      'program-missing',
      `${directory} is not an espeak-ng-data directory: it has no phontab.`,
    );
    const spelled = await startVoices({ options: { data: directory } });
    expect(recognize(await spelled.wav())).toBe('yes no hello');
  });

  it('without the language of the voice fail the request, not the program', async () => {
    const directory = await temporaryDirectory();
    const file = await writeVoice(directory, 'klingon', { kind: 'piper', isPlain: true });
    const { config } = voiceModel({ kind: 'piper' });
    await writeFile(`${file}.json`, JSON.stringify({ ...config, espeak: { voice: 'xx-nowhere' } }));
    const { say } = await startVoices({ voices: { klingon: file } });
    await expect(say()).rejects.toMatchObject(failed);
    await expect(say()).rejects.toMatchObject(failed);
  });
});

describe('a voice that cannot be used', () => {
  it.each([
    ['is missing', (file: string) => rm(file), /does not exist\.$/],
    ['is cut', async (file: string) => truncate(file, (await stat(file)).size / 2), /is not usable: it is cut/],
    ['is garbage', (file: string) => writeFile(file, 'garbage'), /is not usable: it is not an ONNX model\.$/],
    ['has no .onnx.json', (file: string) => rm(`${file}.json`), /\.onnx\.json does not exist\.$/],
  ])('because it %s is a missing file, and starts nothing', async (_what, change, reason) => {
    const file = await writeVoice(await temporaryDirectory(), 'broken');
    await change(file);
    const voices = await startVoices({ voices: { broken: file } });
    await expectMissing(voices, 'model-file-missing', reason);
    expect(voices.programs()).toEqual([]);
  });

  it('leaves the others as they are', async () => {
    const { say, wav, entry } = await startVoices({ voices: { broken: '/nowhere/broken.onnx', good: {} } });
    expect(entry().voices?.map(({ id }) => id)).toEqual(['good']);
    expect(recognize(await wav())).toBe('yes no hello');
    await expect(say({ voice: 'broken' })).rejects.toMatchObject({
      code: 'model-unavailable',
      message: '/nowhere/broken.onnx does not exist.',
    });
  });

  it('and has no room for its copy is unavailable', async () => {
    const voices = await startVoices({ voices: { plain: { kind: 'piper', isPlain: true } } });
    await mkdir(join(voices.service.dir, 'data'), { recursive: true });
    await writeFile(join(voices.service.dir, 'data/voices'), 'a file in the way');
    await expect(voices.say()).rejects.toMatchObject({
      code: 'model-unavailable',
      message: 'The voice could not be converted.',
    });
    expect(await voices.service.leftovers()).toEqual([]);
  });

  it('only because of what its weights say ends its program alone', async () => {
    const directory = await temporaryDirectory();
    const file = await writeVoice(directory, 'wrong');
    const [model, config] = [await readFile(file), voiceModel().config];
    await writeFile(file, model.fill(0x7f, 400, 1_500)); // its outline stays as it is
    await writeFile(`${file}.json`, JSON.stringify(config));
    const { say, wav, service } = await startVoices({ voices: { wrong: file, good: {} } });
    await expect(say({ voice: 'wrong' })).rejects.toMatchObject(failed);
    expect(recognize(await wav({ voice: 'good' }))).toBe('yes no hello');
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  });
});

describe('a program that is killed', () => {
  it('in a sentence, and its successor, fails that one alone, and the next request starts a new one', async () => {
    const { say, wav, programs } = await startVoices({ voices: { voice: { isMedium: true } } });
    await wav({ text: 'yes.' });
    const speech = say({ text: sentenceOf(120, 0) });
    const killed = await killWhileBusy(programs, speech);
    await expect(speech).rejects.toMatchObject(failed);
    expect(killed).toHaveLength(2);
    expect(recognize(await wav())).toBe('yes no hello');
  });

  it('in the middle of a speech, and its successor, aborts its audio', async () => {
    const { say, programs } = await startVoices({ voices: { voice: { isMedium: true } } });
    const text = Array.from({ length: 20 }, (_, k) => sentenceOf(100, k)).join(' ');
    const { audio } = await say({ text, format: 'mp3' });
    const reading = audio[Symbol.asyncIterator]();
    await reading.next();
    const reader = readToEnd(reading);
    await killWhileBusy(programs, reader);
    await expect(reader).rejects.toMatchObject(failed);
  });
});

describe('a program that is no longer wanted', () => {
  it('ends when it has been idle', async () => {
    const { wav, programs } = await startVoices({ options: { idleUnload: 1 } });
    await wav();
    expect(programs()).toHaveLength(1);
    await until('it has ended', () => programs().length === 0);
    expect(recognize(await wav())).toBe('yes no hello');
  });

  it('ends with the service', async () => {
    const file = await writeVoice(await temporaryDirectory(), 'spelled');
    const config = { engines: { voice: { use: 'sherpa-voice', voices: [{ id: 'spelled', file }] } } };
    const { url, dataDir, exit, kill } = await startChildService({ config: JSON.stringify(config) });
    const answer = await createClient({ baseUrl: url }).speak({ text: 'yes' });
    expect((await answer.bytes()).length).toBeGreaterThan(500);
    expect(processesWith(join(dataDir, 'voices'))).toHaveLength(1);
    kill('SIGTERM');
    await exit;
    await until('it has ended', () => processesWith(join(dataDir, 'voices')).length === 0);
  });
});

async function readToEnd(reading: AsyncIterator<Uint8Array>): Promise<void> {
  while (!(await reading.next()).done);
}
