/** sherpa-stt when something is missing, broken, killed or full: its own request fails, and the next one works. */
import { readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { killWhileBusy, until } from '../../support/processes.ts';
import { writeRecognizer } from '../../support/recognizer-model.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { tonePcm, words } from '../../support/tone-model.ts';
import { longRecording, recordingOf, startRecognizers, type Recognizers } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

const alpha = recordingOf(tonePcm({ words: ['alpha'], rate: 16_000 }));
const saidAlpha = { status: 200, text: 'alpha' };
const failed = { status: 500, code: 'engine-failed' };

async function expectHealthy({ service }: Recognizers): Promise<void> {
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
}

async function expectMissing(
  started: Recognizers,
  model: string,
  code: string,
  reason: RegExp | string,
): Promise<void> {
  const { availability, transcribe } = started;
  const matching = (typeof reason === 'string' ? reason : expect.stringMatching(reason)) as string;
  await expect.poll(() => availability(model)).toEqual({ available: false, code, reason: matching });
  expect(await transcribe(alpha, { model })).toMatchObject({ status: 503, code: 'model-unavailable' });
  await expectHealthy(started);
}

describe('without the library', () => {
  it('the models are listed with what is missing, and another engine transcribes', async () => {
    const started = await startRecognizers({
      env: { VOICE_RUNTIME: '/nowhere' },
      others: { made: { use: 'sandbox' } },
    });
    const reason = 'sherpa-onnx-node not found: /nowhere has no node_modules/sherpa-onnx-node.';
    await expectMissing(started, 'letters', 'program-missing', reason);
    expect(await started.engine.inspect?.()).toMatchObject([{ what: 'sherpa-onnx', ok: false, detail: reason }, { ok: true }]); // prettier-ignore
    expect((await started.transcribe(alpha, { model: 'sandbox-transcribe' })).status).toBe(200);
    expect(started.programs()).toEqual([]);
  });

  it('setup offers it as `stt`', async () => {
    const { engine } = await startRecognizers();
    const [group] = engine.assets ?? [];
    expect(group).toMatchObject({ id: 'stt', assets: [{ id: 'sherpa-onnx', license: 'GPL-3.0' }] });
    expect(await group?.assets[0]?.isReady()).toBe(true);
  });

  it('the doctor names it, its version, and the models', async () => {
    const { engine } = await startRecognizers({ models: { letters: { language: 'en' }, gone: '/nowhere' } });
    expect(await engine.inspect?.()).toEqual([
      { what: 'sherpa-onnx', ok: true, detail: expect.stringMatching(/^1\.13\.8, .*sherpa-onnx-node$/) as string },
      { what: 'model letters', ok: true, detail: expect.stringMatching(/MB.*loaded, en, .*model\.onnx$/) as string },
      { what: 'model gone', ok: false, detail: '/nowhere does not exist' },
    ]);
  });
});

describe('a model that cannot be used', () => {
  const change = (name: string, content: (old: Buffer) => string | Buffer) => async (folder: string) =>
    writeFile(join(folder, name), content(await readFile(join(folder, name))));

  it.each([
    ['is missing', (folder: string) => rm(folder, { recursive: true }), /does not exist\.$/],
    ['is cut', async (folder: string) => truncate(join(folder, 'model.onnx'), 4_000), /is not usable: it is cut/],
    ['is garbage', change('model.onnx', () => 'garbage'), /it is not an ONNX model\.$/],
    ['is of another type', change('model.onnx', (old) => Buffer.from(old.toString('latin1').replace('EncDecCTCModelBPE', 'EncDecRNNModelBPE'), 'latin1')), /its model_type is EncDecRNNModelBPE/], // prettier-ignore
    ['has no tokens.txt', (folder: string) => rm(join(folder, 'tokens.txt')), /tokens\.txt does not exist\.$/],
    ['has a short tokens.txt', change('tokens.txt', (old) => old.subarray(40)), /tokens\.txt is not usable: /],
  ])('because it %s is a missing file, and starts nothing; another one works', async (_what, breakIt, reason) => {
    const folder = await writeRecognizer(await temporaryDirectory());
    await breakIt(folder);
    const started = await startRecognizers({ models: { broken: folder, good: { code: 'words' } } });
    await expectMissing(started, 'broken', 'model-file-missing', reason);
    expect(started.programs()).toEqual([]);
    expect(await started.transcribe(alpha, { model: 'good' })).toMatchObject(saidAlpha);
  });

  it('works once it is repaired, without a restart', async () => {
    const folder = await writeRecognizer(await temporaryDirectory(), { code: 'words' });
    await truncate(join(folder, 'model.onnx'), 4_000);
    const started = await startRecognizers({ models: { broken: folder } });
    await expectMissing(started, 'broken', 'model-file-missing', /it is cut/);
    await writeRecognizer(folder, { code: 'words' });
    await started.service.service.registry.recheck();
    expect(await started.transcribe(alpha)).toMatchObject(saidAlpha);
  });

  it('because of what its weights say ends its program alone, and is listed as broken', async () => {
    const folder = await writeRecognizer(await temporaryDirectory());
    const file = join(folder, 'model.onnx');
    const model = await readFile(file);
    await writeFile(file, model.fill(0x7f, 200, (await stat(file)).size - 1_000)); // its outline stays as it is
    const started = await startRecognizers({ models: { wrong: folder, good: { code: 'words' } } });
    expect(await started.transcribe(alpha, { model: 'wrong' })).toMatchObject(failed);
    await expectMissing(
      started,
      'wrong',
      'model-file-missing',
      /^The model wrong could not be loaded: its files are damaged/,
    );
    expect(await started.transcribe(alpha, { model: 'good' })).toMatchObject(saidAlpha);
  });
});

it('a recording that cannot be decoded is rejected, and the next one is not', async () => {
  const { transcribe } = await startRecognizers({ models: { words: { code: 'words' } } });
  expect(await transcribe(Buffer.from('RIFF....WAVEnonsense'))).toMatchObject({ status: 422 });
  expect(await transcribe(alpha)).toMatchObject(saidAlpha);
});

describe('a program', () => {
  it('that is killed, and its successor, fails its own recording, and the next one starts a new one', async () => {
    const { transcribe, programs } = await startRecognizers({ models: { words: { code: 'words', isSlow: true } } });
    expect(await transcribe(alpha)).toMatchObject(saidAlpha);
    const answer = transcribe(longRecording(words));
    expect(await killWhileBusy(programs, answer)).toHaveLength(2);
    expect(await answer).toMatchObject(failed);
    expect(await transcribe(alpha)).toMatchObject(saidAlpha);
  });

  it('ends when it has been idle', async () => {
    const { transcribe, programs } = await startRecognizers({ models: { words: { code: 'words' } }, options: { idleUnload: 1 } }); // prettier-ignore
    await transcribe(alpha);
    expect(programs()).toHaveLength(1);
    await until('it has ended', () => programs().length === 0);
    expect(await transcribe(alpha)).toMatchObject(saidAlpha);
  });

  it('ends with the service', async () => {
    const { transcribe, programs, service } = await startRecognizers({ models: { words: { code: 'words' } } });
    await transcribe(alpha);
    await service[Symbol.asyncDispose]();
    await until('it has ended', () => programs().length === 0);
  });
});

it('a full queue rejects with overloaded', async () => {
  const { availability, transcribe } = await startRecognizers({
    models: { words: { code: 'words', isSlow: true } },
    options: { slots: 1, waiting: 0 },
  });
  const leaving = new AbortController();
  const first = transcribe(longRecording(words), {}, leaving.signal);
  await until('it is busy', () => availability('words')?.code === 'busy');
  expect(await transcribe(alpha)).toMatchObject({ status: 503, code: 'overloaded' });
  leaving.abort(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
});
