/** Kokoro, versions 0.19, 1.0 and 1.1-zh, as exported for sherpa-onnx. */
import { existsSync } from 'node:fs';
import { Unusable, explained } from '../lib/model-files.ts';
import type { Metadata } from '../lib/sherpa/onnx-file.ts';
import { styleFamily } from './style-files.ts';
import type { FileSpeaker } from './voice-facts.ts';

type Tongue = Pick<FileSpeaker, 'language' | 'locale' | 'lang'>;

const american: Tongue = { language: 'en', locale: 'en-US', lang: 'en-us' };

/**
 * By the first letter of a speaker's name. `lang` is a voice of eSpeak NG, which has neither `en-gb` nor `fr-fr`.
 * Japanese (j) is missing, because Kokoro was trained on other Japanese phonemes than those of eSpeak NG.
 */
const tongues: Readonly<Record<string, Tongue>> = {
  a: american,
  b: { language: 'en', locale: 'en-GB', lang: 'en-gb-x-rp' },
  e: { language: 'es', locale: 'es', lang: 'es' },
  f: { language: 'fr', locale: 'fr', lang: 'fr' },
  h: { language: 'hi', locale: 'hi', lang: 'hi' },
  i: { language: 'it', locale: 'it', lang: 'it' },
  p: { language: 'pt', locale: 'pt-BR', lang: 'pt-br' },
};

/** Chinese characters are looked up in the lexicon; eSpeak NG speaks the others. */
const mandarin: Tongue = { language: 'zh', locale: 'zh', lang: 'en-us' };

export const kokoro = styleFamily({
  family: 'kokoro',
  title: 'Kokoro',
  type: 'kokoro',
  files: { lexicon: ['lexicon-zh.txt'] },
  dimensions: 3,
  // 750 MB with 32-bit weights (310 MB), and 330 MB with 8-bit weights, according to third parties
  memoryBeside: 425_000_000,
  /**
   * Version 2 (1.0 and 1.1) loops forever at any of these characters that its token table lacks; version 1 exits at a
   * period that it lacks.
   */
  signs: (metadata) => (isMultilingual(metadata) ? ';:,.!?—…"()“”' : '.'),
  describe({ metadata, names, paths: { model = '', lexicon = '' } }) {
    const hasLexicon = isMultilingual(metadata) && existsSync(lexicon) && !lexicon.includes(','); // commas separate paths
    const speakers = names.flatMap((name, number): FileSpeaker[] => {
      const tongue = tongueOf(name, hasLexicon);
      return tongue ? [{ name, number, ...tongue }] : [];
    });
    explained(model, () => {
      if (speakers.length === 0) throw new Unusable('it has no voice of a supported language');
    });
    // Version 2 requires a lexicon or a language. It never reads the English lexicons, since the model names eSpeak NG.
    return { speakers, config: hasLexicon ? { lexicon } : isMultilingual(metadata) ? { lang: 'en-us' } : {} };
  },
});

const isMultilingual = (metadata: Metadata): boolean => Number(metadata.get('version') ?? 1) >= 2;

/** Returns undefined for an unsupported language. A name in another format counts as American English. */
function tongueOf(name: string, hasLexicon: boolean): Tongue | undefined {
  const [, letter] = /^([a-z])[fm](?:_|$)/.exec(name) ?? [];
  if (letter === 'z') return hasLexicon ? mandarin : undefined;
  return letter === undefined ? american : tongues[letter];
}
