/** Voices made by hand, spoken by the real library: every letter is a tone, and the tests recognize which were said. */
import { createHash } from 'node:crypto';
import { cp, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { findEspeakData } from '../../../engines/sherpa-voice/espeak-data.ts';
import { speechFormats } from '../../../engines/contract/index.ts';
import { until } from '../../support/processes.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { recognize, listen, loudness, secondsOf } from '../../support/tone-listener.ts';
import { voiceModel, writeVoice } from '../../support/voice-model.ts';
import { collect, said, sentenceOf, startVoices } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

const digestOf = async (file: string) =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex');

describe('a voice of letters', () => {
  it('says every letter over HTTP, each as long as it should be', async () => {
    const { service } = await startVoices();
    const text = 'Yes no hello. Second sentence!';
    const answer = await service.post('/tts', { text, format: 'wav' });
    expect(answer.status).toBe(200);
    const wav = Buffer.from(await answer.arrayBuffer());
    expect(recognize(wav)).toBe('yes no hello.second sentence!');
    const tones = listen(wav);
    expect(tones.map(({ ms }) => Math.abs(ms - 60) <= 1)).toEqual(tones.map(() => true));
    const starts = tones.map(({ startMs }) => startMs);
    expect(starts.slice(0, 13)).toEqual(Array.from({ length: 13 }, (_, k) => 60 + 100 * k));
    // `$`, an empty sentence of the library's own, the pause, `^` and `_`
    expect(starts[13]).toBe(60 + 100 * 13 + 60 + 120 + 200 + 60);
  });

  it('says long texts completely, in order, nothing twice', async () => {
    const { wav } = await startVoices();
    const lengths = Array.from({ length: 20 }, (_, k) => 10 + Math.round((k * 290) / 19));
    const text = lengths.map((length, k) => sentenceOf(length, k)).join(' ');
    const spoken = recognize(await wav({ text }));
    expect(spoken.replaceAll(' ', '')).toBe(said(text));
  });

  it('ends words that have no end', async () => {
    const { wav } = await startVoices();
    expect(recognize(await wav({ text: 'ab'.repeat(500), speed: 4 })).replaceAll(' ', '')).toHaveLength(1_000);
  });

  it.each([0.25, 0.5, 1, 2, 4])('keeps to the speed %s exactly', async (speed) => {
    const { wav } = await startVoices();
    const text = 'Yes no hello. Second sentence!';
    const usual = secondsOf(await wav({ text }));
    expect(secondsOf(await wav({ text, speed }))).toBeCloseTo(usual / speed, 2);
  });

  it('keeps to the length scale of its .onnx.json, at every speed', async () => {
    const file = await writeVoice(await temporaryDirectory(), 'slow');
    await writeFile(`${file}.json`, JSON.stringify({ ...voiceModel().config, inference: { length_scale: 2 } }));
    const { wav } = await startVoices({ voices: { usual: {}, slow: file } });
    const usual = secondsOf(await wav({ voice: 'usual' }));
    expect(secondsOf(await wav({ voice: 'slow' }))).toBeCloseTo(2 * usual, 2);
    expect(secondsOf(await wav({ voice: 'slow', speed: 2 }))).toBeCloseTo(usual, 2);
  });

  it('treats control characters and markup as text', async () => {
    const { wav } = await startVoices();
    expect(recognize(await wav({ text: 'a\0b\u0001c' }))).toBe('a b c');
    expect(recognize(await wav({ text: '<b>yes</b>' }))).toBe('byesb');
  });

  it('produces audio, if only silence, for a text without words', async () => {
    const { wav } = await startVoices({ voices: { spelled: {}, spoken: { kind: 'piper' } } });
    for (const voice of ['spelled', 'spoken']) {
      for (const text of ['…', '...', '🙂🙂', '   ', '\n\n', '\u0001', '\ud800', '[[', '日本'])
        expect(secondsOf(await wav({ text, voice })), JSON.stringify(text)).toBeGreaterThanOrEqual(0.1);
    }
  });

  it('speaks in every format', async () => {
    const { say } = await startVoices();
    for (const format of speechFormats) expect((await collect(await say({ format }))).length).toBeGreaterThan(1_000);
  });
});

describe('a voice of phonemes', () => {
  const call = { text: 'Yes, no; hello world.' };
  const phonemes = 'jˈɛs, nˈoʊ; həlˈoʊ wˈɜːld.';

  it('as Piper publishes it is converted; the file of the operator stays as it is', async () => {
    const { wav, files, service } = await startVoices({ voices: { plain: { kind: 'piper', isPlain: true } } });
    const before = await digestOf(files.plain!);
    const sound = await wav(call);
    expect(recognize(sound, 'piper')).toBe(phonemes);
    expect(listen(sound, 'piper')[0]?.startMs).toBe(50);
    expect(await digestOf(files.plain!)).toBe(before);
    const made = (await readdir(join(service.dir, 'data/voices'), { recursive: true })).filter((name) => /\.\w+$/.test(name)); // prettier-ignore
    expect(made.map((name) => name.split('/').at(-1)).sort()).toEqual(['session.conf', 'tokens.txt', 'voice.onnx']);
  });

  it('that has its metadata is not copied', async () => {
    const { wav, service } = await startVoices({ voices: { whole: { kind: 'piper' } } });
    expect(recognize(await wav(call), 'piper')).toBe(phonemes);
    const made = await readdir(join(service.dir, 'data/voices'), { recursive: true });
    expect(made.filter((name) => name.endsWith('.onnx'))).toEqual([]);
  });

  it('uses the data of the optional package where espeak-ng is not installed', async () => {
    const { wav, service } = await startVoices({ voices: { plain: { kind: 'piper' } }, env: { PATH: '/nowhere' } });
    expect(recognize(await wav(call), 'piper')).toBe(phonemes);
    expect(await readdir(join(service.dir, 'data/voices'))).toContain('espeak-ng-data-0.3.5');
  });

  it('uses the data that the settings name, of one language alone', async () => {
    const directory = await temporaryDirectory();
    const context = { env: process.env, resolve: String, dataDir: directory, temporaryDirectory: () => Promise.reject(new Error('unused')) }; // prettier-ignore
    const installed = findEspeakData(undefined, context)!.directory;
    for (const name of ['phontab', 'phonindex', 'phondata', 'intonations', 'en_dict', 'lang/gmw/en-US'])
      await cp(join(installed, name), join(directory, name));
    const { wav } = await startVoices({ voices: { plain: { kind: 'piper' } }, options: { data: directory } });
    expect(recognize(await wav(call), 'piper')).toBe(phonemes);
  });

  it('is converted again when its file is replaced, and the old copy goes', async () => {
    const { wav, files, service } = await startVoices({ voices: { plain: { kind: 'piper', isPlain: true } } });
    const first = secondsOf(await wav(call));
    const { onnx, config } = voiceModel({ kind: 'piper', isPlain: true, rate: 16_000 });
    await writeFile(files.plain!, onnx);
    await writeFile(`${files.plain!}.json`, JSON.stringify(config));
    const second = await wav(call);
    expect(second.readUInt32LE(24)).toBe(16_000);
    expect(secondsOf(second)).toBeCloseTo(first, 2);
    expect(await readdir(join(service.dir, 'data/voices'))).toHaveLength(1);
  });
});

describe('voices', () => {
  it('are the speakers of each file, listed with their languages', async () => {
    const { service } = await startVoices({ voices: { solo: {}, choir: { speakers: 3 } } });
    const { data } = (await (await service.api('/tts/models')).json()) as { data: { voices: unknown }[] };
    expect(data).toMatchObject([{ id: 'local-voice', name: 'Local voice', local: true, supports: ['speed'] }]);
    expect(data[0]!.voices).toEqual([
      { id: 'solo', name: 'tones (American English)', language: 'en' },
      { id: 'choir/hum-0', name: 'tones/hum-0 (American English)', language: 'en' },
      { id: 'choir/hum-1', name: 'tones/hum-1 (American English)', language: 'en' },
      { id: 'choir/hum-2', name: 'tones/hum-2 (American English)', language: 'en' },
    ]);
  });

  it('are those that a request names', async () => {
    const { wav, say } = await startVoices({ voices: { choir: { speakers: 3 } } });
    const hum = async (voice: string) => Math.round(10 * loudness(await wav({ voice }), 60));
    expect([await hum('choir/hum-0'), await hum('choir/hum-1'), await hum('choir/hum-2')]).toEqual([0, 1, 0]);
    for (const voice of ['choir', 'choir/hum-3', 'choir/1', 'absent', '']) {
      await expect(say({ voice })).rejects.toMatchObject({ code: 'voice-not-supported' });
    }
  });

  it('are chosen by the language: the default one if it speaks it, else the first that does', async () => {
    const { availability, say } = await startVoices({
      voices: { one: {}, two: { rate: 16_000 } },
      options: { voice: 'two' },
    });
    const rateOf = async (call: object) => (await collect(await say(call))).readUInt32LE(24);
    expect(await rateOf({ language: 'en' })).toBe(16_000);
    expect(await rateOf({ voice: 'one', language: 'de' }), 'the voice goes first').toBe(22_050);
    await expect(say({ language: 'de' })).rejects.toMatchObject({
      code: 'language-not-supported',
      message: 'No voice of this model speaks "de"; languages: en. The engine espeak has voices for most languages.',
    });
    expect(availability().code).toBe('ready');
  });

  it('are loaded before they speak', async () => {
    const { engine, programs, wav } = await startVoices({ voices: { one: {}, two: { rate: 16_000 } } });
    await engine.warmUp?.({ model: 'local-voice', voice: 'two' });
    await until('it is loaded', () => programs().length === 1);
    const loaded = programs();
    await wav({ voice: 'two' });
    expect(programs()).toEqual(loaded);
  });

  it('that are not there make the start fail, as a default', async () => {
    await expect(startVoices({ options: { voice: 'absent' } })).rejects.toThrow(
      'voice: unknown voice "absent"; known: spelled',
    );
  });
});
