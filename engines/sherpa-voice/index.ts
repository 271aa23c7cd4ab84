/** Local speech with Piper voices: sherpa-onnx in a program that stays loaded. The text stays on this machine. */
import {
  EngineError,
  OptionsError,
  defineEngine,
  type Availability,
  type EngineContext,
  type Finding,
  type SpeechCall,
  type SpeechEngine,
} from '../contract/index.ts';
import { linkedSignal, raceAbort } from '../../lib/abort.ts';
import { awaitFirstChunk } from '../lib/await-first-chunk.ts';
import { toSpeakable } from '../lib/espeak-text/speakable.ts';
import { inMebibytes } from '../lib/in-mebibytes.ts';
import { requireFormat } from '../lib/require-format.ts';
import { readyOrBusy, serveModels } from '../lib/serve-models.ts';
import { createHosts, needOf } from './hosts.ts';
import { optionsSchema, type Options, type VoiceOptions } from './options.ts';
import { piecesOf } from './pieces.ts';
import { sayWith, speak } from './speak.ts';
import { createTurns } from './turns.ts';
import { rememberVoiceFile, type VoiceFile } from './voice-file.ts';
import { chooseSpeaker, speakersOf, type Speaker } from './voices.ts';

const defaultId = 'local-voice';
const defaultName = 'Local voice';
const defaultWaiting = 32;
const defaultPauseMs = 200;

export default defineEngine<'speech', Options>({
  contract: 1,
  name: 'sherpa-voice',
  capability: 'speech',
  options: optionsSchema,
  create: (options, context) => createVoice(options, context),
});

interface InspectedVoice extends VoiceOptions {
  readonly found: VoiceFile;
}

async function createVoice(options: Options, context: EngineContext): Promise<SpeechEngine> {
  const { id = defaultId, name = defaultName, waiting = defaultWaiting, sentencePause = defaultPauseMs } = options;
  const slots = options.slots ?? Math.max(1, Math.floor(context.cores / 2));
  const queue = context.queue({ slots, waiting, threads: options.threads ?? 1 });
  const takeTurn = createTurns(queue);
  const hosts = createHosts(options, context);
  const voices = options.voices.map((voice) => ({ ...voice, inspect: rememberVoiceFile(context.resolve(voice.file)) }));

  const inspectVoices = (): Promise<InspectedVoice[]> =>
    Promise.all(voices.map(async ({ inspect, ...voice }) => ({ ...voice, found: await inspect() })));
  checkOptions(options, await inspectVoices());

  const { modelOf, ...served } = serveModels(
    {
      entries: async () => [
        { id, name, local: true, supports, voices: speakersIn(await inspectVoices()).map(toVoice) },
      ],
      find: (model) => (model === id ? id : undefined),
    },
    async (): Promise<Availability> => {
      const found = await inspectVoices();
      const usual = chooseSpeaker(speakersIn(found), {}, options.voice);
      const missing = hosts.missing(usual?.file);
      if (missing !== undefined) return { available: false, code: 'program-missing', reason: missing };
      if (!usual) return { available: false, code: 'model-file-missing', reason: problemOf(found, options.voice) };
      return readyOrBusy(queue);
    },
  );

  async function speakerFor(call: SpeechCall): Promise<Speaker> {
    const found = await inspectVoices();
    const speaker = chooseSpeaker(speakersIn(found), call, options.voice);
    if (speaker) return speaker;
    const { voice } = call;
    if (voice === undefined || voiceOf(found, voice)?.found.ok === false)
      throw new EngineError('model-unavailable', problemOf(found, voice ?? options.voice));
    throw new EngineError('voice-not-supported', `Unknown voice "${voice}"; the list of models contains all voices.`);
  }

  return {
    ...served,
    async synthesize(call, { signal }) {
      modelOf(call.model);
      const { text, format, speed = 1 } = call;
      requireFormat(format, context);
      const { voice, file, speaker } = await speakerFor(call);
      const { sampleRate, lengthScale } = file.config;
      const host = await raceAbort(hosts.open(voice, file), signal);
      const lifetime = linkedSignal(signal);
      const end = () => lifetime.end(new Error('the speech is over'));
      const say = async (piece: string, isFirst: boolean) => {
        const question = { text: toSpeakable(piece), speaker, speed: speed / lengthScale };
        const turn = { signal: lifetime.signal, hasBegun: !isFirst };
        return takeTurn(() => sayWith(host, question, lifetime.signal), turn).catch(async (error: unknown) => {
          throw lifetime.signal.aborted ? error : await hosts.library.explain(error);
        });
      };
      try {
        const samples = speak(piecesOf(text), say, { sampleRate, pauseMs: sentencePause / speed });
        const speech = context.encode({ sampleRate, samples }, format, { signal: lifetime.signal });
        return await awaitFirstChunk(speech, { end, empty: noSound });
      } catch (error) {
        end();
        throw error;
      }
    },
    preparations: async () => [(await hosts.library.preparation()) ?? []].flat(),
    async prepare(call) {
      await hosts.library.install(call);
      for (const { found } of await inspectVoices()) if (found.ok) await hosts.prepare(found);
    },
    async inspect() {
      const found = await inspectVoices();
      const usable = found.flatMap((voice) => (voice.found.ok ? [voice.found] : []));
      return [...(await hosts.inspect(usable)), ...found.map(inspectVoice)];
    },
  };
}

const supports = ['speed'] as const;

const toVoice = ({ id, name, language }: Speaker) => ({ id, name, language });

const speakersIn = (voices: readonly InspectedVoice[]): readonly Speaker[] =>
  voices.flatMap((voice) => (voice.found.ok ? speakersOf(voice, voice.found) : []));

/** The voice of the settings to which a speaker belongs. */
const voiceOf = (voices: readonly InspectedVoice[], speaker: string): InspectedVoice | undefined =>
  voices.find(({ id }) => speaker === id || speaker.startsWith(`${id}/`));

/** Why a voice cannot be used; without a name, why none can. */
function problemOf(voices: readonly InspectedVoice[], speaker: string | undefined): string {
  const voice = speaker === undefined ? voices.find(({ found }) => !found.ok) : voiceOf(voices, speaker);
  return voice?.found.ok === false ? `${voice.found.detail}.` : `There is no voice "${speaker ?? ''}".`;
}

function checkOptions({ voices, voice }: Options, found: readonly InspectedVoice[]): void {
  const ids = voices.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new OptionsError(`Two voices have the id "${twice}".`);
  const speakers = speakersIn(found).map(({ id }) => id);
  const isKnown = voice === undefined || speakers.includes(voice) || voiceOf(found, voice)?.found.ok === false;
  if (!isKnown) throw new OptionsError(`Unknown voice "${voice}"; known: ${speakers.slice(0, 20).join(', ')}.`);
}

function inspectVoice({ id, found }: InspectedVoice): Finding {
  const what = `voice ${id}`;
  if (!found.ok) return { what, ok: false, detail: found.detail };
  const { speakerCount, locale } = found.config;
  const sizes = `${inMebibytes(found.bytes)}, needs up to ${inMebibytes(needOf(found))} loaded`;
  const speakers = speakerCount === 1 ? 'one speaker' : `${speakerCount} speakers`;
  return { what, ok: true, detail: `${sizes}, ${locale}, ${speakers}, ${found.file}` };
}

function noSound(): EngineError {
  return new EngineError('engine-failed', 'The voice produced no audio.');
}
