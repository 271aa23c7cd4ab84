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
  type Voice,
} from '../contract/index.ts';
import { linkedSignal, raceAbort } from '../../lib/abort.ts';
import { awaitFirstChunk } from '../lib/await-first-chunk.ts';
import { cached } from '../lib/cached.ts';
import { toSpeakable } from '../lib/espeak-text/speakable.ts';
import { nameSetup } from '../../lib/setup-command.ts';
import { inMebibytes } from '../lib/in-mebibytes.ts';
import { requireFormat } from '../lib/require-format.ts';
import { readyOrBusy, serveModels } from '../lib/serve-models.ts';
import { createHosts, needOf } from './hosts.ts';
import { defaultVoices, optionsSchema, type Options } from './options.ts';
import { piecesOf } from './pieces.ts';
import { createPreparation, part } from './prepare.ts';
import { sayWith, speak } from './speak.ts';
import { createTurns } from './turns.ts';
import type { VoiceFile } from './voice-file.ts';
import { chooseSpeaker, expectedVoices, speakersOf, toSource, type Speaker, type VoiceSource } from './voices.ts';

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

interface InspectedVoice extends VoiceSource {
  readonly found: VoiceFile;
}

async function createVoice(options: Options, context: EngineContext): Promise<SpeechEngine> {
  const { id = defaultId, name = defaultName, waiting = defaultWaiting, sentencePause = defaultPauseMs } = options;
  const slots = options.slots ?? Math.max(1, Math.floor(context.cores / 2));
  const queue = context.queue({ slots, waiting, threads: options.threads ?? 1 });
  const takeTurn = createTurns(queue);
  const hosts = createHosts(options, context);
  const voices = (options.voices ?? defaultVoices).map((voice) => toSource(voice, context));
  const wanted = voices.flatMap(({ download, inspect, ...voice }) =>
    download ? [{ ...voice, download, isThere: async () => (await inspect()).ok }] : [],
  );
  const preparation = createPreparation({ library: hosts.library, wanted, mirror: options.mirror }, context);

  const inspectVoices = (): Promise<InspectedVoice[]> =>
    Promise.all(voices.map(async (voice) => ({ ...voice, found: await voice.inspect() })));
  /** For listings, which are asked for with every request. */
  let recentVoices = cached(inspectVoices, context.now);
  checkOptions(options, await recentVoices());

  const { modelOf, ...served } = serveModels(
    {
      entries: async () => [{ id, name, local: true, supports, voices: (await recentVoices()).flatMap(toVoices) }],
      find: (model) => (model === id ? id : undefined),
    },
    async () => {
      const problem = await findProblem();
      if (!problem) return readyOrBusy(queue);
      const { failure } = preparation;
      return preparation.availability ?? { ...problem, ...(failure !== undefined && { reason: failure }) };
    },
  );

  async function findProblem(): Promise<Availability | undefined> {
    const unavailable = (code: Availability['code'], reason: string) => ({ available: false, code, reason });
    const missing = hosts.library.missing();
    if (missing !== undefined) return unavailable('program-missing', missing);
    const found = await recentVoices();
    const usual = chooseSpeaker(speakersIn(found), {}, options.voice);
    if (!usual) return unavailable('model-file-missing', problemOf(found, options.voice));
    const lacking = hosts.missing(usual.file);
    return lacking === undefined ? undefined : unavailable('program-missing', lacking);
  }

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
    preparations: () => preparation.list(),
    async prepare(call) {
      await preparation.run(call);
      recentVoices = cached(inspectVoices, context.now);
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

function toVoices(voice: InspectedVoice): readonly Voice[] {
  if (!voice.found.ok) return expectedVoices(voice);
  return speakersOf(voice, voice.found).map(({ id, name, language }) => ({ id, name, language }));
}

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

function checkOptions({ voice }: Options, found: readonly InspectedVoice[]): void {
  const ids = found.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new OptionsError(`Two voices have the id "${twice}".`);
  const speakers = speakersIn(found).map(({ id }) => id);
  const isKnown = voice === undefined || speakers.includes(voice) || voiceOf(found, voice)?.found.ok === false;
  if (!isKnown) throw new OptionsError(`Unknown voice "${voice}"; known: ${speakers.slice(0, 20).join(', ')}.`);
}

function inspectVoice({ id, found, download }: InspectedVoice): Finding {
  const what = `voice ${id}`;
  if (!found.ok) return { what, ok: false, detail: found.detail, ...(download && { fix: nameSetup(part) }) };
  const { speakerCount, locale } = found.config;
  const sizes = `${inMebibytes(found.bytes)}, needs up to ${inMebibytes(needOf(found))} loaded`;
  const speakers = speakerCount === 1 ? 'one speaker' : `${speakerCount} speakers`;
  return { what, ok: true, detail: `${sizes}, ${locale}, ${speakers}, ${found.file}` };
}

function noSound(): EngineError {
  return new EngineError('engine-failed', 'The voice produced no audio.');
}
