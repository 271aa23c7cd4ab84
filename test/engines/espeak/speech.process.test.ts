/** eSpeak speech with the program and with the package, verified with ffmpeg and pocketsphinx. */
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { EngineError, SpeechCall } from '../../../engines/contract/index.ts';
import { createClient } from '../../../src/client/index.ts';
import { createSpeechModelSelector } from '../../../src/speech/speech-models.ts';
import { startChildService } from '../../support/child-service.ts';
import { describeWith } from '../../support/programs.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { pauses, pausesOfPackage, skipsNothing } from './pauses.ts';
import {
  collect,
  openEspeak,
  secondsOf,
  secondsOfWav,
  sentence,
  startEspeak,
  wordsIn,
  type Espeak,
  type Synthesizer,
} from './support.ts';

// The package takes about a second for each of many texts when other processes use the CPU too.
vi.setConfig({ testTimeout: 90_000 });

const unused = () => {
  throw new Error('there is something to say');
};

const noCaller = new AbortController().signal;

/**
 * The package takes the arguments of the program and the text that was prepared for it, and a hundred times as long to
 * start: what the engine decides is tested with the program alone, and the speed and the pauses with one value each.
 */
function speaks(synthesizer: Synthesizer): void {
  const isProgram = synthesizer === 'program';
  let espeak: Espeak;
  beforeAll(async () => {
    espeak = await openEspeak(synthesizer);
  });
  afterAll(() => espeak.service[Symbol.asyncDispose]());

  it('is recognized, over HTTP, as exactly these words', async () => {
    const { service } = espeak;
    const answer = await service.post('/tts', { text: 'yes no hello' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(await wordsIn(new Uint8Array(await answer.arrayBuffer()))).toBe('yes no hello');
  });

  it('lists its voices, and uses the requested one', async () => {
    const { entry, say } = espeak;
    expect(entry).toMatchObject({ id: 'espeak', name: 'eSpeak NG', local: true });
    const voices = new Map(entry.voices?.map((voice) => [voice.id, voice]));
    expect(voices.size).toBeGreaterThan(100);
    expect(voices.size).toBe(entry.voices?.length);
    expect(voices.get('en')).toEqual({ id: 'en', name: 'English', language: 'en' });
    expect(voices.get('en-us')).toEqual({ id: 'en-us', name: 'English (America)', language: 'en' });
    expect(voices.get('de')).toEqual({ id: 'de', name: 'German', language: 'de' });
    expect(voices.get('cmn')).toMatchObject({ language: 'zh' });
    expect(voices.get('zh')).toMatchObject({ name: 'Chinese', language: 'zh' });
    expect(voices.get('grc')).toMatchObject({ language: null });

    const wav = (call: Partial<SpeechCall>) => collect(say({ text: 'ja', format: 'wav', ...call }));
    const [english, german] = [await wav({ voice: 'en' }), await wav({ voice: 'de' })];
    expect(german).not.toEqual(english);
    if (isProgram) {
      expect(await wav({ language: 'de' }), 'a language chooses a voice').toEqual(german);
      expect(await wav({}), 'English without either').toEqual(english);
      expect(await wav({ language: 'xx' }), 'a language without a voice is only advice').toEqual(english);
      expect(await wav({ voice: 'en', language: 'de' }), 'the voice goes first').toEqual(english);
    }
    await expect(say({ voice: 'absent' })).rejects.toMatchObject({ code: 'voice-not-supported' });
    await expect(say({ voice: '--version' })).rejects.toMatchObject({ code: 'voice-not-supported' });
  });

  it('treats any text as plain text', async () => {
    const { say } = espeak;
    const wav = (text: string) => collect(say({ text, format: 'wav' }));
    const seconds = async (text: string) => secondsOfWav(await wav(text));
    const yes = await seconds('yes');
    expect(await seconds('<voice name="de">yes</voice>'), 'a tag is spoken').toBeGreaterThan(yes + 0.3);
    const obeyed = await seconds('-v de yes <break time="60s"/>');
    expect(obeyed, 'an option is spoken').toBeGreaterThan(yes + 0.3);
    expect(obeyed, 'and nothing is obeyed').toBeLessThan(60);
    expect(
      await wav('[[[[yes \u0001200Syes\u0000 no\ud800'),
      'phonemes are letters, commands and halves spaces',
    ).toEqual(await wav('[ [ [ [yes  200Syes  no '));
  });

  skipsNothing(() => espeak, isProgram ? pauses.quarter : pausesOfPackage);

  it('speaks at a speed: 2 halves the duration', async () => {
    const { entry, say } = espeak;
    expect(entry.supports).toEqual(['speed']);
    const seconds = async (speed?: number) =>
      secondsOfWav(await collect(say({ text: sentence, format: 'wav', ...(speed && { speed }) })));
    const usual = await seconds();
    if (isProgram) expect(await seconds(1)).toBe(usual);
    for (const speed of isProgram ? [0.46, 0.5, 0.75, 1.5, 2, 2.57] : [2]) {
      const share = ((await seconds(speed)) * speed) / usual;
      expect(Math.abs(share - 1), `${speed}`).toBeLessThan(0.1);
    }
    await expect(say({ speed: 0.45 })).rejects.toMatchObject({ code: 'parameter-not-supported' });
    await expect(say({ speed: 2.6 })).rejects.toMatchObject({
      code: 'parameter-not-supported',
      message: 'eSpeak NG has speeds of 0.46 to 2.57, not 2.6.',
    });
  });

  it('says the whole name of each emoji, also of adjacent ones', async () => {
    const { say } = espeak;
    const seconds = async (text: string) => secondsOfWav(await collect(say({ text, format: 'wav' })));
    expect(await seconds('🎉🎉👍🏽👍🏽🇩🇪🇫🇷')).toBe(await seconds('🎉 🎉 👍🏽 👍🏽 🇩🇪 🇫🇷'));
    const times = isProgram ? 100 : 30;
    expect(await seconds('🎉'.repeat(times))).toBeGreaterThan(0.7 * (times / 10) * (await seconds('🎉 '.repeat(10))));
  });

  it('produces audio, if only silence, for a text without words', async () => {
    const { say } = espeak;
    for (const text of isProgram ? ['…', '🙂🙂', '   ', '\n\n', '\u0001', '\ud800', '[['] : ['…', '   ']) {
      expect(secondsOfWav(await collect(say({ text, format: 'wav' }))), JSON.stringify(text)).toBeGreaterThanOrEqual(
        0.09,
      );
    }
    if (isProgram) expect(await secondsOf(await collect(say({ text: ' ' })))).toBeGreaterThanOrEqual(0.09);
  });
}

describeWith(['espeak-ng', 'ffmpeg', 'pocketsphinx_continuous'], 'espeak-ng, the program', () => speaks('program'));
describeWith(['ffmpeg', 'pocketsphinx_continuous'], 'espeak-ng, the package', () => speaks('package'));

describeWith(['espeak-ng'], 'a long text', () => {
  it('with 32,000 characters is synthesized completely', async () => {
    const { say } = await startEspeak();
    const wavOf = (times: number) => collect(say({ text: 'straight. '.repeat(times), format: 'wav', speed: 2.57 }));
    const wav = await wavOf(3200);
    expect(secondsOfWav(wav)).toBeGreaterThan(0.9 * 320 * secondsOfWav(await wavOf(10)));
    expect(wav.readUInt32LE(4), 'the length in its header is true').toBe(wav.length - 8);
  });
});

describeWith(['espeak-ng'], 'the program', () => {
  it('leaves no files in HOME and in the temporary directory', async () => {
    const temporary = await temporaryDirectory();
    const { url, dir } = await startChildService({ env: { TMPDIR: temporary } });
    const before = await readdir(dir);
    expect(await createClient({ baseUrl: url }).speak({ text: 'hello' })).toMatchObject({ status: 200 });
    expect(await readdir(dir)).toEqual(before);
    expect(await readdir(temporary)).toEqual([]);
  });
});

describeWith(['espeak-ng'], 'in line', () => {
  it('rejects with overloaded and Retry-After when the timeout passes in the queue', async () => {
    const { service } = await startEspeak('program', 'slots: 1, waiting: 1');
    const speakerWithin = (firstBytesMs: number) => {
      const limits = { firstBytesMs, silenceMs: 60_000 };
      const { registry } = service.service;
      const speakers = createSpeechModelSelector({ registry, defaultVoice: undefined, encode: unused, limits });
      return speakers.choose({ model: null, voice: null, pointers: { model: '/model', voice: '/voice_id' } });
    };
    const speak = async (withinMs: number) =>
      speakerWithin(withinMs).speak({ text: sentence.repeat(450), format: 'mp3' }, { signal: noCaller });
    const keepsItsPlace = (await speak(60_000)).audio[Symbol.asyncIterator](); // as long as no one reads it
    const refused: unknown = await speak(200).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'overloaded' });
    expect((refused as EngineError).retryAfter).toBeGreaterThanOrEqual(1);
    const next = speak(60_000);
    await keepsItsPlace.return?.();
    await (await next).audio[Symbol.asyncIterator]().return?.();
  });
});

describeWith(['espeak-ng'], 'a default voice', () => {
  it('from the settings is used when a call names none', async () => {
    const { say } = await startEspeak('program', 'voice: de');
    const german = await collect(say({ format: 'wav' }));
    expect(german).toEqual(await collect(say({ voice: 'de', format: 'wav' })));
    expect(german).not.toEqual(await collect(say({ language: 'en', format: 'wav' })));
  });

  it('that does not exist makes startup fail', async () => {
    await expect(startEspeak('program', 'voice: absent')).rejects.toThrow(
      /^engines\.\S+: voice: unknown voice "absent"; known: \w+, /,
    );
  });
});
