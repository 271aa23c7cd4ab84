/** Voice selection when the language of the text is known. */
import { describe, expect, test } from 'vitest';
import { apis } from '../../../engines/tts/apis.ts';
import { toModel } from '../../../engines/tts/models.ts';

const voices = ['alloy', { id: 'jonas', language: 'de' }, { id: 'marie', language: 'fr' }];

describe('a language', () => {
  test.each([
    { name: 'selects a voice of that language', defaultVoice: 'jonas', asked: { language: 'fr' }, voice: 'alloy' },
    {
      name: 'keeps a default voice of that language',
      defaultVoice: 'marie',
      asked: { language: 'fr' },
      voice: 'marie',
    },
    {
      name: 'keeps a default voice with several languages',
      defaultVoice: 'alloy',
      asked: { language: 'de' },
      voice: 'alloy',
    },
    { name: 'is optional', defaultVoice: 'jonas', asked: {}, voice: 'jonas' },
    {
      name: 'is ignored if a voice is requested',
      defaultVoice: 'marie',
      asked: { language: 'fr', voice: 'jonas' },
      voice: 'jonas',
    },
  ])('$name', ({ defaultVoice, asked, voice }) => {
    expect(toModel({ id: 'm', voices, defaultVoice }, apis.openai).voiceFor(asked)).toBe(voice);
  });

  test('without a matching voice uses the default voice', () => {
    const model = toModel({ id: 'm', voices: voices.slice(1) }, apis.openai);
    expect(model.voiceFor({ language: 'fr' })).toBe('marie');
    expect(model.voiceFor({ language: 'ja' })).toBe('jonas');
  });
});
