/** Kitten: small English voices. */
import { Unusable, explained } from '../lib/model-files.ts';
import { styleFamily } from './style-files.ts';

export const kitten = styleFamily({
  family: 'kitten',
  title: 'Kitten',
  type: 'kitten-tts',
  dimensions: 2,
  // 143 MB with the 8-bit weights of Nano, according to third parties
  memoryBeside: 125_000_000,
  signs: () => '.',
  describe({ metadata, names, paths: { model = '' } }) {
    const speeds = metadata.get('speaker_speed_priors')?.split(',').length ?? names.length;
    explained(model, () => {
      if (speeds !== names.length)
        throw new Unusable(`it has ${names.length} speakers, but ${speeds} speaker_speed_priors`);
    });
    return { speakers: names.map((name, number) => ({ name, number, language: 'en', locale: 'en-US' })) };
  },
});
