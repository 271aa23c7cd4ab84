/** Speech on a machine without a network: nothing waits for it, and a voice that is there needs none. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { spawnService } from '../support/child-service.ts';
import { describeWith, run } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { recognize } from '../support/tone-listener.ts';
import { writeVoice } from '../support/voice-model.ts';
import { openNamespace } from './namespace.ts';
import { describeAsRoot, spelled } from './support.ts';

async function start(curl: string, env: Readonly<Record<string, string>>) {
  const namespace = await openNamespace();
  const service = await spawnService({ env: { TRANSCRIBE_SETUP: 'off', ...env }, through: () => namespace.enter });
  onTestFinished(async () => {
    await service[Symbol.asyncDispose]();
    await namespace[Symbol.asyncDispose]();
  });
  const ask = async (...args: string[]) => {
    const [enter, ...rest] = namespace.enter;
    return run(enter, [...rest, curl, '-sS', '--fail', ...args], { deadlineMs: 30_000 });
  };
  const speak = async () => {
    const file = join(await temporaryDirectory(), 'speech.wav');
    await ask('--json', '{"text":"Hello","format":"wav"}', '--output', file, `${service.url}/api/v1/tts`);
    return readFile(file);
  };
  const list = async () => JSON.parse(await ask(`${service.url}/api/v1/tts/models`)) as object;
  return { speak, list };
}

describeAsRoot('in a network that ends at this machine', () => {
  describeWith(['curl', 'espeak-ng', 'nsenter'], 'with real programs', ({ curl }) => {
    test('a voice that cannot be downloaded holds up no one: eSpeak NG speaks at once', async () => {
      const { speak, list } = await start(curl, { VOICE_SETUP: 'on' });
      expect(await list()).toMatchObject({
        default: 'espeak',
        data: [
          { id: 'local-voice', available: false, code: 'preparing' },
          { id: 'espeak', code: 'ready' },
        ],
      });
      expect((await speak()).subarray(0, 4).toString()).toBe('RIFF');
    });

    test('a voice that is there speaks', async () => {
      const file = await writeVoice(await temporaryDirectory(), 'voice', { kind: 'piper', isPlain: true });
      const { speak, list } = await start(curl, { VOICE_MODEL: file });
      expect(await list()).toMatchObject({ default: 'local-voice' });
      expect(recognize(await speak(), 'piper')).toBe(spelled);
    });
  });
});
