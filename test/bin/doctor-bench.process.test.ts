/** `doctor --bench`: the real programs with models made by hand. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, test, vi } from 'vitest';
import { startProcess } from '../support/child-service.ts';
import { processesWith, until } from '../support/processes.ts';
import { requireProgram } from '../support/programs.ts';
import { answers, startProvider } from '../support/provider.ts';
import { writeFamily } from '../support/recognizer-families.ts';
import { writeRecognizer } from '../support/recognizer-model.ts';
import { runScript } from '../support/scripts.ts';
import { writeStyleVoice } from '../support/style-voice-model.ts';
import { temporaryDirectory, writeFiles } from '../support/temporary.ts';
import { toneWav, writeToneModel } from '../support/tone-model.ts';
import { writeVoice } from '../support/voice-model.ts';

vi.setConfig({ testTimeout: 120_000 });

const speech = toneWav({ words: ['alpha', 'bravo', 'charlie', 'delta'], rate: 24_000 });

/** Runs the command beside models that are in the directory already. */
async function bench(cwd: string, settings: object, ...args: string[]) {
  await writeFiles(cwd, { 'parlance.config.yaml': JSON.stringify(settings) });
  const env = { DATA_DIR: join(cwd, 'data'), WHISPER_CLI: requireProgram('whisper-cli') };
  const { code, stdout, stderr } = await runScript('src/bin/doctor.ts', ['--bench', ...args], { cwd, env });
  const rows = stdout.split('\n\n')[0]!.split('\n').slice(1).map((line) => line.split(/ {2,}/)); // prettier-ignore
  return { code, rows, stdout, stderr };
}

const number = expect.stringMatching(/^\d+(\.\d+)?$/) as string;
const loaded = [number, number, number, number];
const rowOfVoice = (name: string) => [name, 'speech', ...loaded, number, '-'];
const rowOf = (name: string, errors: string) => [name, 'transcription', ...loaded, '-', errors];
const whisper = { use: 'whisper-cli', voiceActivity: 'off', models: [{ id: 'tones', file: 'tones.bin' }] };

it('measures each local model, with one voice of each program, and calls no provider', async () => {
  const cwd = await temporaryDirectory();
  await writeToneModel(join(cwd, 'tones.bin'));
  await writeFamily(join(cwd, 'parakeet'), 'tdt');
  await writeVoice(cwd, 'letters', {});
  await writeStyleVoice(join(cwd, 'kokoro'));
  await writeFile(join(cwd, 'speech.wav'), speech);
  const provider = await startProvider();
  provider.behave(answers(200, { data: [{ id: 'hosted' }], text: 'alpha' }));
  const { baseUrl } = provider;
  const engines = {
    hosted: ['hosted-stt', 'tts', 'llm-agent'].map((use) => ({ use, baseUrl, models: ['hosted'] })),
    whisper,
    stt: { use: 'sherpa-stt', models: [{ id: 'parakeet', folder: 'parakeet' }] },
    voice: { use: 'sherpa-voice', voices: [{ id: 'letters', file: 'letters.onnx' }, { id: 'kokoro', folder: 'kokoro' }] }, // prettier-ignore
  };
  const settings = { transcribeModel: 'hosted', chatModel: 'hosted', ttsModel: 'hosted', engines };
  const { code, rows, stdout } = await bench(cwd, settings, 'speech.wav', '--expect', 'Alpha: bravo, CHARLIE; echo!');
  expect(rows).toEqual([
    rowOfVoice('local-voice letters'),
    rowOfVoice('local-voice kokoro/af_one'),
    rowOf('tones', '25.0 %'),
    rowOf('parakeet', '25.0 %'),
  ]);
  expect(stdout).toContain(`Recording: ${join(cwd, 'speech.wav')}, 2.8 s.\n`);
  expect(provider.calls).toEqual([]);
  expect(code).toBe(0);
});

it('without a recording, a voice speaks a sentence for the recognizers', async () => {
  const cwd = await temporaryDirectory();
  await writeRecognizer(join(cwd, 'listener'));
  await writeVoice(cwd, 'letters');
  const engines = {
    stt: { use: 'sherpa-stt', models: [{ id: 'listener', folder: 'listener' }] },
    voice: { use: 'sherpa-voice', voices: [{ id: 'letters', file: 'letters.onnx' }] },
  };
  const { code, rows, stdout } = await bench(cwd, { engines });
  expect(rows).toEqual([rowOfVoice('local-voice letters'), rowOf('listener', '0.0 %')]);
  expect(stdout).toMatch(/^Recording: "The last ferry .*\.", spoken by local-voice letters, \d+\.\d s\.$/m);
  expect(code).toBe(0);
});

it('a model that cannot be loaded, or that fails, has its reason in the table', async () => {
  const cwd = await temporaryDirectory();
  await writeToneModel(join(cwd, 'tones.bin'));
  await writeFamily(join(cwd, 'failing'), 'sense-voice', { failsInRequests: true });
  await writeFile(join(cwd, 'speech.wav'), speech);
  await writeStyleVoice(join(cwd, 'kokoro'));
  const folders = (...names: string[]) => names.map((id) => ({ id, folder: id }));
  const engines = {
    whisper,
    stt: { use: 'sherpa-stt', models: folders('failing', 'missing') },
    mouth: { use: 'sherpa-voice', voices: folders('kokoro', 'gone') },
  };
  const { code, rows } = await bench(cwd, { engines }, 'speech.wav', '--expect', 'alpha bravo charlie delta');
  expect(rows).toEqual([
    rowOfVoice('local-voice kokoro/af_one'),
    ['mouth voice gone', 'speech', `${join(cwd, 'gone')} does not exist`],
    rowOf('tones', '0.0 %'),
    ['failing', 'transcription', expect.stringMatching(/^The loaded model failed\. \(.*Reshape.*…$/)],
    ['missing', 'transcription', `${join(cwd, 'missing')} does not exist.`],
  ]);
  expect(code).toBe(1);
});

it.each([
  ['without a voice that could speak a recording', { whisper }, /^tones +transcription +no English voice could speak a recording; name one: npm run doctor -- --bench FILE$/m], // prettier-ignore
  ['without a model', {}, /^No local model is installed: `npm run setup` installs transcription\.$/m],
])('%s, it says what to do', async (_what, engines, said) => {
  const { code, stdout } = await bench(await temporaryDirectory(), { engines });
  expect(stdout).toMatch(said);
  expect(code).toBe(1);
});

const busy = `
  export default {
    contract: 1, name: 'busy', capability: 'speech', options: { type: 'object', properties: {} },
    create: ({ marker }, { resident }) => ({
      models: [{ id: 'busy', local: true }],
      async synthesize(call, { signal }) {
        const args = ['-e', 'console.log("{\\\\"ready\\\\":true}"); process.stdin.resume().on("end", () => process.exit())', marker];
        const program = resident({ name: 'busy', program: process.execPath, args, memory: 1, idleUnloadMs: 1e6 });
        await program.call({}, { signal });
      },
    }),
  };`;

test('Ctrl+C ends it and its programs', async () => {
  const marker = `busy-${process.pid}-${Date.now()}`;
  const { exit, kill, said } = await startProcess('src/bin/doctor.ts', {
    args: ['--bench'],
    nodeOptions: ['--conditions=parlance-source'],
    config: `engines: { busy: { use: ./busy.mjs, marker: ${marker} } }`,
    files: { 'busy.mjs': busy },
  });
  await until('the program runs', () => processesWith(marker).length === 1, 60_000);
  kill('SIGINT');
  expect({ ...(await exit), stdout: said.stdout }).toEqual({ code: 130, signal: null, stdout: '' });
  await until('the program has ended', () => processesWith(marker).length === 0);
});

test.each([
  ['two files', ['--bench', 'a.wav', 'b.wav'], /^doctor: unexpected argument "b\.wav"$/m],
  ['a file without --bench', ['a.wav'], /^doctor: unexpected argument "a\.wav"$/m],
  ['--expect without a file', ['--bench', '--expect', 'yes'], /^doctor: --expect needs --bench FILE$/m],
  ['--expect without a word', ['--bench', 'a.wav', '--expect', '...'], /^doctor: --expect has no words$/m],
  ['a file that is not there', ['--bench', 'a.wav'], /^doctor: --bench: \S+a\.wav cannot be used: ENOENT/m],
  ['a file that is no recording', ['--bench', 'parlance.config.yaml'], /^doctor: --bench: .* it is text, which is not a recording$/m], // prettier-ignore
])('%s is refused', async (_what, args, message) => {
  const cwd = await temporaryDirectory();
  await writeFiles(cwd, { 'parlance.config.yaml': 'engines: { sandbox: { use: sandbox } }' });
  const { code, stdout, stderr } = await runScript('src/bin/doctor.ts', args, {
    cwd,
    env: { DATA_DIR: join(cwd, 'data') },
  });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
});
