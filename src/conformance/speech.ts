/** The rules for engines of speech. An engine that keeps them can be put into the settings. */
import {
  EngineError,
  speechFormats,
  type Speech,
  type SpeechCall,
  type SpeechFormat,
} from '../../engines/contract/index.ts';
import { engineErrorOf, expectRefusal, expectThat, promptly, shown, type Check } from './kit.ts';
import {
  check,
  endingChecks,
  firstThatWorks,
  leaveAtSeveralMoments,
  listingChecks,
  localCheck,
  optionsCheck,
  type Opened,
  type Subject,
} from './subject.ts';

const text = 'Yes, no, hello.';

/** What each format is called, and how it begins: an MPEG frame (or ID3 before it), RIFF, Ogg. */
const forms: Readonly<Record<SpeechFormat, { readonly mediaType: string; readonly begins: RegExp }>> = {
  mp3: { mediaType: 'audio/mpeg', begins: /^(ID3|\xff[\xe0-\xff])/ },
  wav: { mediaType: 'audio/wav', begins: /^RIFF....WAVE/s },
  ogg: { mediaType: 'audio/ogg', begins: /^OggS/ },
  opus: { mediaType: 'audio/ogg', begins: /^OggS/ },
};

export const speechChecks: readonly Check<Subject>[] = [
  ...listingChecks('speech'),

  check('listed voices have an id, a name, and a language or null', async ({ registry }) => {
    for (const { entry } of await registry.models('speech')) {
      for (const voice of entry.voices ?? []) {
        const { id, name, language } = voice;
        const isNamed = typeof id === 'string' && id !== '' && typeof name === 'string' && name !== '';
        expectThat(isNamed, `${entry.id} has the voice ${shown(voice)}`);
        const isCode = language === null || (typeof language === 'string' && /^[a-z]{2}$/.test(language));
        expectThat(isCode, `the voice ${id} has the language ${shown(language)}, neither two letters nor null`);
      }
    }
  }),

  check('a model that it does not serve is refused', async (opened) => {
    const call = synthesize(opened, { model: 'no-such-model' });
    await expectRefusal('unknown-model', call, 'the model "no-such-model"');
  }),

  check('a text becomes sound, and a longer one more of it', async (opened) => {
    const short = await soundOf(await synthesize(opened), 'mp3');
    const long = await soundOf(await synthesize(opened, { text: text.repeat(20) }), 'mp3');
    const isLonger = long.length > 2 * short.length;
    expectThat(isLonger, `20 times the text makes ${long.length} bytes, once ${short.length}`);
  }),

  check('every format is made, or refused as one that is not offered', async (opened) => {
    for (const format of speechFormats) {
      const speech = await unlessNotOffered(synthesize(opened, { format }), format);
      if (speech) await soundOf(speech, format);
    }
  }),

  check('a voice that is not listed is refused, where voices are listed', async (opened) => {
    const { entry } = await firstThatWorks(opened.registry, 'speech');
    if (!entry.voices?.length) return;
    const call = synthesize(opened, { voice: 'no-such-voice' });
    await expectRefusal('voice-not-supported', call, 'the voice "no-such-voice"');
  }),

  check('a text without a word does no harm', async (opened) => {
    const outcome = synthesize(opened, { text: '… 🙂' });
    const speech = await outcome.catch(() => undefined);
    if (speech) await soundOf(speech, 'mp3');
    else await engineErrorOf(outcome, 'a text without a word');
  }),

  check('a caller who leaves is let go at once, with the reason', async (opened) => {
    const call = { text: text.repeat(20) };
    await leaveAtSeveralMoments(opened, async (signal) => soundOf(await synthesize(opened, call, signal), 'mp3'));
  }),

  check('who stops listening is let go at once', async (opened) => {
    const { audio } = await synthesize(opened, { text: text.repeat(200) });
    const chunks = audio[Symbol.asyncIterator]();
    await chunks.next();
    await promptly(Promise.resolve(chunks.return?.()), 'leaving after the first bytes');
  }),

  localCheck('speech', endInEveryWay),

  ...endingChecks(endInEveryWay),

  optionsCheck,
];

/** A success, a failure, and a caller who leaves. */
async function endInEveryWay(opened: Opened<Subject>, call: Partial<SpeechCall> = {}): Promise<void> {
  await soundOf(await synthesize(opened, call), 'mp3');
  await synthesize(opened, { model: 'no-such-model' }).catch(() => undefined);
  const gone = AbortSignal.timeout(20);
  await synthesize(opened, call, gone)
    .then(async (speech) => soundOf(speech, 'mp3'))
    .catch(() => undefined);
}

/** Asks the first model that works, unless the call names another. */
async function synthesize(
  { registry }: Opened<Subject>,
  call: Partial<SpeechCall> = {},
  signal = new AbortController().signal,
): Promise<Speech> {
  const { engine, engineId } = await firstThatWorks(registry, 'speech');
  return engine.synthesize({ text, model: engineId, format: 'mp3', ...call }, { signal });
}

async function soundOf(speech: Speech, format: SpeechFormat): Promise<Buffer> {
  const { mediaType, audio } = Object(speech) as Partial<Speech>;
  const isSpeech = audio !== undefined && Symbol.asyncIterator in Object(audio);
  expectThat(isSpeech, `the answer is ${shown(speech)}, not { mediaType, audio } with an async iterable of bytes`);
  const form = forms[format];
  expectThat(mediaType === form.mediaType, `${format} is said to be ${shown(mediaType)}, not ${form.mediaType}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of audio) {
    expectThat(chunk instanceof Uint8Array, `the audio yields ${typeof chunk}, not bytes (Uint8Array)`);
    chunks.push(chunk);
  }
  const sound = Buffer.concat(chunks);
  expectThat(
    form.begins.test(sound.toString('latin1', 0, 12)),
    `${format} begins with ${shown(sound.subarray(0, 12))}`,
  );
  if (format === 'wav') expectWholeWav(sound);
  return sound;
}

/** A program's WAV that is taken for samples is a click at the start; one that is passed on has no true length. */
function expectWholeWav(file: Buffer): void {
  let position = 12;
  while (position + 8 <= file.length) {
    const id = file.toString('latin1', position, position + 4);
    const bytes = file.readUInt32LE(position + 4);
    const start = position + 8;
    expectThat(
      start + bytes <= file.length,
      `the header of the wav says ${bytes} bytes of ${shown(id)}, but ${file.length - start} follow`,
    );
    const isClick = id === 'data' && /^RIFF....WAVE/s.test(file.toString('latin1', start, start + 12));
    expectThat(
      !isClick,
      'the sound begins with the header of a WAV file, which is heard as a click: read what a program writes with context.readWav',
    );
    position = start + bytes + (bytes % 2);
  }
  expectThat(
    position >= file.length,
    `the wav ends with ${file.length - position} bytes that its header does not know`,
  );
}

async function unlessNotOffered(call: Promise<Speech>, format: SpeechFormat): Promise<Speech | undefined> {
  return call.catch((error: unknown) => {
    const isNotOffered = EngineError.is(error) && error.code === 'format-not-supported';
    expectThat(isNotOffered, `the format ${format} is neither made nor refused as one that is not offered`, error);
    return undefined;
  });
}
