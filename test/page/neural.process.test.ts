/** The page with sherpa-onnx in both directions: what its voice says, its recognizer transcribes. */
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { writeRecognizer } from '../support/recognizer-model.ts';
import { startTestService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { writeVoice } from '../support/voice-model.ts';
import { transcriptOf, openPage, sharedBrowser } from './support.ts';

describeWith(['chromium'], 'a text that the page has read aloud', () => {
  const browser = sharedBrowser();

  it('comes back as the same text when its sound is uploaded', async () => {
    const directory = await temporaryDirectory();
    const file = await writeVoice(directory, 'spelled');
    const folder = await writeRecognizer(join(directory, 'letters'));
    const engines = {
      voice: { use: 'sherpa-voice', voices: [{ id: 'spelled', file }] },
      stt: { use: 'sherpa-stt', models: [{ id: 'letters', kind: 'nemo-ctc', folder }] },
      mind: { use: 'sandbox' },
    };
    const service = await startTestService({ config: JSON.stringify({ engines }) });
    onTestFinished(() => service[Symbol.asyncDispose]());

    const page = await openPage(browser(), service);
    const asked = page.page.waitForRequest(/\/clips\//);
    await page.send('read aloud: yes no hello, is it 12?');
    await page.answer();
    const clip = await fetch((await asked).url());
    expect(clip.status).toBe(200);
    await page.upload('clip.mp3', new Uint8Array(await clip.arrayBuffer()));
    await transcriptOf(page).toBe('yes no hello, is it 12?');
  });
});
