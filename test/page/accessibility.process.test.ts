/** For everyone: screen readers, keyboards, small screens, the dark, and eyes that want no motion. */
import { expect, test } from 'vitest';
import { describeWith } from '../support/programs.ts';
import { toneWav } from '../support/tone-model.ts';
import { faultsOf } from './axe.ts';
import { brain, emit } from './brain.ts';
import {
  drawnTextOf,
  fastTimers,
  lanName,
  openPage,
  patience,
  programs,
  sharedBrowser,
  sharedService,
  startPageService,
  textOf,
  transcriptOf,
  type UserPage,
} from './support.ts';

const phone = { width: 360, height: 740 };
const zoomed = { width: 320, height: 256 };

interface Styled {
  getComputedStyle(element: object): { borderTopStyle: string };
}

/** Buttons whose text or border is not to be seen in whole. */
const cutOff = ({ page }: UserPage) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('button')]
    .filter((one) => !one.classList.contains('select')) // which ends in an ellipsis
    .filter((one) => one.scrollWidth > one.clientWidth || one.getBoundingClientRect().right > innerWidth)
    .map(({ textContent }) => textContent)`);

/** Pairs of things in one part of the page that cover each other. */
const overlaps = ({ page }: UserPage) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('.top, .bottom, .question')].flatMap((part) => {
    const all = [...part.querySelectorAll('button, .sign, .bubble')].filter((one) => one.checkVisibility());
    const boxes = all.map((one) => one.getBoundingClientRect());
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return all.flatMap((one, at) => all.slice(at + 1).flatMap((other, next) =>
      meet(boxes[at], boxes[at + 1 + next]) ? [one.textContent + ' / ' + other.textContent] : []));
  })`);

const everything = [
  'think: of everything',
  'read aloud: one',
  '# Title',
  'Text with `code`, **bold**, [a link](https://good.example/).',
  '- one\n- two',
  '```\na long line of code that goes on and on and on and on and on and on and on and on and on\n```',
  '| a | b |\n| - | - |\n| 1 | 2 |',
].join('\n\n');

const preparingEngine = `
export default {
  contract: 1,
  name: 'preparing',
  capability: 'transcription',
  options: { type: 'object', properties: {} },
  create: () => ({
    models: [
      {
        ...{ id: 'base', local: true },
        availability: { available: false, code: 'preparing', reason: 'Downloading: 42 %.', progress: 0.42 },
      },
    ],
    transcribe() {},
  }),
};
`;

/** The names of what Tab reaches, up to the end of the page. */
async function walk({ page }: UserPage): Promise<readonly string[]> {
  const names: string[] = [];
  for (;;) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate<string>(`{
      const one = document.activeElement;
      const text = one.labels?.[0]?.textContent || one.getAttribute('aria-label') || one.textContent;
      one === document.body ? '' : text.trim();
    }`);
    if (name === '' || names.length > 50) return names;
    names.push(name);
  }
}

/** Somebody who never stops speaking. */
const talker = `navigator.mediaDevices.getUserMedia = async () => {
  const context = new AudioContext();
  const words = context.createBuffer(1, context.sampleRate / 2, context.sampleRate);
  words.getChannelData(0).forEach((_, at, all) => (all[at] = at < 0.8 * all.length ? 0.3 * Math.sin(at / 20) : 0));
  const source = new AudioBufferSourceNode(context, { buffer: words, loop: true });
  const microphone = context.createMediaStreamDestination();
  source.connect(microphone);
  source.start();
  return microphone.stream;
}`;

async function openTranscript(page: UserPage): Promise<void> {
  await page.upload('memo.wav', toneWav({ words: ['alpha', 'bravo'], rate: 16_000 }));
  await transcriptOf(page).toBe('alpha bravo');
}

async function startHandsFree(page: UserPage, state: string): Promise<void> {
  await page.button('Hands-free').click();
  await textOf(page.page.locator('.state')).toBe(state);
}

/** As if it had been said. */
async function askHandsFree(page: UserPage, text: string): Promise<void> {
  await startHandsFree(page, 'Listening');
  await page.sendBehind(text);
}

/** What can be on the screen in hands-free mode. */
const handsFreeStates: Readonly<Record<string, (page: UserPage) => Promise<unknown>>> = {
  'hands-free, asking for the microphone': async (page) => {
    await page.page.evaluate('navigator.mediaDevices.getUserMedia = () => new Promise(() => {})');
    await startHandsFree(page, 'Allow the microphone');
  },
  'hands-free, listening': (page) => startHandsFree(page, 'Listening'),
  'hands-free, while somebody speaks': async (page) => {
    await page.page.evaluate(talker);
    await startHandsFree(page, 'Listening');
    await page.page.getByText('Pause to send.').waitFor();
  },
  'hands-free, thinking': async (page) => {
    await page.choose('Chat', 'sandbox-chat-slow');
    await askHandsFree(page, 'word '.repeat(200));
    await textOf(page.page.locator('.state')).toBe('Thinking');
    await textOf(page.page.locator('.said')).toContain('You');
  },
  'hands-free, speaking': async (page) => {
    await askHandsFree(page, `read aloud: ${'word '.repeat(30)}`);
    await textOf(page.page.locator('.state')).toBe('Speaking');
  },
  'hands-free, muted': async (page) => {
    await startHandsFree(page, 'Listening');
    await page.button('Mute').click();
    await textOf(page.page.locator('.state')).toBe('Muted');
  },
  'hands-free, without a microphone': async (page) => {
    await page.page.evaluate(`navigator.mediaDevices.getUserMedia = async () => {
      throw new DOMException('', 'NotAllowedError');
    }`);
    await startHandsFree(page, 'No microphone');
  },
  'hands-free, with a failed answer': async (page) => {
    await askHandsFree(page, 'fail: provider-error');
    await page.page.locator('.hands-free').getByRole('alert').waitFor();
  },
};

describeWith(programs, 'the page', () => {
  const service = sharedService();
  const browser = sharedBrowser({ sound: toneWav({ words: [], rate: 16_000 }) }); // silence
  const open = async (context: object = {}) => (await openPage(browser(), service(), { context })).ready();

  /** What can be on the screen. */
  const states: Readonly<Record<string, (page: UserPage) => Promise<unknown>>> = {
    empty: async () => {},
    'with turns': async (page) => {
      await page.send(everything);
      const answer = await page.answer();
      for (const summary of await answer.locator('summary').all()) await summary.click();
    },
    'with a failed answer': async (page) => {
      await page.send('fail: provider-error');
      await page.alert.waitFor();
    },
    'with a kept recording': async (page) => {
      await page.page.context().setOffline(true);
      await page.upload('memo.wav', Buffer.from('no recording'));
      await page.alert.waitFor();
      await page.page.context().setOffline(false);
    },
    'with a list and a deletion that can be undone': async (page) => {
      for (const text of ['Good morning', 'Good night']) {
        await page.send(text);
        await page.answer();
        await page.button('New conversation').click();
      }
      await page.page.getByRole('searchbox').fill('good');
      await page.button('Delete “Good morning”').click();
      await page.button('Undo').waitFor();
    },
    'with a search that finds nothing': async (page) => {
      await page.send('Good morning');
      await page.answer();
      await page.page.getByRole('searchbox').fill('night');
      await page.page.getByText('Nothing found.').waitFor();
    },
    'with the list on a phone': async (page) => {
      await page.send('Good morning');
      await page.answer();
      await page.page.setViewportSize(phone);
      await page.button('Conversations').click();
      await page.button('Delete “Good morning”').waitFor();
    },
    answering: async (page) => {
      await page.choose('Chat', 'sandbox-chat-slow');
      await page.send('word '.repeat(200));
      await textOf(page.answers.locator('.markdown')).toContain('You');
    },
    thinking: async (page) => {
      await page.page.route('**/chat/stream', () => {}); // for ever
      await page.send('Good morning');
      await page.page.locator('.dots').waitFor();
    },
    'with a running tool': async (page) => {
      await page.choose('Voice', 'sandbox-speech-slow');
      await page.send(`read aloud: ${'word '.repeat(200)}`);
      await page.page.getByRole('progressbar', { name: 'Progress of read_aloud' }).waitFor();
    },
    'with an answer that was stopped': async (page) => {
      await page.choose('Chat', 'sandbox-chat-slow');
      await page.send('word '.repeat(200));
      await textOf(page.answers.locator('.markdown')).toContain('You');
      await page.page.keyboard.press('Escape');
      await textOf(await page.answer()).toContain('Stopped.');
    },
    'with a message that is edited': async (page) => {
      await page.send('Good morning');
      await page.answer();
      await page.button('Edit your message “Good morning”').click();
      await page.page.getByRole('textbox', { name: 'Your message' }).fill('');
    },
    'with text that arrives below': async (page) => {
      await page.choose('Chat', 'sandbox-chat-slow');
      await page.send('Line\n\n'.repeat(60));
      await textOf(page.answers.locator('.markdown')).toContain('You');
      await expect.poll(() => page.page.evaluate('scrollY'), patience).toBeGreaterThan(0);
      await page.page.evaluate('scrollTo(0, 0)');
      await page.button('Jump to the latest').waitFor();
    },
    speaking: async (page) => {
      await page.send('word '.repeat(30));
      await page.answer();
      await page.button('Read aloud').click();
      await page.sees({ isSounding: true });
    },
    transcribing: async (page) => {
      await page.page.route('**/transcribe/stream', () => {}); // for ever
      await page.upload('memo.wav', Buffer.from('no recording'));
      await page.page.getByRole('progressbar', { name: 'Transcription' }).waitFor();
    },
    'with a transcript that is played and searched': async (page) => {
      await openTranscript(page);
      await page.button('Play from 0:00').click();
      await page.page.locator('.segment[aria-current]').waitFor();
      await page.page.getByRole('searchbox', { name: 'Search the transcript' }).fill('alpha');
      await page.page.getByText('1 of 1').waitFor();
    },
    'with a transcript that is made again': async (page) => {
      await openTranscript(page);
      await page.button('Redo the transcription').click();
      await page.page.getByLabel('Language of recordings').waitFor();
    },
    'with a transcript that the next question is about': async (page) => {
      await openTranscript(page);
      await page.button('Ask about this').click();
      await page.button('Remove the transcript').waitFor();
    },
    'with a question about a transcript': async (page) => {
      await openTranscript(page);
      await page.button('Ask about this').click();
      await page.send('Who is it?');
      await page.answer();
      await page.page.locator('.quoted summary').click();
    },
    'with a file above it': async (page) => {
      await page.page.evaluate(`document.body.dispatchEvent(new DragEvent('dragover', { bubbles: true }))`);
      await page.page.getByText('Drop a recording').waitFor();
    },
    'with every notice': async (page) => {
      await page.upload('silence.wav', toneWav({ words: [], rate: 16_000, tailSeconds: 2 }));
      await page.page.getByText('Check that the right microphone').waitFor();
      await page.page.evaluate(`navigator.mediaDevices.getUserMedia = async () => {
        throw new DOMException('', 'NotAllowedError');
      }`);
      await page.button('Speak').click();
      await textOf(page.alert).toContain('The microphone is blocked');
      await page.page.context().setOffline(true);
      await page.page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
      await textOf(page.alert).toContain('The service is not responding');
    },
    'with the voices': async (page) => {
      await page.models.click();
      await page.button(/^Voice/).click();
      await page.page.getByRole('dialog', { name: 'Voice' }).getByRole('radio').nth(3).click();
      await page.button(/^Listen to/).waitFor();
    },
    'with the models': async (page) => {
      await page.models.click();
      await page.page.getByLabel('Language of recordings').selectOption('German');
    },
    'with the options': async (page) => {
      await page.button('Options').click();
      await page.page.getByLabel('Set the temperature').check();
      await page.page.getByRole('slider', { name: 'Temperature' }).waitFor();
      await page.button('Delete everything').click();
      await page.button('Yes, delete').waitFor();
    },
    'asking for the microphone': async (page) => {
      await page.page.evaluate('navigator.mediaDevices.getUserMedia = () => new Promise(() => {})');
      await page.button('Speak').click();
      await textOf(page.hint).toContain('Allow the microphone');
    },
    recording: async (page) => {
      await page.button('Speak').click();
      await page.button('Stop and transcribe').waitFor();
    },
    ...handsFreeStates,
  };

  /** In the light; in the dark on a phone; in forced colors with the zoom of 400 % that the guidelines ask for. */
  async function checkEverywhere(page: UserPage): Promise<void> {
    await page.sees({ animations: [] }); // reduced motion
    expect(await faultsOf(page)).toEqual([]);
    for (const [size, media] of [
      [phone, { colorScheme: 'dark' }],
      [zoomed, { forcedColors: 'active' }],
    ] as const) {
      await page.page.setViewportSize(size);
      await page.page.locator('.sidebar').waitFor({ state: 'detached' }); // the list has left for its dialog
      await page.page.emulateMedia(media);
      expect(await page.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(await cutOff(page)).toEqual([]);
      if (size === phone) expect(await faultsOf(page)).toEqual([]);
    }
  }

  test.each(Object.keys(states))(
    'has no fault that axe finds, moves nothing and fits everywhere: %s',
    async (state) => {
      const page = await open({ reducedMotion: 'reduce' });
      await states[state]!(page);
      await checkEverywhere(page);
    },
  );

  test('has no fault that axe finds, moves nothing and fits everywhere: the question for the key', async () => {
    const locked = await startPageService({ env: { API_KEYS: 'secret' } });
    const page = await openPage(browser(), locked, { context: { reducedMotion: 'reduce' } });
    await page.page.getByLabel('API key', { exact: true }).fill('another');
    await page.button('Use this key').click();
    await page.page.getByText('This key was rejected').waitFor();
    await checkEverywhere(page);
    await page.button('Not now').click();
    await page.button('Enter the key').waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });

  test('has no fault that axe finds, moves nothing and fits everywhere: hardly anything configured', async () => {
    const bare = await startPageService({
      config: 'engines: { preparing: { use: ./preparing.mjs } }',
      files: { 'preparing.mjs': preparingEngine },
      env: { PUBLIC_URL: `http://${lanName}`, ALLOW_OPEN: 'true' },
    });
    const origin = `http://${lanName}:${new URL(bare.url).port}`; // without a microphone, too
    const page = await openPage(browser(), bare, { origin, context: { reducedMotion: 'reduce' } });
    await page.page.getByRole('region', { name: 'Get started' }).waitFor();
    await page.page.getByText('The microphone is not available at this address').waitFor();
    await checkEverywhere(page);
    await page.models.click();
    await page.page.getByRole('progressbar', { name: 'Installing' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });

  test('has no fault that axe finds, moves nothing and fits everywhere: the cards of a fresh machine', async () => {
    const fresh = await startPageService({
      config: 'engines: { espeak: { use: espeak }, voice: { use: sherpa-voice }, mind: { use: llama-local } }',
    });
    const page = await openPage(browser(), fresh, { context: { reducedMotion: 'reduce' } });
    await page.page.getByRole('region', { name: 'Chat' }).waitFor();
    await page.page.getByText('Also available: A natural voice').click();
    await page.page.getByRole('region', { name: 'A natural voice' }).getByText('more').click();
    await checkEverywhere(page);
  });

  test('has no fault that axe finds, moves nothing and fits everywhere: what is installed, fails and is removed', async () => {
    const service = await startPageService({
      config: 'engines: { brain: { use: ./brain.mjs }, espeak: { use: espeak } }',
      files: { 'brain.mjs': brain },
    });
    const context = { reducedMotion: 'reduce' } as const;
    const page = await openPage(browser(), service, { script: fastTimers, context });
    const desktop = { width: 1280, height: 720 };
    const remove = async () => {
      await emit('brain-goes');
      await service.service.registry.recheck();
      await page.page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    };
    const steps: readonly (readonly [act: () => unknown, button: string])[] = [
      [() => page.page.getByText('2 more').click(), 'Install: Brain 1'],
      [() => page.button('Install: Brain 1').click(), 'Stop: Brain 1'],
      [() => emit('brain-breaks'), 'Try again: Brain 1'],
      [() => page.button('Try again: Brain 1').click(), 'Stop: Brain 1'],
      [() => emit('brain-comes'), 'Use: Brain 1'],
      [remove, 'Install: Brain 1'],
    ];
    for (const [act, button] of steps) {
      await act();
      await page.button(button).waitFor();
      await checkEverywhere(page);
      await page.page.setViewportSize(desktop);
      await page.page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' });
    }
  });

  test('covers nothing with anything else, beside a long question and at a zoom of 200 %', async () => {
    const page = await open();
    await page.page.locator('.skip').focus();
    expect((await page.page.getByRole('banner').boundingBox())!.y).toBe(0); // nothing moves
    await page.send('A long question. '.repeat(30));
    await page.answer();
    const edit = page.button(/^Edit/);
    await edit.hover();
    const left = (await page.page.getByRole('log').boundingBox())!.x;
    expect((await edit.boundingBox())!.x).toBeGreaterThan(left);
    for (const viewport of [
      { width: 1280, height: 720 },
      { width: 640, height: 360 },
      { width: 390, height: 844 },
    ]) {
      await page.page.setViewportSize(viewport);
      const isBeside = viewport.width === 1280;
      await page.page.locator('.sidebar').waitFor({ state: isBeside ? 'attached' : 'detached' });
      expect(await overlaps(page)).toEqual([]);
    }
  });

  test('shows its buttons and its questions in forced colors', async () => {
    const page = await open({ forcedColors: 'active' });
    await page.send('Good morning');
    await page.answer();
    const withoutBorder = await page.page
      .locator('button:visible, .bubble')
      .evaluateAll(
        (all: object[]) =>
          all.filter((one) => (globalThis as never as Styled).getComputedStyle(one).borderTopStyle === 'none').length,
      );
    expect(withoutBorder).toBe(0);
  });

  test('is used by touch on a phone', async () => {
    const page = await open({ isMobile: true, hasTouch: true, viewport: phone });
    expect(await page.page.evaluate('scrollY')).toBe(0);
    await page.message.tap();
    await page.message.fill('Good morning');
    await page.button('Send').tap();
    await textOf((await page.answer()).locator('.markdown')).toBe('You said: Good morning');
    const small = await page.page
      .locator('.bottom button:visible')
      .evaluateAll((all: { offsetWidth: number; offsetHeight: number; textContent: string }[]) =>
        all.filter((one) => Math.min(one.offsetWidth, one.offsetHeight) < 44).map(({ textContent }) => textContent),
      );
    expect(small).toEqual([]);
  });

  test('is used by the keyboard alone, in the order of the eye', async () => {
    const page = await open();
    await page.hasFocus(page.message);
    await page.page.keyboard.type('Good morning');
    await page.page.keyboard.press('Enter');
    await page.answer();
    await page.button('Delete “Good morning”').waitFor(); // the conversation is kept, and listed
    await walk(page); // to the end of the page
    const order = await walk(page);
    expect(order).toEqual([
      'Skip to the message',
      'New conversation',
      'Transcribe a file',
      'Search conversations',
      'Good morning',
      'Delete “Good morning”',
      'Save as Markdown',
      'Options',
      'API reference',
      'Models. Chat: Sandbox chat',
      'Copy your message “Good morning”',
      'Edit your message “Good morning”',
      'Read aloud',
      'Copy the answer to “Good morning”',
      'Regenerate the answer to “Good morning”',
      'Message',
      'Speak',
      'Hands-free',
      'File',
      'Read answers aloud',
      'Read aloud what you typed',
      'Send',
    ]);
  });

  test('breaks the line with Shift+Enter, and sends nothing while a word is composed', async () => {
    const page = await open();
    await page.message.pressSequentially('one');
    await page.message.press('Shift+Enter');
    await page.message.pressSequentially('two');
    await page.message.dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true });
    await page.message.dispatchEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true }); // Safari
    expect(await page.message.inputValue()).toBe('one\ntwo');
    expect(await page.questions.count()).toBe(0);
    await page.message.press('Enter');
    await drawnTextOf(page.questions).toBe('one\ntwo');
  });

  test('tells a screen reader once what was answered, and never a growing text', async () => {
    const page = await open();
    await page.send('one two three four five');
    await page.answer();
    await textOf(page.status).toBe('Answer: You said: one two three four five');
    const { announcements } = await page.observed();
    expect(announcements).toEqual(['Answering.', 'Answer: You said: one two three four five']);
    expect(await page.page.getByRole('log').getAttribute('aria-live')).toBe('off');
  });
});
