import { Catalog } from '../lib/catalog.ts';

/** Id of the engine's asset group: `npm run setup -- chat`. */
export const part = 'chat';

/** Size of the KV cache per token of context: 28 layers with 8 heads of 128 numbers, as the file says. */
export const cacheBytes: Readonly<Record<string, number>> = { 'qwen3-0.6b': 114_688 };

/** The digests are the same in several independent public repositories. */
export const catalog = new Catalog('https://huggingface.co', 'models', {
  'qwen3-0.6b': {
    title: 'Qwen3 0.6B',
    label: 'Small chat model (Qwen3 0.6B)',
    purpose: 'Good for a first try and short commands; it invents facts.',
    license: 'Apache-2.0',
    files: [
      {
        path: 'Qwen/Qwen3-0.6B-GGUF/resolve/23749fefcc72300e3a2ad315e1317431b06b590a/Qwen3-0.6B-Q8_0.gguf',
        bytes: 639_446_688,
        digest: '9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031',
      },
    ],
  },
});
