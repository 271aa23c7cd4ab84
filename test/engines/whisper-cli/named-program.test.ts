/** The program that the settings name: whisper-cli has no fallback for it. */
import { describe, expect, it } from 'vitest';
import { createApi } from '../../support/http.ts';
import { startTestService } from '../../support/service.ts';
import { temporaryDirectory } from './support.ts';

const fix = 'set it to the path of whisper-cli, or remove it';

describe('a path without a program', () => {
  it.each([
    { setting: 'WHISPER_CLI', option: '' },
    { setting: 'program', option: 'program: PATH, ' },
  ])('is named by the probe and the doctor: $setting', async ({ setting, option }) => {
    const directory = await temporaryDirectory();
    for (const [path, problem] of [
      [`${directory}/nope`, `there is nothing at ${directory}/nope`],
      [directory, `${directory} is not an executable program`],
    ] as const) {
      const instance = `{ use: whisper-cli, ${option.replace('PATH', path)}models: [{ id: base, file: data/models/ggml-base.bin }] }`;
      const env = option === '' ? { WHISPER_CLI: path } : {};
      await using service = await startTestService({ config: `engines: { ear: ${instance} }`, env });
      const { body } = await createApi(service.url).get('/api/v1/transcribe');
      expect(body).toMatchObject({
        available: false,
        code: 'program-missing',
        reason: `${setting}: ${problem}; ${fix}.`,
      });
      const [{ findings } = { findings: [] }] = await service.service.registry.inspect();
      expect(findings).toContainEqual({
        ...{ what: 'whisper-cli', ok: false },
        detail: `${setting}: ${problem}`,
        fix,
      });
    }
  });
});
