/** Kokoro, Kitten and Supertonic made by hand, spoken by the real library: the tests recognize what was said. */
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { until } from '../../support/processes.ts';
import { requireProgram, run } from '../../support/programs.ts';
import { writeStyleVoice, type StyleVoiceOptions } from '../../support/style-voice-model.ts';
import { recognizeCharacters, supertonic } from '../../support/supertonic-model.ts';
import { temporaryDirectory, writeFiles } from '../../support/temporary.ts';
import { recognize, loudness, secondsOf } from '../../support/tone-listener.ts';
import { startVoices, type Voices } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

const styled = async (options?: StyleVoiceOptions): Promise<string> =>
  writeStyleVoice(join(await temporaryDirectory(), 'voice'), options);
const writeSupertonic = async (): Promise<string> =>
  writeFiles(join(await temporaryDirectory(), 'voice'), supertonic());

const recognizeStyled = (wav: Buffer): string => recognize(wav, 'styled');

const families = [
  ['Kokoro 1.0', () => styled(), recognizeStyled, 'həlˈoʊ wˈɜːld.'],
  ['Kokoro 0.19', () => styled({ family: 'kokoro-1' }), recognizeStyled, 'həlˈoʊ wˈɜːld.'],
  ['Kitten', () => styled({ family: 'kitten' }), recognizeStyled, 'həlˈoʊ wˈɜːld.'],
  ['Supertonic', writeSupertonic, recognizeCharacters, '<en>Hello world.</en>'],
] as const;

/** Any audio as WAV, as a player would decode it. */
async function toWav(audio: Buffer): Promise<Buffer> {
  const directory = await temporaryDirectory();
  const [from, to] = ['audio', 'audio.wav'].map((name) => join(directory, name)) as [string, string];
  await writeFile(from, audio);
  await run(requireProgram('ffmpeg'), ['-nostdin', '-y', '-loglevel', 'error', '-i', from, to]);
  return readFile(to);
}

describe.each(families)('%s', (_family, write, listen, spoken) => {
  it('says every sound, as WAV and over the other API as MP3', async () => {
    const { service } = await startVoices({ folders: { voice: await write() } });
    const text = 'Hello world.';
    const asWav = service.post('/tts', { text, format: 'wav' });
    const asMp3 = fetch(`${service.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'local-voice', input: text, response_format: 'mp3' }),
    });
    for (const answer of await Promise.all([asWav, asMp3]))
      expect(listen(await toWav(Buffer.from(await answer.arrayBuffer()))).trim()).toBe(spoken);
  });

  it('speaks at the requested speed', async () => {
    const { wav } = await startVoices({ folders: { voice: await write() } });
    const text = 'Hello world.';
    const usual = secondsOf(await wav({ text }));
    expect(secondsOf(await wav({ text, speed: 2 }))).toBeCloseTo(usual / 2, 1);
  });

  it('is silent where there is nothing to say', async () => {
    const { wav } = await startVoices({ folders: { voice: await write() } });
    for (const text of ['…', '...', '"', '“”', '—', '   ', '\u0001', '\ud800'])
      expect(secondsOf(await wav({ text })), JSON.stringify(text)).toBeGreaterThanOrEqual(0.1);
    expect(listen(await wav({ text: '… Hello world.' })).trim()).toBe(spoken);
  });
});

it('a family leaves nothing after a disconnect, a kill and an idle time', async () => {
  const { say, wav, programs, service } = await startVoices({
    folders: { voice: await writeSupertonic() },
    options: { idleUnload: 1 },
  });
  const { audio } = await say({ text: 'Hello world. '.repeat(500), format: 'pcm' });
  for await (const _chunk of audio) break;
  const text = 'Hello world.';
  expect(recognizeCharacters(await wav({ text }))).toBe('<en>Hello world.</en>');
  for (const program of programs()) process.kill(Number(program), 'SIGKILL');
  expect(recognizeCharacters(await wav({ text }))).toBe('<en>Hello world.</en>');
  await until('it is unloaded', () => programs().length === 0);
  expect(await service.leftovers()).toEqual([]);
});

describe('the voices of Kokoro', () => {
  const voicesOf = ({ entry }: Voices) => entry().voices;

  it('have the names in the metadata and the languages of eSpeak NG, which Japanese is not', async () => {
    expect(voicesOf(await startVoices({ folders: { k: await styled() } }))).toEqual([
      { id: 'k/af_one', name: 'Kokoro/af_one (American English)', language: 'en' },
      { id: 'k/bf_two', name: 'Kokoro/bf_two (British English)', language: 'en' },
      { id: 'k/ff_three', name: 'Kokoro/ff_three (French)', language: 'fr' },
      { id: 'k/zf_five', name: 'Kokoro/zf_five (Chinese)', language: 'zh' },
    ]);
  });

  it('of a folder alone take its name as the id', async () => {
    const voices = [{ folder: await styled({ names: ['af_one'] }) }];
    const started = await startVoices({ voices: {}, options: { voices } });
    expect(voicesOf(started)).toMatchObject([{ id: 'voice/af_one' }]);
  });

  it.each([[{ id: 'both', file: 'a.onnx', folder: 'a' }], [{ id: 'neither' }]])(
    'have either a file or a folder: %j is refused',
    async (voice) => {
      const started = startVoices({ voices: {}, options: { voices: [voice] } });
      await expect(started).rejects.toThrow('needs either file or folder');
    },
  );

  it('may be listed as pairs of a name and a number, or as a number alone', async () => {
    const names = ['af_one', 'am_two'];
    const pairs = { speaker_names: undefined, speaker2id: 'af_one->0,am_two->1' };
    const folders = {
      pairs: await styled({ names, metadata: pairs }),
      numbers: await styled({ names, metadata: { speaker_names: undefined } }),
    };
    const ids = voicesOf(await startVoices({ folders }))?.map(({ id }) => id);
    expect(ids).toEqual(['pairs/af_one', 'pairs/am_two', 'numbers/0', 'numbers/1']);
  });

  it('are those that a request names, and no other one', async () => {
    const { wav, service } = await startVoices({ folders: { k: await styled() } });
    const hums = async (voice: string) => {
      const sound = await wav({ text: 'hello', voice });
      return [60, 120, 240].map((hz) => Math.round(10 * loudness(sound, hz)));
    };
    expect(await hums('k/af_one')).toEqual([0, 0, 0]);
    expect(await hums('k/bf_two')).toEqual([1, 0, 0]);
    expect(await hums('k/ff_three')).toEqual([0, 1, 0]);
    expect(await hums('k/zf_five')).toEqual([0, 0, 1]);
    for (const voice_id of ['k/af_nobody', 'k/jf_four', 'k/0', 'k']) {
      const answer = await service.post('/tts', { text: 'hello', voice_id });
      expect(answer.status).toBe(422);
      expect(await answer.json()).toMatchObject({ code: 'voice-not-supported' });
    }
  });

  it('speak the language of their first letter', async () => {
    const spoken = {
      ...{ af_x: ['hello', 'həlˈoʊ'], bf_x: ['hello', 'həlˈəʊ'], ef_x: ['hola', 'ˈola'], ff_x: ['beau', 'bˈo'] },
      ...{ hf_x: ['1', 'ˈeːk'], if_x: ['ciao', 'tʃˈao'], pf_x: ['gato', 'ɡˈatʊ'], zf_x: ['一', '一'] },
    };
    const folders: Record<string, string> = {};
    for (const name of Object.keys(spoken)) folders[name] = await styled({ names: [name] });
    const { wav } = await startVoices({ folders });
    for (const [name, [text = '', sounds]] of Object.entries(spoken))
      expect(recognizeStyled(await wav({ text, voice: `${name}/${name}` })).trim(), name).toBe(sounds);
  });

  it('are chosen by the language of a request, or refused by its name', async () => {
    const { wav, say } = await startVoices({ folders: { k: await styled() } });
    expect(loudness(await wav({ text: 'beau', language: 'fr' }), 120)).toBeGreaterThan(0.05);
    await expect(say({ language: 'ja' })).rejects.toMatchObject({
      code: 'language-not-supported',
      message: expect.stringContaining('speaks "ja"; languages: en, fr, zh.') as string,
    });
  });
});

it('a voice of Supertonic speaks each of its languages, without what its table lacks', async () => {
  const { wav, entry } = await startVoices({ folders: { s: await writeSupertonic() } });
  expect(entry().voices).toHaveLength(31 * 3);
  expect(recognizeCharacters(await wav({ text: 'Hällo 日😀 du.', voice: 's/de-1' }), 1)).toBe('<de>Ha~llo du.</de>');
  expect(recognizeCharacters(await wav({ text: 'Oui.', language: 'fr' }))).toBe('<fr>Oui.</fr>');
});

it('two families take turns within a small budget', async () => {
  const folders = { k: await styled(), s: await writeSupertonic() };
  const { wav, programs } = await startVoices({ folders, env: { MEMORY_BUDGET: '500000000' } });
  for (let turn = 0; turn < 2; turn += 1) {
    expect(recognizeStyled(await wav({ text: 'hello', voice: 'k/af_one' })).trim()).toBe('həlˈoʊ');
    const [first] = programs();
    expect(recognizeCharacters(await wav({ text: 'Hello.', voice: 's/en-0' }))).toBe('<en>Hello.</en>');
    if (turn === 0) expect(programs()).not.toContain(first);
  }
});

describe('a voice that is broken', () => {
  it('in a file beside its model is listed with the reason, and the others speak', async () => {
    const folders = { broken: await styled(), good: await styled({ family: 'kitten' }) };
    const file = join(folders.broken, 'voices.bin');
    await truncate(file, (await readFile(file)).length - 4);
    const { engine, wav, say, service } = await startVoices({ folders });
    const reason = `${file} is not usable: it has 163196 bytes; the 5 voices of the model have 163200`;
    expect(await engine.inspect?.()).toContainEqual({ what: 'voice broken', ok: false, detail: reason });
    await expect(say({ voice: 'broken/af_one' })).rejects.toMatchObject({ code: 'model-unavailable', message: `${reason}.` }); // prettier-ignore
    expect(recognizeStyled(await wav({ text: 'hello' })).trim()).toBe('həlˈoʊ');
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  });

  it('only inside of its weights ends its program while it is loaded', async () => {
    const broken = await styled();
    // The table of the handmade model is shorter than that of a real one: the w of "one" is beyond its end.
    const tokens = await readFile(join(broken, 'tokens.txt'), 'utf8');
    await writeFile(join(broken, 'tokens.txt'), tokens.replace(/^w \d+$/m, 'w 177'));
    const { availability, say, wav, service } = await startVoices({ folders: { broken, good: await styled() } });
    await expect(say({ text: 'a', voice: 'broken/af_one' })).rejects.toMatchObject({ code: 'engine-failed' });
    expect(availability()).toMatchObject({
      available: false,
      code: 'model-file-missing',
      reason: 'The model broken could not be loaded: its files are damaged, or do not belong together.',
    });
    expect(recognizeStyled(await wav({ text: 'hello', voice: 'good/af_one' })).trim()).toBe('həlˈoʊ');
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  });
});
