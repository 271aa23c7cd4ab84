/** The reader: a recording is transcribed, played, searched, asked about, closed and opened again. And words while one speaks. */
import { describe, expect, test } from 'vitest';
import { speechOf, wordEngine } from '../jobs/support/speech.ts';
import { describeWith } from '../support/programs.ts';
import { faultsOf } from './axe.ts';
import {
  draftOf,
  lasting,
  openPage,
  patience,
  requestsOf,
  sharedBrowser,
  sharedService,
  slowPlayback,
  stored,
  storedCount,
  textOf,
  transcriptOf,
  type OpenOptions,
  type UserPage,
} from './support.ts';

const config = wordEngine.config.replace(' }\n', ', made-up: { use: sandbox } }\n');
const memo = speechOf(60);
const hostile = '<img src=x onerror=hacked=1>.wav';

describeWith(['chromium', 'whisper-cli', 'espeak-ng'], 'a user of the page', () => {
  const service = sharedService({ config, files: wordEngine.files });
  const browser = sharedBrowser();
  const open = async (options: OpenOptions = {}) => (await openPage(browser(), service(), options)).ready();

  const openReader = async (options?: OpenOptions) => {
    const page = await open(options);
    await page.upload(hostile, memo);
    await transcriptOf(page).toMatch(/^w0 w1 .* w59$/);
    return page;
  };
  const marked = ({ page }: UserPage, name: string) =>
    expect.poll(() => page.evaluate(`[...(CSS.highlights.get('${name}') ?? [])].map((range) => range.startContainer.data.slice(range.startOffset, range.endOffset)).join(' ')`), patience); // prettier-ignore
  const current = (page: UserPage) => textOf(page.page.locator('.segment[aria-current]'));

  const list = ({ page }: UserPage) => page.getByRole('navigation', { name: 'Conversations' });
  /** The recording is the last thing that is kept. */
  const isKept = (page: UserPage) => storedCount(page, 'files').toBe(1);

  describe('with a file', () => {
    test('plays it from the word that is clicked; the word is marked', async () => {
      const page = await openReader({ script: slowPlayback });
      await page.page.getByText('w12', { exact: true }).click();
      await page.sees({ isSounding: true });
      await current(page).toMatch(/^0:06w1\d$/);
      await marked(page, 'spoken').toMatch(/^w1\d$/);
      await page.button('Pause').click();
      await page.sees({ isSounding: false });
      await page.button('Play from 0:20').first().press('Enter');
      await page.sees({ isSounding: true });
      await current(page).toMatch(/^0:2\dw4\d$/);
      expect(await page.page.evaluate('window.hacked')).toBeUndefined();
    });

    test('searches it', async () => {
      const page = await openReader();
      const search = page.page.getByRole('searchbox', { name: 'Search the transcript' });
      await search.fill('W5');
      await marked(page, 'found').toBe(Array.from({ length: 11 }, () => 'w5').join(' '));
      const count = page.page.getByRole('search').getByRole('status');
      await textOf(count).toBe('1 of 11');
      await search.press('Shift+Enter');
      await textOf(count).toBe('11 of 11');
      expect(await page.page.getByText('w59', { exact: true }).isVisible()).toBe(true);
      expect(await faultsOf(page)).toEqual([]);
      await search.fill('.*');
      await textOf(count).toBe('Nothing found');
    });

    test('asks about it, in a new conversation that keeps it', async () => {
      const page = await openReader();
      await page.button('Ask about this').click();
      await page.hasFocus(page.message);
      await page.message.fill('Which words?');
      expect(await faultsOf(page)).toEqual([]);
      await page.page.keyboard.press('Enter');
      await textOf((await page.answer()).locator('.markdown')).toMatch(
        /Transcript of the recording .*w59.*Which words\?$/s,
      );
      await textOf(page.page.locator('.quoted summary')).toBe(`About ${hostile}`);
      await list(page).getByRole('button', { name: 'Which words?', exact: true }).waitFor(); // it is kept
      await page.page.reload();
      await textOf(page.page.locator('.quoted pre')).toMatch(/^w0 .*w59$/);
    });

    test('closes it, which deletes nothing, and opens it again from the list', async () => {
      const page = await openReader();
      await isKept(page);
      await page.button('Close').click();
      await page.message.waitFor();
      await page.page.reload();
      await page.ready();
      await list(page)
        .getByRole('button', { name: `Transcript: ${hostile}`, exact: true })
        .click();
      await transcriptOf(page).toMatch(/^w0 .*w59$/);
      await page.button('Play').click();
      await page.sees({ isSounding: true });
    });

    test('opens another one from the list, and the first one stays there', async () => {
      const page = await openReader();
      const [chooser] = await Promise.all([
        page.page.waitForEvent('filechooser'),
        page.button('Transcribe a file').click(),
      ]);
      await chooser.setFiles({ name: 'second.wav', mimeType: 'audio/wav', buffer: Buffer.from(speechOf(3)) });
      await transcriptOf(page).toBe('w0 w1 w2');
      await list(page)
        .getByRole('button', { name: `Transcript: ${hostile}`, exact: true })
        .waitFor();
      await page.drop('third.wav', speechOf(2));
      await transcriptOf(page).toBe('w0 w1');
    });

    test('reads it after the recording is gone', async () => {
      const page = await openReader();
      await isKept(page);
      await stored(page, 'files', 'clear()');
      await page.page.reload();
      await transcriptOf(page).toMatch(/^w0 .*w59$/);
      await textOf(page.hint).toBe('The recording is no longer in this browser.');
      expect(await page.button('Play').count()).toBe(0);
    });

    test('has a place for it on a small screen, in the dark, and by keyboard', async () => {
      const page = await openReader({ context: { viewport: { width: 320, height: 640 }, colorScheme: 'dark' } });
      expect(await faultsOf(page)).toEqual([]);
      expect(await page.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      await page.button('Play from 0:00').first().focus();
      await page.page.keyboard.press('ArrowDown');
      await page.hasFocus(page.page.locator('#segment-1 button'));
      await page.page.keyboard.press('Tab'); // the segments are one stop
      await page.hasFocus(page.page.getByRole('searchbox', { name: 'Search the transcript' }));
    });
  });

  describe('who dictates', () => {
    /** Somebody who speaks without an end. The session may take longer than 5 s to begin. */
    const speech = `${lasting(5_000)} {
      navigator.mediaDevices.getUserMedia = async () => {
        const context = new AudioContext();
        const tone = new OscillatorNode(context);
        const microphone = context.createMediaStreamDestination();
        tone.connect(microphone);
        tone.start();
        return microphone.stream;
      };
    }`;
    const transcription = 'conversation.item.input_audio_transcription';

    /** The service's end of the socket, played by the test. `asked` has what the page has sent, but sound. */
    const dictate = async () => {
      const page = await open({ script: speech, isAlone: true });
      const asked: string[] = [];
      let sound = 0;
      const socket = Promise.withResolvers<(event: object | string) => void>();
      await page.page.routeWebSocket(/\/v1\/realtime\?intent=transcription$/, (route) => {
        route.onMessage((text) => {
          const { type } = JSON.parse(String(text)) as { type: string };
          if (type === 'input_audio_buffer.append') sound += 1;
          else asked.push(type);
        });
        socket.resolve((event) => route.send(typeof event === 'string' ? event : JSON.stringify(event)));
      });
      await page.button('Speak').click();
      const say = await socket.promise;
      say({ type: 'session.created' });
      await expect.poll(() => sound, patience).toBeGreaterThan(5);
      const phrase = (item_id: string, transcript: string) => {
        say({ type: 'input_audio_buffer.committed', item_id });
        say({ type: `${transcription}.completed`, item_id, transcript });
      };
      return { page, asked, say, phrase };
    };

    test('reads the words of each phrase at its pause, and gets them without an upload', async () => {
      const { page, asked, say, phrase } = await dictate();
      const before = requestsOf(service(), 'streamTranscription').length;
      say({ type: 'session.updated' });
      phrase('a', 'Good morning.');
      await textOf(page.page.locator('.growing')).toBe('Good morning.');
      phrase('b', '<b>How</b> are you?');
      await textOf(page.page.locator('.growing')).toBe('Good morning. <b>How</b> are you?');
      expect(await faultsOf(page)).toEqual([]);
      await page.button('Stop and transcribe').click();
      await expect
        .poll(() => asked, patience)
        .toEqual(['session.update', 'input_audio_buffer.commit', 'session.update']);
      phrase('c', 'Well.');
      say({ type: 'session.updated' });
      await draftOf(page).toBe('Good morning. <b>How</b> are you? Well.');
      expect(requestsOf(service(), 'streamTranscription')).toHaveLength(before);
    });

    test.each(['garbage', '{"type":"error","error":{"code":"model_unavailable"}}'])(
      'uploads the recording after %s, which no one notices',
      async (message) => {
        const { page, say, phrase } = await dictate();
        const before = requestsOf(service(), 'streamTranscription').length;
        phrase('a', 'Good');
        await textOf(page.page.locator('.growing')).toBe('Good');
        say(message);
        await expect.poll(() => page.page.locator('.growing').count(), patience).toBe(0);
        await page.button('Stop and transcribe').click();
        await expect.poll(() => requestsOf(service(), 'streamTranscription'), patience).toHaveLength(before + 1);
        expect(await page.alert.count()).toBe(0);
      },
    );

    test('reads what the service transcribes', async () => {
      const page = await open({ script: speech, isAlone: true });
      const before = requestsOf(service(), 'streamTranscription').length;
      // The socket is watched from its opening: the event may come before the click has ended.
      const isStarted = page.page
        .waitForEvent('websocket')
        .then((socket) =>
          socket.waitForEvent('framereceived', ({ payload }) => String(payload).includes('speech_started')),
        );
      await Promise.all([isStarted, page.button('Speak').click()]);
      await page.button('Stop and transcribe').click();
      await draftOf(page).toMatch(/^w\d+/);
      expect(requestsOf(service(), 'streamTranscription')).toHaveLength(before);
    });
  });
});
