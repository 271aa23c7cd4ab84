/** The conformance checks for speech engines. An engine that passes can be used in the settings. */
import {
  EngineError,
  pcmFormat,
  speechFormats,
  speechMediaTypes,
  type Speech,
  type SpeechCall,
  type SpeechFormat,
} from '../../engines/contract/index.ts';
import { audioSignatures } from '../../lib/audio-signatures.ts';
import { isWav } from '../../lib/wav.ts';
import {
  engineErrorOf,
  expectAccepted,
  expectLanguage,
  expectRejection,
  expectThat,
  promptly,
  shown,
  type Check,
} from './kit.ts';
import { check, checksFor, featuresOf, firstAvailable, type Calls, type Opened, type Subject } from './subject.ts';

const text = 'Yes, no, hello.';
const longCall = { text: text.repeat(20) };

/** MP3 begins with a frame or an ID3 tag; raw samples have no signature. */
const beginnings: Readonly<Record<SpeechFormat, RegExp>> = {
  ...audioSignatures,
  mp3: /^(ID3|\xff[\xe0-\xff])/,
  opus: audioSignatures.ogg,
  pcm: /^(?!RIFF|OggS|fLaC|ID3)/,
};

const calls: Calls<Subject> = {
  succeed: async (opened, changes, signal) =>
    audioOf(await synthesize(opened, { ...longCall, ...changes }, signal), 'mp3'),
  fail: async (opened) => synthesize(opened, { model: 'no-such-model' }),
};

export const speechChecks: readonly Check<Subject>[] = checksFor('speech', calls, [
  check('listed voices have an id, a name, and a language or null; the default is one of them', ({ registry }) => {
    for (const { entry } of registry.of('speech').all) {
      const { voices = [], defaultVoice } = entry;
      const isListed =
        defaultVoice === undefined || voices.length === 0 || voices.some(({ id }) => id === defaultVoice);
      expectThat(isListed, `${entry.id} lists no voice ${shown(defaultVoice)}, its default`);
      for (const voice of voices) {
        const { id, name, language } = voice;
        const isNamed = typeof id === 'string' && id !== '' && typeof name === 'string' && name !== '';
        expectThat(isNamed, `${entry.id} has the voice ${shown(voice)}`);
        expectLanguage(language, `the voice ${id}`);
      }
    }
  }),

  check('text becomes audio, and longer text more audio', async (opened) => {
    const short = await audioOf(await synthesize(opened), 'mp3');
    const long = await audioOf(await synthesize(opened, longCall), 'mp3');
    const isLonger = long.length > 2 * short.length;
    expectThat(isLonger, `the text 20 times makes ${long.length} bytes, the text once ${short.length}`);
  }),

  check('every format is produced or rejected with format-not-supported', async (opened) => {
    for (const format of speechFormats) {
      const speech = await ifSupported(synthesize(opened, { format }), format);
      if (speech) await audioOf(speech, format);
    }
  }),

  check('pcm has the rate of the format', async (opened) => {
    const soundIn = async (format: SpeechFormat) => {
      const speech = await ifSupported(synthesize(opened, { ...longCall, format }), format);
      return speech && audioOf(speech, format);
    };
    const [pcm, wav] = [await soundIn('pcm'), await soundIn('wav')];
    if (!pcm || !wav) return 'the engine makes no pcm or no wav';
    const [ms, expected] = [pcm.length / (pcmFormat.sampleRate / 500), lengthOfWav(wav)];
    const isSame = Math.abs(ms - expected) < 0.2 * expected; // some voices vary from call to call
    expectThat(isSame, `as pcm the text takes ${Math.round(ms)} ms, as wav ${Math.round(expected)} ms`);
    return undefined;
  }),

  check('a model that supports a speed keeps to it', async (opened) => {
    if (!featuresOf(opened.registry, 'speech').includes('speed')) return 'the model does not support a speed';
    const lengthAt = async (speed: number) => {
      return (await audioOf(await synthesize(opened, { ...longCall, speed }), 'mp3')).length;
    };
    const [slow, normal, fast] = [await lengthAt(0.5), await lengthAt(1), await lengthAt(2)];
    const isInverse = slow > 1.5 * normal && fast < 0.75 * normal;
    expectThat(isInverse, `at the speeds 0.5, 1 and 2 the audio has ${slow}, ${normal} and ${fast} bytes`);
    return undefined;
  }),

  check('a model that supports instructions accepts them', async (opened) => {
    if (!featuresOf(opened.registry, 'speech').includes('instructions'))
      return 'the model does not support instructions';
    const spoken = expectAccepted(synthesize(opened, { instructions: 'Speak slowly.' }), 'a call with instructions');
    await audioOf(await spoken, 'mp3');
    return undefined;
  }),

  check('an unlisted voice is rejected if voices are listed', async (opened) => {
    const { entry } = firstAvailable(opened.registry, 'speech');
    if (!entry.voices?.length) return 'the model lists no voices';
    const call = synthesize(opened, { voice: 'no-such-voice' });
    await expectRejection('voice-not-supported', call, 'the voice "no-such-voice"');
    return undefined;
  }),

  check('text without words returns audio or an EngineError', async (opened) => {
    const outcome = synthesize(opened, { text: '… 🙂' });
    const speech = await outcome.catch(() => undefined);
    if (speech) await audioOf(speech, 'mp3');
    else await engineErrorOf(outcome, 'a text without a word');
  }),

  check('the stream ends promptly when the consumer stops reading', async (opened) => {
    const { audio } = await synthesize(opened, { text: text.repeat(200) });
    const chunks = audio[Symbol.asyncIterator]();
    await chunks.next();
    await promptly(Promise.resolve(chunks.return?.()), 'return() after the first bytes');
  }),
]);

/** Calls the first available model unless the call names another one. */
async function synthesize(
  { registry }: Opened<Subject>,
  call: Partial<SpeechCall> = {},
  signal = new AbortController().signal,
): Promise<Speech> {
  const { engine, engineId } = firstAvailable(registry, 'speech');
  return engine.synthesize({ text, model: engineId, format: 'mp3', ...call }, { signal });
}

async function audioOf(speech: Speech, format: SpeechFormat): Promise<Buffer> {
  const { mediaType, audio } = Object(speech) as Partial<Speech>;
  const isSpeech = audio !== undefined && Symbol.asyncIterator in Object(audio);
  expectThat(isSpeech, `the answer is ${shown(speech)}, not { mediaType, audio } with an async iterable of bytes`);
  const expected = speechMediaTypes[format];
  expectThat(mediaType === expected, `${format} has the media type ${shown(mediaType)}, not ${expected}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of audio) {
    expectThat(chunk instanceof Uint8Array, `the audio yields ${typeof chunk}, not bytes (Uint8Array)`);
    chunks.push(chunk);
  }
  const sound = Buffer.concat(chunks);
  expectThat(
    beginnings[format].test(sound.toString('latin1', 0, 12)),
    `${format} begins with ${shown(sound.subarray(0, 12))}`,
  );
  if (format === 'wav') expectWholeWav(sound);
  if (format === 'pcm') expectThat(sound.length % 2 === 0, `the pcm has ${sound.length} bytes: half a sample too many`);
  return sound;
}

/** Returns the length of a WAV file in milliseconds, from the size of its samples and the byte rate in its header. */
function lengthOfWav(file: Buffer): number {
  return (expectWholeWav(file) * 1000) / file.readUInt32LE(28);
}

/**
 * Detects a WAV file embedded as samples, whose header would play as a click, and a piped WAV file with a wrong length.
 * Returns the size of the samples in bytes.
 */
function expectWholeWav(file: Buffer): number {
  let position = 12;
  let sampleBytes = 0;
  while (position + 8 <= file.length) {
    const id = file.toString('latin1', position, position + 4);
    const bytes = file.readUInt32LE(position + 4);
    const start = position + 8;
    expectThat(
      start + bytes <= file.length,
      `the WAV header declares ${bytes} bytes of ${shown(id)}, but ${file.length - start} follow`,
    );
    const isClick = id === 'data' && isWav(file.subarray(start));
    expectThat(
      !isClick,
      'the samples begin with a WAV header, which plays as a click: read the output of programs with context.readWav',
    );
    if (id === 'data') sampleBytes = bytes;
    position = start + bytes + (bytes % 2);
  }
  expectThat(position >= file.length, `the wav has ${file.length - position} bytes more than its header declares`);
  return sampleBytes;
}

async function ifSupported(call: Promise<Speech>, format: SpeechFormat): Promise<Speech | undefined> {
  return call.catch((error: unknown) => {
    const isUnsupported = EngineError.is(error) && error.code === 'format-not-supported';
    expectThat(isUnsupported, `${format} is neither produced nor rejected with format-not-supported`, error);
    return undefined;
  });
}
