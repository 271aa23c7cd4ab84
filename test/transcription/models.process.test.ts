/** Several local models side by side: each has its own availability, languages and answers. */
import { copyFile, mkdtemp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { upload } from '../support/local-service.ts';
import { describeWith } from '../support/programs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { toneWav, writeToneModel, type Language } from '../support/tone-model.ts';

const speech = (language: Language) => toneWav({ words: ['alpha', 'kilo'], language, rate: 16_000 });
const text = 'alpha kilo';

interface Outcome {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

describeWith(['whisper-cli'], 'with several local models', (programs) => {
  let directory: string;
  let service: TestService;
  const fileOf = (id: string) => join(directory, `${id}.bin`);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'parlance-models-'));
    await writeToneModel(fileOf('good'));
    await writeToneModel(fileOf('english'), { englishOnly: true });
    await copyFile(fileOf('good'), fileOf('german'));
    await writeFile(fileOf('prose'), 'This is no model, whatever its name says.');
    await copyFile(fileOf('good'), fileOf('cut'));
    await truncate(fileOf('cut'), 1_000_000);
    const options: Readonly<Record<string, object>> = {
      missing: {},
      good: { name: 'Good at tones' },
      prose: {},
      cut: {},
      english: {},
      german: { language: 'de' },
      later: {},
    };
    const models = Object.entries(options).map(([id, more]) => ({ id, file: fileOf(id), ...more }));
    // JSON is YAML.
    const engine = JSON.stringify({ use: 'whisper-cli', program: programs['whisper-cli'], models });
    service = await startTestService({ config: `transcribeModel: good\nengines: { local: ${engine} }` });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });

  async function transcribe(recording: Uint8Array, fields: Readonly<Record<string, string>>): Promise<Outcome> {
    const response = await upload(service, recording, { fields });
    return { status: response.status, body: (await response.json()) as Outcome['body'] };
  }

  async function probe(model: string): Promise<Outcome['body']> {
    return (await (await service.api(`/transcribe?model=${model}`)).json()) as Outcome['body'];
  }

  const reasons = {
    missing: () => `${fileOf('missing')} does not exist.`,
    prose: () => `${fileOf('prose')} is not a whisper model: it has no ggml header.`,
    cut: () => `${fileOf('cut')} is truncated: it has 1000000 bytes, expected at least`,
  } as const;

  test('each is listed with its own availability, in the order of the settings', async () => {
    const ready = { available: true, code: 'ready', engine: 'local', local: true };
    const unavailable = { available: false, code: 'model-file-missing', engine: 'local', local: true };
    const { data, default: standard } = (await (await service.api('/transcribe/models')).json()) as {
      data: object[];
      default: string;
    };
    expect(standard).toBe('good');
    expect(data).toMatchObject([
      { id: 'missing', ...unavailable, reason: reasons.missing() },
      { id: 'good', name: 'Good at tones', ...ready },
      { id: 'prose', ...unavailable, reason: reasons.prose() },
      { id: 'cut', ...unavailable, reason: expect.stringContaining(reasons.cut()) as string },
      { id: 'english', ...ready },
      { id: 'german', ...ready },
      { id: 'later', ...unavailable },
    ]);
  });

  test.each(Object.entries(reasons))('an unavailable one rejects with the reason: %s', async (model, reason) => {
    expect(await probe(model)).toMatchObject({ available: false, code: 'model-file-missing', model });
    const { status, body } = await transcribe(speech('en'), { model });
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'model-unavailable' });
    expect(body.detail).toContain(reason());
  });

  test.each(['good', 'english', 'german'])('the response names the one used: %s', async (model) => {
    expect(await transcribe(speech('en'), { model })).toMatchObject({ status: 200, body: { text, model } });
  });

  test('the default is used without a model', async () => {
    expect(await transcribe(speech('fr'), {})).toMatchObject({ body: { text, language: 'fr', model: 'good' } });
  });

  describe('an English-only one', () => {
    test.each(['de', 'jv', 'xx'])('rejects another language: %s', async (language) => {
      const { status, body } = await transcribe(speech('de'), { model: 'english', language });
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'language-not-supported' });
      expect(body.detail).toMatch(/english.*English/);
    });

    test.each([{ language: 'en' }, {}])('accepts English, given or not: %j', async (fields) => {
      const outcome = await transcribe(speech('en'), { model: 'english', ...fields });
      expect(outcome).toMatchObject({ status: 200, body: { text, language: 'en' } });
    });
  });

  test('one with a configured language uses it instead of detection, unless the request names another that the model knows', async () => {
    expect((await transcribe(speech('fr'), { model: 'german' })).body).toMatchObject({ text, language: 'de' });
    const named = await transcribe(speech('en'), { model: 'german', language: 'fr' });
    expect(named.body).toMatchObject({ text, language: 'fr' });
    const hinted = new FormData();
    for (const [name, value] of [
      ['model', 'german'],
      ['languages[]', 'zu'],
    ] as const)
      hinted.set(name, value);
    hinted.set('file', new File([new Uint8Array(speech('fr'))], 'fr.wav'));
    const answer = await fetch(`${service.url}/v1/audio/transcriptions`, { method: 'POST', body: hinted });
    expect(await answer.json()).toMatchObject({ text, languages: [{ code: 'de' }] });
  });

  test('adding, changing or removing a model file needs no restart', async () => {
    const file = fileOf('later');
    const probeAgain = async () => (await service.service.registry.recheck(), probe('later'));
    expect(await probeAgain()).toMatchObject({ available: false });

    await writeFile(file, (await readFile(fileOf('good'))).subarray(0, 5_000_000));
    expect(await probeAgain()).toMatchObject({
      available: false,
      reason: expect.stringContaining('truncated') as string,
    });

    await copyFile(fileOf('good'), `${file}.new`);
    await rename(`${file}.new`, file);
    expect(await probeAgain()).toMatchObject({ available: true, code: 'ready' });
    expect(await transcribe(speech('de'), { model: 'later' })).toMatchObject({
      status: 200,
      body: { text, language: 'de' },
    });

    await copyFile(fileOf('english'), `${file}.new`);
    await rename(`${file}.new`, file);
    expect(await transcribe(speech('de'), { model: 'later', language: 'de' })).toMatchObject({ status: 422 });

    await rm(file);
    expect(await probeAgain()).toMatchObject({ available: false, reason: `${file} does not exist.` });
    expect(await transcribe(speech('de'), { model: 'later' })).toMatchObject({ status: 503 });
  });

  test('none leaves any files', async () => {
    await expect.poll(() => service.leftovers()).toEqual([]);
  });
});
