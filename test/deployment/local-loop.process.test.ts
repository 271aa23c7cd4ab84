/** A voice loop on a machine without a network: whisper.cpp transcribes, llama.cpp answers and calls its tool, a voice speaks. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hasLibrary } from '../engines/llama-local/support.ts';
import { draftOf, launch, openPage, programs, promptUser, spoken, textOf } from '../page/support.ts';
import { answers, writeChatModel } from '../support/chat-model.ts';
import { spawnService } from '../support/child-service.ts';
import { describeWith, requireProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { toneWav, writeToneModel } from '../support/tone-model.ts';
import { writeVoice } from '../support/voice-model.ts';
import { openNamespace } from './namespace.ts';
import { describeAsRoot } from './support.ts';

describeAsRoot('in a network that ends at this machine', () => {
  describeWith([...programs, 'nsenter', 'unshare', 'ip'], 'with real programs', () => {
    test.skipIf(!hasLibrary)('what is said is transcribed, and the answer sounds', async () => {
      const directory = await temporaryDirectory();
      const [recognizer, mind] = [join(directory, 'tones.bin'), join(directory, 'chat.gguf')];
      await Promise.all([writeToneModel(recognizer), writeChatModel(mind)]);
      const voice = await writeVoice(directory, 'voice', { kind: 'piper', isPlain: true });
      const namespace = await openNamespace();
      onTestFinished(() => namespace[Symbol.asyncDispose]());
      const service = await spawnService({
        env: {
          TRANSCRIBE_SETUP: 'off',
          WHISPER_CLI: requireProgram('whisper-cli'),
          ...{ WHISPER_MODEL: recognizer, CHAT_LOCAL_MODEL: mind, VOICE_MODEL: voice },
        },
        through: () => namespace.enter,
      });
      onTestFinished(() => service[Symbol.asyncDispose]());
      const browser = await launch({ through: namespace.enter });
      onTestFinished(() => browser[Symbol.asyncDispose]());

      const recording = toneWav({ words: ['alpha', 'bravo'], rate: 16_000, tailSeconds: 0.2 });
      const page = await (await openPage(browser, service, { script: promptUser(recording) })).ready();
      await page.button('Speak').click();
      await spoken(page);
      await page.button('Stop and transcribe').click();
      await draftOf(page).toBe('alpha bravo');
      await page.page.keyboard.type(' please, and read it aloud');
      await page.page.keyboard.press('Enter');
      await page.sees({ isSounding: true });
      const answer = await page.answer();
      await textOf(answer.locator('.markdown')).toBe(answers.told);
      await textOf(answer.locator('> footer')).toContain('local-chat');
      await expect.poll(() => page.observed()).toMatchObject({ isWhole: true });
    });
  });
});
