/** `npm run setup -- parakeet-v3`: a model of the catalog is downloaded into its folder, transcribes, and is removed. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { catalog } from '../../../engines/sherpa-stt/catalog.ts';
import { replaceFiles } from '../../support/catalog.ts';
import { upload } from '../../support/local-service.ts';
import { speakTones, writeFamily } from '../../support/recognizer-families.ts';
import { startTestService } from '../../support/service.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { good, serve } from '../whisper-cli/support.ts';
import { recordingOf } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

const { signal } = new AbortController();

/** Models made by hand stand in for the real ones, whose bytes are not available to tests. */
const standIns = {
  'parakeet-v3': ['tdt', ['tokens.txt', 'joiner.onnx', 'decoder.onnx', 'encoder.onnx']],
  'sense-voice': ['sense-voice', ['tokens.txt', 'model.onnx']],
} as const;

async function startSetup() {
  const contents: Buffer[] = [];
  for (const [id, [shape, names]] of Object.entries(standIns)) {
    const folder = await writeFamily(await temporaryDirectory(), shape);
    const files = await Promise.all(names.map((name) => readFile(join(folder, name))));
    replaceFiles(catalog, id, ...files);
    contents.push(...files);
  }
  const { url, requests } = await serve(...contents.map((content) => good(content)));
  const engines = { stt: { use: 'sherpa-stt', pulled: true, mirror: url } };
  const service = await startTestService({ config: JSON.stringify({ engines }) });
  const { assets } = service.service.registry;
  return { service, requests, assets, models: join(service.dir, 'data', 'models') };
}

test('models of the catalog are installed by name, with their licenses, beside each other, and removed', async () => {
  const { service, requests, assets, models } = await startSetup();
  await using _ = service;
  expect(await assets.list()).toMatchObject([
    { id: 'parakeet-v3', license: 'GPL-3.0, CC-BY-4.0', state: 'missing', model: 'local/parakeet-v3' },
    { id: 'sense-voice', license: 'GPL-3.0, FunASR Model Open Source License', state: 'missing' },
    { id: 'speakers', license: 'GPL-3.0, MIT (pyannote, by CNRS), CC-BY-4.0 (TitaNet, by NVIDIA; also stated as Apache-2.0)', state: 'missing' }, // prettier-ignore
  ]);
  const inspected = async () => {
    const all = await service.service.registry.inspect();
    return all.flatMap(({ findings }) => findings.map(({ what }) => what));
  };
  expect(await inspected()).toContain('models');
  const { samples } = speakTones({ words: ['alpha', 'bravo', 'kilo'] });
  for (const id of ['parakeet-v3', 'sense-voice']) {
    for (let times = 0; times < 2; times += 1) expect(await assets.install({ id }, { signal })).toEqual([]);
    const answer = await upload(service, recordingOf(samples), { fields: { model: `local/${id}` } });
    expect(await answer.json()).toMatchObject({ text: 'alpha bravo kilo' });
  }
  expect(requests).toHaveLength(6);
  expect(await inspected()).toEqual(expect.arrayContaining(['model local/parakeet-v3', 'model local/sense-voice']));
  expect(requests.every(({ url }) => /\/resolve\/[0-9a-f]{40}\//.test(url ?? ''))).toBe(true);
  for (const id of ['parakeet-v3', 'sense-voice']) expect(await assets.remove(id, signal)).toBe(true);
  for (const id of ['parakeet-v3', 'sense-voice'])
    expect((await readdir(join(models, id))).filter((name) => !name.startsWith('.'))).toEqual([]);
  const listed = (await (await service.api('/transcribe/models')).json()) as { data: object[] };
  expect(listed.data).toEqual([]);
});
