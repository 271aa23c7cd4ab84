/** Kitten: small English voices. */
import { Unusable, explained } from '../lib/model-files.ts';
import { inspectStyleFiles } from './style-files.ts';
import type { VoiceFacts } from './voice-facts.ts';

const family = {
  family: 'kitten',
  title: 'Kitten',
  dimensions: 2,
  // 143 MB with the 8-bit weights of Nano: a published figure of others
  memoryBeside: 125_000_000,
  signs: () => '.',
} as const;

export function inspectKitten(file: string, folder: string): VoiceFacts {
  const { metadata, names, files, ...facts } = inspectStyleFiles(file, folder, family);
  const speeds = metadata.get('speaker_speed_priors')?.split(',').length ?? names.length;
  explained(file, () => {
    if (speeds !== names.length) throw new Unusable(`it has ${names.length} speakers, but ${speeds} speaker_speed_priors`); // prettier-ignore
  });
  const speakers = names.map((name, number) => ({ name, number, language: 'en', locale: 'en-US' }));
  return { ...facts, speakers, configure: () => files };
}
