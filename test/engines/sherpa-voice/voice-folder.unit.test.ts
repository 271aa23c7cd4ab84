/** The family of a voice is recognized by the files in its folder, which are checked before they are loaded. */
import { readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { VoiceFile } from '../../../engines/sherpa-voice/voice-facts.ts';
import { rememberVoice } from '../../../engines/sherpa-voice/voice-folder.ts';
import { bytes as bytesField } from '../../support/onnx-writer.ts';
import { styleVoice } from '../../support/style-voice-model.ts';
import { supertonic, ttsJson } from '../../support/supertonic-model.ts';
import { temporaryDirectory, writeFiles } from '../../support/temporary.ts';
import { writeVoice } from '../../support/voice-model.ts';

type Files = Readonly<Record<string, Buffer>>;
type Change = (folder: string) => Promise<unknown>;

async function inspected(files: Files, change: Change = () => Promise.resolve()): Promise<VoiceFile> {
  const folder = await writeFiles(join(await temporaryDirectory(), 'voice'), files);
  await change(folder);
  return rememberVoice(folder)();
}

const shapes = {
  'Kokoro 1.0': () => styleVoice(),
  'Kokoro 0.19': () => styleVoice({ family: 'kokoro-1' }),
  Kitten: () => styleVoice({ family: 'kitten' }),
  Supertonic: supertonic,
} as const;

describe('a folder', () => {
  it.each([
    ['Kokoro 1.0', 'kokoro', 24_000],
    ['Kokoro 0.19', 'kokoro', 24_000],
    ['Kitten', 'kitten', 24_000],
    ['Supertonic', 'supertonic', 44_100],
  ] as const)('of %s is recognized by its files', async (shape, family, sampleRate) => {
    expect(await inspected(shapes[shape]())).toMatchObject({ ok: true, family, sampleRate });
  });

  it('of Piper is recognized by its .onnx.json', async () => {
    const folder = await temporaryDirectory();
    await writeVoice(folder, 'en_US-any-medium', { kind: 'piper' });
    expect(await rememberVoice(folder)()).toMatchObject({ ok: true, family: 'vits' });
  });

  it('has a model under any of its published names, the one with the most bits first', async () => {
    const { 'model.onnx': model = Buffer.alloc(0), ...files } = styleVoice({ family: 'kitten' });
    const both = await inspected({ ...files, 'model.int8.onnx': model, 'model.fp16.onnx': model });
    expect(both.ok && basename(both.file)).toBe('model.fp16.onnx');
  });

  it('is looked at again when a file has been added', async () => {
    const { 'voices.bin': styles = Buffer.alloc(0), ...files } = styleVoice();
    const folder = await writeFiles(join(await temporaryDirectory(), 'voice'), files);
    const look = rememberVoice(folder);
    expect(await look()).toEqual({ ok: false, detail: `${folder}/voices.bin does not exist` });
    await writeFile(join(folder, 'voices.bin'), styles);
    expect((await look()).ok).toBe(true);
  });

  it.each([
    ['Pocket', ['lm_flow.int8.onnx', 'lm_main.int8.onnx', 'vocab.json']],
    ['ZipVoice', ['encoder.int8.onnx', 'decoder.int8.onnx', 'vocos_24khz.onnx', 'tokens.txt']],
  ])('of %s is refused, since it clones voices', async (title, names) => {
    const found = await inspected(Object.fromEntries(names.map((name) => [name, Buffer.from('any')])));
    const detail = `/voice is not usable: ${title} clones voices, which Parlance does not offer`;
    expect(found).toEqual({ ok: false, detail: expect.stringContaining(detail) as string });
  });

  it('without a voice is refused with the files that each family has', async () => {
    const reason = '/voice is not usable: it has no model.onnx (Kokoro), model.onnx (Kitten), duration_predictor.onnx (Supertonic)'; // prettier-ignore
    expect(await inspected({ 'notes.txt': Buffer.from('none') })).toEqual({ ok: false, detail: expect.stringContaining(reason) as string }); // prettier-ignore
    expect(await rememberVoice('/nowhere/voice')()).toEqual({ ok: false, detail: '/nowhere/voice does not exist' });
  });
});

describe.each(Object.entries(shapes))('a file of %s', (_shape, make) => {
  const [models, others] = [true, false].map((isModel) =>
    Object.keys(make()).filter((name) => name.endsWith('.onnx') === isModel && name !== 'lexicon-zh.txt'),
  ) as [string[], string[]];

  it.each(others.concat(models.slice(1)))('that is missing is named: %s', async (name) => {
    const found = await inspected(make(), (folder) => rm(join(folder, name)));
    expect(found).toEqual({
      ok: false,
      detail: expect.stringContaining(`/${name.replace('.int8', '')} does not exist`) as string,
    });
  });

  it.each(models)('that is cut in half is refused: %s', async (name) => {
    const found = await inspected(make(), (folder) => halve(join(folder, name)));
    expect(found).toEqual({ ok: false, detail: expect.stringMatching(`/${name} is not usable: it is cut`) as string });
  });

  it.each(others)('that is cut in half is refused: %s', async (name) => {
    const found = await inspected(make(), (folder) => halve(join(folder, name)));
    expect(found).toEqual({ ok: false, detail: expect.stringContaining(`/${name} is not usable: `) as string });
  });
});

const halve = async (file: string) => truncate(file, Math.floor((await stat(file)).size / 2));

describe('a model of Kokoro or Kitten', () => {
  const without = (key: string) => ({ [key]: undefined });

  it.each([
    ['no sample_rate', without('sample_rate'), 'its sample_rate must be 8000 to 48000'],
    ['a sample_rate of 0', { sample_rate: 0 }, 'its sample_rate must be 8000 to 48000'],
    ['no n_speakers', without('n_speakers'), 'its n_speakers must be 1 to 2550'],
    [
      'more speakers than its styles have bytes',
      { n_speakers: 30_000_000, speaker_names: undefined },
      'its n_speakers must be 1 to 2550',
    ],
    ['rows that no style has', { style_dim: '10001,1,16' }, 'its style_dim must be 3 sizes'],
    ['no has_espeak', without('has_espeak'), 'its has_espeak must be 1'],
    ['no style_dim', without('style_dim'), 'its style_dim must be 3 sizes, such as 510,1,256'],
    ['the style_dim of Kitten', { style_dim: '510,16' }, 'its style_dim must be 3 sizes'],
    ['another number of names', { speaker_names: 'af_one' }, 'it has 5 speakers, but 1 names'],
    ['no model_type', without('model_type'), 'its model_type is missing; supported: Kokoro, Kitten'],
    ['the type of another family', { model_type: 'vits' }, 'its model_type is vits; supported: Kokoro, Kitten'],
    ['the type of Kitten', { model_type: 'kitten-tts' }, 'its style_dim must be 2 sizes, such as 400,256'],
    ['voices of unsupported languages alone', { speaker_names: 'jf_a,jf_b,jf_c,jf_d,jf_e' }, 'no voice of a supported language'], // prettier-ignore
  ])('is refused for its metadata: %s', async (_what, metadata, detail) => {
    const found = await inspected(styleVoice({ metadata }));
    expect(found).toEqual({ ok: false, detail: expect.stringContaining(`/model.onnx is not usable: ${detail}`.replace(': no', ': it has no')) as string }); // prettier-ignore
  });

  it('of Kitten is refused with another number of speeds', async () => {
    const found = await inspected(styleVoice({ family: 'kitten', metadata: { speaker_speed_priors: '1,1,1' } }));
    expect(found).toMatchObject({
      detail: expect.stringContaining('2 speakers, but 3 speaker_speed_priors') as string,
    });
  });

  it.each([-4, 4])('is refused with a voices.bin of %i bytes more', async (more) => {
    const found = await inspected(styleVoice(), (folder) => truncate(join(folder, 'voices.bin'), 163_200 + more));
    const detail = `voices.bin is not usable: it has ${163_200 + more} bytes; the 5 voices of the model have 163200`;
    expect(found).toMatchObject({ detail: expect.stringContaining(detail) as string });
  });

  it.each([
    ['a number beyond the table', /^w \d+$/m, 'w 178', 'the number 178 is not below 178'],
    ['a number twice', /^w \d+$/m, 'w 1', 'the number 1 occurs twice'],
    ['a symbol of two characters', /^w /m, 'ww ', '"ww 33" is not a character, a space and a number'],
    ['no full stop', /^\. \d+\n/m, '', 'it lacks the sign .'],
    ['no ellipsis', /^… \d+\n/m, '', 'it lacks the sign …'],
  ])('is refused for a tokens.txt with %s', async (_what, before, after, detail) => {
    const found = await inspected(styleVoice(), async (folder) => {
      const file = join(folder, 'tokens.txt');
      await writeFile(file, (await readFile(file, 'utf8')).replace(before, after));
    });
    expect(found).toEqual({ ok: false, detail: expect.stringContaining(`/tokens.txt is not usable: ${detail}`) as string }); // prettier-ignore
  });
});

describe('a folder of Supertonic', () => {
  const json = (ae: object, ttl: object): Change => (folder) => writeFile(join(folder, 'tts.json'), JSON.stringify({ ae: { ...ttsJson.ae, ...ae }, ttl: { ...ttsJson.ttl, ...ttl } })); // prettier-ignore
  const sizes = (...values: readonly number[]): Change => async (folder) => {
    const file = join(folder, 'voice.bin');
    const content = await readFile(file);
    values.forEach((value, at) => content.writeBigInt64LE(BigInt(value), 8 * at));
    await writeFile(file, content);
  }; // prettier-ignore

  it.each<readonly [string, Change, string]>([
    ['a sample rate of 0', json({ sample_rate: 0 }, {}), 'tts.json is not usable: its sample_rate must be 8000 to 48000'],
    ['no chunks', json({ base_chunk_size: 0 }, {}), 'tts.json is not usable: its base_chunk_size must be 1 to 10000'],
    ['half a latent', json({}, { latent_dim: 0.5 }), 'tts.json is not usable: its latent_dim must be 1 to 2205'],
    ['more numbers than samples', json({}, { latent_dim: 2_206 }), 'tts.json is not usable: its latent_dim must be 1 to 2205'],
    ['too many chunks', json({}, { chunk_compress_factor: 10_001 }), 'tts.json is not usable: its chunk_compress_factor must be 1 to 10000'],
    ['no JSON', (folder) => writeFile(join(folder, 'tts.json'), '<html>'), 'tts.json is not usable: it is not a JSON object'],
    ['more voices than it has', sizes(4, 50, 256, 4, 8, 16), 'voice.bin is not usable: it has 155184 bytes; its 4 voices have 206896'],
    ['other sizes of the same length', sizes(3, 256, 50, 3, 16, 8), 'voice.bin is not usable: its sizes are 3,256,50,3,16,8, not N,50,256,N,8,16'],
  ])('is refused for %s', async (_what, change, detail) => {
    expect(await inspected(supertonic(), change)).toMatchObject({ ok: false, detail: expect.stringContaining(detail) as string }); // prettier-ignore
  }); // prettier-ignore

  /** A model whose graph has inputs of this content. */
  const withInputs = (...inputs: readonly Buffer[]): Change => (folder) => writeFile(join(folder, 'vocoder.int8.onnx'), bytesField(7, Buffer.concat(inputs.map((input) => bytesField(11, input))))); // prettier-ignore
  const longName = Buffer.from([0x0a, 0x80, 0x80, 0x80, 0x80, 0x04, 0x61]);
  const manyFields = Buffer.alloc(100_000, Buffer.from([0x10, 0x00]));

  it.each<readonly [string, Change, string]>([
    ['a name of 1 GiB, before it is read', withInputs(longName), 'it has a name that is too long'],
    ['inputs with more fields than any', withInputs(manyFields, manyFields, manyFields), 'it has too many fields'],
  ])('is refused for %s', async (_what, change, detail) => {
    const found = await inspected(supertonic(), change);
    expect(found).toMatchObject({ ok: false, detail: expect.stringContaining(`vocoder.int8.onnx is not usable: ${detail}`) as string }); // prettier-ignore
  });

  it('is refused if two of its models are swapped', async () => {
    const found = await inspected(supertonic(), async (folder) => {
      const [one, other] = ['text_encoder.int8.onnx', 'vector_estimator.int8.onnx'].map((name) => join(folder, name)) as [string, string]; // prettier-ignore
      await rename(one, `${one}.away`);
      await rename(other, one);
      await rename(`${one}.away`, other);
    });
    const detail = 'vector_estimator.int8.onnx is not usable: it has no input noisy_latent: it is another model';
    expect(found).toMatchObject({ ok: false, detail: expect.stringContaining(detail) as string });
  });
});
