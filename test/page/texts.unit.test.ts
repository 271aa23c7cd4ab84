/** The texts of the page: microphone problems, models, failures, speech. */
import { describe, expect, test } from 'vitest';
import { whisperLanguages } from '../../lib/languages.ts';
import {
  adviceFor,
  choose,
  chooseVoice,
  optionText,
  privacyOf,
  recordingFieldsFor,
  speakerFieldsFor,
} from '../../page/choices.ts';
import { failureOf } from '../../page/failure.ts';
import {
  captureProblemOf,
  captureProblemOfError,
  remedyForInsecure,
  textOfCaptureProblem,
  type CaptureProblem,
} from '../../page/capture-checks.ts';
import { languagesOf, usualLanguages } from '../../page/languages.ts';
import { memoryText } from '../../page/missing.ts';
import { ParlanceError, type ModelEntry, type SpeechModelEntry } from '../../src/client/index.ts';

describe('microphone problems', () => {
  const address = { hostname: 'lan.test', port: '8484' };
  const all: readonly CaptureProblem[] = ['insecure', 'unsupported', 'denied', 'missing', 'in-use', 'gone'];

  test.each([
    ['none', { isSecureContext: true, hasMediaDevices: true, hasRecorder: true }, undefined],
    ['plain http on the network', { isSecureContext: false, hasMediaDevices: false, hasRecorder: true }, 'insecure'],
    ['no microphone API', { isSecureContext: true, hasMediaDevices: false, hasRecorder: true }, 'unsupported'],
    ['no recorder', { isSecureContext: true, hasMediaDevices: true, hasRecorder: false }, 'unsupported'],
  ] as const)('before any click: %s', (_what, abilities, problem) => {
    expect(captureProblemOf(abilities)).toBe(problem);
  });

  test.each([
    ['NotAllowedError', 'denied'],
    ['SecurityError', 'denied'],
    ['NotFoundError', 'missing'],
    ['OverconstrainedError', 'missing'],
    ['NotReadableError', 'in-use'],
    ['AbortError', 'in-use'],
    ['TypeError', undefined],
  ])('%s is %s', (name, problem) => {
    expect(captureProblemOfError(new DOMException('', name))).toBe(problem);
  });

  test('each has a text of its own', () => {
    expect(new Set(all.map((problem) => textOfCaptureProblem(problem))).size).toBe(all.length);
  });

  test('an address without https says what does not work there, why, and how to open the page', () => {
    const text = textOfCaptureProblem('insecure');
    expect(text).toContain(
      'so “Speak” and “Hands-free” do not work: browsers allow it only over https and on localhost.',
    );
    expect(text).toContain('Typing, files and reading aloud work.');
    const remedy = remedyForInsecure(address);
    expect(remedy).toContain('http://localhost:8484');
    expect(remedy).toContain('ssh -L 8484:127.0.0.1:8484 lan.test');
    expect(remedy).toContain('PUBLIC_URL');
    expect(remedyForInsecure({ ...address, port: '' })).toContain('ssh -L 80:127.0.0.1:80 lan.test');
    expect(remedyForInsecure({ ...address, hostname: '[fd00::1]' })).toContain('127.0.0.1:8484 fd00::1”');
  });
});

describe('the models', () => {
  const entry = (id: string, facts: Partial<ModelEntry> = {}): ModelEntry => ({
    ...{ id, name: id.toUpperCase(), engine: 'groq', local: true, available: true, code: 'ready', reason: 'Fine.' },
    supports: [],
    ...facts,
  });
  const unavailable = entry('u', { available: false, code: 'key-missing', reason: 'No key.' });

  test.each([
    ['the requested entry', 'b', 'a', 'b'],
    ['the default for one that is gone', 'gone', 'a', 'a'],
    ['the default', undefined, 'b', 'b'],
    // Another one could send the recording elsewhere.
    ['the default even if it is unavailable', undefined, 'u', 'u'],
    ['the first that is available', undefined, null, 'a'],
  ])('choose %s', (_what, requested, byDefault, chosen) => {
    const data = [unavailable, entry('a'), entry('b')];
    expect(choose({ data, default: byDefault }, requested)?.id).toBe(chosen);
  });

  test('choose what there is', () => {
    expect(choose({ data: [unavailable], default: null }, undefined)).toBe(unavailable);
    expect(choose({ data: [], default: null }, 'a')).toBeUndefined();
  });

  test('choose a voice only if the model has it', () => {
    const speech: SpeechModelEntry = {
      ...entry('s'),
      voices: [{ id: 'en', name: 'English', language: 'en' }],
      default_voice: 'en',
    };
    expect(chooseVoice(speech, 'en')).toBe('en');
    expect(chooseVoice(speech, 'de')).toBeUndefined();
    expect(chooseVoice(undefined, 'en')).toBeUndefined();
  });

  test('say where the data goes, or why not, in any direction of their names', () => {
    expect(optionText(entry('a'))).toBe('A');
    expect(optionText(entry('a', { local: false }))).toBe('\u2068A\u2069 · sent to groq');
    expect(optionText(unavailable)).toBe('\u2068U\u2069 · No key.');
  });

  const local = { transcription: entry('t'), chat: entry('c'), speech: entry('s') };
  const away = (engine: string) => entry('away', { local: false, engine });

  test.each([
    ['Everything stays on this machine', {}],
    ['Everything stays on this machine', { chat: undefined, speech: { ...away('groq'), available: false } }],
    ['Chat is sent to groq', { chat: away('groq') }],
    ['Recordings are sent to openai', { transcription: away('openai') }],
    ['Text to speak is sent to openai', { speech: away('openai') }],
    [
      'Recordings and text to speak are sent to openai · Chat is sent to groq',
      { transcription: away('openai'), chat: away('groq'), speech: away('openai') },
    ],
  ])('say in one sign: %s', (text, chosen) => {
    expect(privacyOf({ ...local, ...chosen })).toEqual({ isLocal: text.startsWith('Everything'), text });
  });

  const wishes = { language: 'de', translate: true, keywords: ' Ada Lovelace,, Grace ' };
  const keywords = ['Ada Lovelace', 'Grace'];

  test.each<[string, Partial<ModelEntry>, object]>([
    ['everything, to a model that can', { supports: ['keywords', 'translate'] }, { task: 'translate', keywords }],
    ['keywords, to a model with a prompt', { supports: ['prompt'], languages: ['de'] }, { keywords }],
    ['nothing that the model refuses', { languages: ['en'] }, { language: undefined }],
    ['no language, to a model that accepts none', { languages: [] }, { language: undefined }],
  ])('get with each recording: %s', (_what, facts, fields) => {
    expect(recordingFieldsFor(entry('m', facts), wishes)).toEqual({ model: 'm', language: 'de', ...fields });
  });

  test('get nothing with a recording until something is chosen', () => {
    const none = { language: '', translate: false, keywords: ' , ' };
    const all = entry('m', { supports: ['keywords', 'translate'] });
    expect(recordingFieldsFor(all, none)).toEqual({ model: 'm' });
    expect(recordingFieldsFor(undefined, wishes)).toEqual({});
  });

  test.each<[string, Partial<ModelEntry>, Parameters<typeof speakerFieldsFor>[1], object]>([
    ['nothing', { supports: ['diarize', 'segment', 'word'] }, { speakers: '', speakerCount: 2 }, {}],
    ['the voices', { supports: ['diarize', 'word'] }, { speakers: 'voice' }, { diarize: 'true' }],
    [
      'their number',
      { supports: ['diarize', 'word'] },
      { speakers: 'voice', speakerCount: 2 },
      { diarize: 'true', min_speakers: '2', max_speakers: '2' },
    ],
    [
      'no number, to a model that distinguishes them by itself',
      { supports: ['diarize'] },
      { speakers: 'voice', speakerCount: 2 },
      { diarize: 'true' },
    ],
    ['no voices, to a model that cannot', { supports: ['segment', 'word'] }, { speakers: 'voice' }, {}],
    ['the channels', { supports: ['segment'] }, { speakers: 'channel', speakerCount: 2 }, { channels: 'separate' }],
    ['no channels, to a model that cannot', { supports: ['diarize'] }, { speakers: 'channel' }, {}],
  ])('get with each file about its speakers: %s', (_what, facts, wish, fields) => {
    expect(speakerFieldsFor(entry('m', facts), wish)).toEqual(fields);
    expect(speakerFieldsFor(undefined, wish)).toEqual({});
  });

  test('offer their languages by name, and first those of the user', () => {
    const { own, others } = languagesOf({ languages: ['en', 'es', 'de', 'fr'] }, ['de-CH', 'de', 'it']);
    expect(own).toEqual([{ code: 'de', name: 'German' }]);
    expect(others.map(({ name }) => name)).toEqual(['English', 'French', 'Spanish']);
  });

  test('that do not list their languages offer those of Whisper', () => {
    expect(usualLanguages).toEqual(whisperLanguages);
    expect(languagesOf({}, ['en']).others).toHaveLength(whisperLanguages.length - 1);
  });

  test('say what to do where nothing works, and only there', () => {
    expect(adviceFor('speech', undefined)).toContain('espeak-ng');
    expect(adviceFor('speech', undefined, 'Not allowed for this key.')).toBe('Not allowed for this key.');
    expect(adviceFor('speech', unavailable)).toBe('No key.');
    expect(adviceFor('speech', entry('a'))).toBeUndefined();
    expect(adviceFor('speech', entry('p', { available: false, code: 'preparing' }))).toBeUndefined();
  });
});

describe('a failure', () => {
  test('shows the detail, the code and the id of the request', () => {
    const error = new ParlanceError('overloaded', 'Too busy.', { status: 503, requestId: 'r' });
    expect(failureOf(error)).toEqual({ text: 'Too busy.', code: 'overloaded', requestId: 'r' });
  });

  test('says that the service is not responding', () => {
    expect(failureOf(new ParlanceError('unreachable', 'No response'))).toEqual({
      text: 'The service is not responding. Check that it is running and that the network is up.',
      code: 'unreachable',
    });
  });
});

describe('whether a model fits the memory', () => {
  test.each([
    [null, 8e9, ''],
    [540_000_000, Number.NaN, ''],
    [540_000_000, 8_326_414_336, 'Fits this machine'],
    [6_500_000_000, 8_000_000_000, 'Needs about 6.5 GB of memory; this machine has 8.0 GB'],
    [540_000_000, 500_000_000, 'Needs about 540 MB of memory; this machine has 500 MB'],
  ])('%s of %s bytes: %s', (needed, machine, text) => {
    expect(memoryText({ memory_bytes: needed }, machine)).toBe(text);
  });
});
