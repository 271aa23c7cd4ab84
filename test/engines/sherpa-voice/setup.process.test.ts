/** `npm run setup -- voice`: the voices of the catalog are downloaded, verified, converted, and then speak. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { catalog } from '../../../engines/sherpa-voice/catalog.ts';
import { styleVoice } from '../../support/style-voice-model.ts';
import { replaceFiles } from '../../support/catalog.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { recognize } from '../../support/tone-listener.ts';
import { voiceModel, writeVoice } from '../../support/voice-model.ts';
import { good, serve, status, type Answer } from '../whisper-cli/support.ts';
import { collect, startVoices } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

const id = 'en_US-ljspeech-medium';

/** A voice of letters stands in for the real one, whose bytes are not available to tests. */
const made = voiceModel();
const [model, config] = [made.onnx, Buffer.from(JSON.stringify(made.config))];
const title = 'English voice (female, clear)';

async function startSetup(
  answers: readonly Answer[],
  [voice, ...files]: readonly [string, ...Buffer[]] = [id, config, model],
) {
  replaceFiles(catalog, voice, ...files);
  const { url, requests } = await serve(...answers);
  const voices = await startVoices({ voices: {}, options: { voices: [voice], mirror: url } });
  const { assets } = voices.service.service.registry;
  const steps: unknown[] = [];
  const install = ({ signal } = new AbortController()) =>
    assets.install(
      { id: 'voice', isExplicit: true },
      { signal, onStep: (_id, { doing, done }) => steps.push([doing, done]) },
    );
  const directory = join(voices.service.dir, 'data', 'voices');
  const state = async () => (await assets.find('voice'))?.state;
  return { ...voices, assets, requests, steps, install, directory, state };
}

const both = [good(config), good(model)];

describe('npm run setup -- voice', () => {
  it('downloads a voice of the catalog and its .onnx.json, which then speaks; a second call does nothing', async () => {
    const setup = await startSetup(both);
    const bytes = model.length + config.length;
    const source = expect.stringMatching(/^npm and 127\.0\.0\.1:\d+$/) as string;
    const whole = {
      source,
      bytes: 33_400_000 + bytes,
      bytesLeft: bytes,
      license: 'GPL-3.0, public domain',
      state: 'missing',
    };
    expect((await setup.assets.list()).slice(0, 2)).toMatchObject([
      { id: 'voice', title, ...whole, configured: true, serves: 'local-voice' },
      { id, title, ...whole, configured: false, model: 'local-voice' },
    ]);
    await setup.install();
    const path = `/${catalog.find(id)!.files[1]!.path}`;
    expect(path).toMatch(/^\/rhasspy\/piper-voices\/resolve\/[0-9a-f]{40}\/en\/en_US\/ljspeech\/medium\/en_US-ljspeech-medium\.onnx$/); // prettier-ignore
    expect(setup.requests.map(({ url }) => url)).toEqual([`${path}.json`, path]);
    expect(setup.steps.at(-1)).toEqual([`downloading ${title}`, 1]);
    expect(await setup.state()).toBe('ready');
    expect(setup.availability().code).toBe('ready');
    expect(recognize(await collect(await setup.say({ voice: id })))).toBe('yes no hello');
    await setup.install();
    expect(setup.requests).toHaveLength(2);
  });

  it('says what it is doing, in the listing too', async () => {
    const asked = Promise.withResolvers<undefined>();
    const release = Promise.withResolvers<undefined>();
    const slow: Answer = async (request, response) => {
      asked.resolve(undefined);
      await release.promise;
      await good(config)(request, response);
    };
    const setup = await startSetup([slow, good(model)]);
    const done = setup.install();
    await asked.promise;
    expect(await setup.state()).toBe('preparing');
    expect(setup.availability()).toMatchObject({ available: false, code: 'preparing' });
    release.resolve(undefined);
    await done;
    expect(await setup.state()).toBe('ready');
  });

  it.each([
    ['is refused', [status(404)], 'the server answered 404'],
    ['is another file', [good(config), good(Buffer.from('x'.repeat(9)))], 'is not the expected file'],
    ['is too large', [good(config), good(Buffer.concat([model, model]))], 'is not the expected file'],
  ])('a download that %s says so, in the listing too, and leaves no voice behind', async (_what, answers, why) => {
    const setup = await startSetup(answers);
    const [failure] = await setup.install();
    expect(failure?.message).toContain(why);
    expect(failure?.message).toContain('Without a network, copy it to');
    expect(existsSync(join(setup.directory, `${id}.onnx`))).toBe(false);
    const { code, reason } = setup.availability();
    expect(code).toBe('model-file-missing');
    expect(reason).toMatch(/Run `npm run setup -- voice` to try again\.$/);
    await expect(setup.say()).rejects.toMatchObject({ code: 'model-unavailable' });
  });

  it('that is interrupted leaves no failure, and is resumed', async () => {
    const abort = new AbortController();
    const ends: Answer = () => abort.abort(new Error('stopped by SIGINT'));
    const setup = await startSetup([ends, ...both]);
    await expect(setup.install(abort)).rejects.toThrow('stopped by SIGINT');
    expect(setup.availability().reason).toContain('is not installed: run `npm run setup -- voice`');
    await setup.install();
    expect(await setup.state()).toBe('ready');
  });

  it("an operator's own voice under that name is not replaced", async () => {
    const setup = await startSetup([]);
    const own = join(setup.directory, `${id}.onnx`);
    await mkdir(dirname(own), { recursive: true });
    const other = await writeVoice(await temporaryDirectory(), id, { speakers: 2 });
    for (const end of ['', '.json']) await writeFile(`${own}${end}`, await readFile(`${other}${end}`));
    await setup.install();
    expect(setup.requests).toEqual([]);
    expect((await readdir(setup.directory)).filter((name) => name.endsWith('.onnx'))).toEqual([`${id}.onnx`]);
    const voices = () => setup.entry().voices?.map((voice) => voice.id);
    await expect.poll(voices, { timeout: 10_000 }).toEqual([`${id}/hum-0`, `${id}/hum-1`]);
  });
});

describe('npm run setup -- kokoro', () => {
  const files = styleVoice();
  const contents = ['tokens.txt', 'voices.bin', 'model.onnx'].map((name) => files[name] ?? Buffer.alloc(0));
  const startKokoro = (answers: readonly Answer[]) => startSetup(answers, ['kokoro', ...contents]);

  it('downloads the files of a commit once into a folder, whose voices then speak', async () => {
    const setup = await startKokoro(contents.map((content) => good(content)));
    const listed = (await setup.assets.list()).find((group) => group.id === 'kokoro');
    expect(listed).toMatchObject({ license: 'GPL-3.0, Apache-2.0', state: 'missing', model: 'local-voice' });
    await setup.install();
    await setup.install();
    expect(setup.requests.map(({ url }) => url?.replace(/[0-9a-f]{40}/, 'COMMIT'))).toEqual(
      ['tokens.txt', 'voices.bin', 'model.onnx'].map((name) => `/csukuangfj/kokoro-multi-lang-v1_0/resolve/COMMIT/${name}`), // prettier-ignore
    );
    expect(await setup.state()).toBe('ready');
    const ids = setup.entry().voices?.map((voice) => voice.id);
    expect(ids).toEqual(['kokoro/af_one', 'kokoro/bf_two', 'kokoro/ff_three']);
    expect(recognize(await collect(await setup.say({ text: 'hello' })), 'styled').trim()).toBe('həlˈoʊ');
  });

  it('refuses a file of the right length with another digest, and uses nothing of it', async () => {
    const [tokens = Buffer.alloc(0), styles = Buffer.alloc(0), ...rest] = contents;
    const setup = await startKokoro([tokens, Buffer.alloc(styles.length), ...rest].map((content) => good(content)));
    const [failure] = await setup.install();
    expect(failure?.message).toContain('is not the expected file');
    expect(await readdir(join(setup.directory, 'kokoro'))).not.toContain('voices.bin');
    await expect(setup.say()).rejects.toMatchObject({ message: expect.stringContaining('kokoro is not there') as string }); // prettier-ignore
    expect(setup.availability().code).toBe('model-file-missing');
  });
});
