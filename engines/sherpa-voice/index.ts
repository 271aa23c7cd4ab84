/** Local speech with the voices of Piper, Kokoro, Kitten and Supertonic: sherpa-onnx in a program that stays loaded. The text stays on this machine. */
import {
  EngineError,
  defineEngine,
  type Availability,
  type EngineContext,
  type ModelEntry,
  type SpeechCall,
  type SpeechEngine,
} from '../contract/index.ts';
import { linkedSignal, raceAbort } from '../../lib/abort.ts';
import { awaitFirstChunk } from '../lib/await-first-chunk.ts';
import { requireFormat } from '../lib/require-format.ts';
import { openLocalModels, pulledId, unavailable, type LocalModel } from '../lib/local-models.ts';
import { catalog, part } from './catalog.ts';
import { createHosts } from './hosts.ts';
import { optionsSchema, type Options } from './options.ts';
import { sayWith, speak, voicePieces } from './speak.ts';
import { createPieceQueue } from './piece-queue.ts';
import { findSpeaker, openVoices, problemOf, type VoiceSet, type Voices } from './voice-set.ts';
import { chooseSpeaker } from './voices.ts';

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

async function createVoice(options: Options, context: EngineContext): Promise<SpeechEngine> {
  const { id = defaultId, name = defaultName, waiting = defaultWaiting, sentencePause = defaultPauseMs } = options;
  const slots = options.slots ?? Math.max(1, Math.floor(context.cores / 2));
  const queue = context.queue({ slots, waiting, threads: options.threads ?? 1 });
  const runPiece = createPieceQueue(queue);
  const hosts = createHosts(options, context);
  const main = await toModel({ id, name, options }, context);
  const others = await openOthers(main.downloads, options, context);
  const { library } = hosts;

  const { models, modelOf, recheck, groupsOf } = await openLocalModels(context, {
    ...{ catalog, configured: [main], others, pulled: options.pulled, base: library.asset ? [library.asset] : [] },
    async look() {
      hosts.look();
      await Promise.all([main, ...others].map(({ voices }) => voices.clean()));
    },
    problem() {
      const reason = library.problem();
      return reason === undefined ? undefined : unavailable('program-missing', reason);
    },
    describe,
    toServe: (_, asset) => ({ model: id, settings: `engines.${context.instance}.voices:\n  - ${asset.id}` }),
  });

  async function describe({ voices, ...served }: SpokenModel): Promise<Partial<ModelEntry>> {
    const found = await voices.inspect();
    const { listed, speakers } = found;
    const availability = availabilityOf(found, served.defaultVoice);
    const defaultVoice = served.defaultVoice ?? speakers[0]?.id;
    // The model needs the first voice only while no voice is installed.
    const needed = [library.asset ?? [], speakers.length === 0 ? voices.assets.slice(0, 1) : []].flat();
    return {
      ...{ supports: ['speed'], voices: listed, needs: needed.map((asset) => asset.id) },
      ...(defaultVoice !== undefined && { defaultVoice }),
      ...(availability && { availability }),
    };
  }

  function availabilityOf({ voices, speakers }: VoiceSet, defaultVoice: string | undefined): Availability | undefined {
    const speaker = chooseSpeaker(speakers, {}, defaultVoice);
    if (!speaker) return unavailable('model-file-missing', problemOf(voices, defaultVoice));
    const lacking = hosts.missing(speaker.file);
    return lacking === undefined ? undefined : unavailable('program-missing', lacking);
  }

  async function openVoice(call: Pick<SpeechCall, 'model' | 'voice' | 'language'>) {
    const { id, voices, defaultVoice } = modelOf(call.model);
    const set = await voices.inspect();
    const found = findSpeaker(set, call, defaultVoice);
    const isDefault = chooseSpeaker(set.speakers, {}, defaultVoice)?.file === found.file;
    return { ...found, host: await hosts.open(found.voice, found.file, isDefault ? id : undefined) };
  }

  return {
    models,
    recheck,
    async warmUp(call) {
      (await openVoice(call)).host.preload();
    },
    async synthesize(call, { signal }) {
      const { text, format, speed = 1 } = call;
      requireFormat(format, context);
      const { host, file, speaker, language, lang } = await raceAbort(openVoice(call), signal);
      const { sampleRate, lengthScale } = file;
      const lifetime = linkedSignal(signal);
      const end = () => lifetime.end(new Error('the speech is over'));
      const say = async (piece: string, isFirst: boolean) => {
        const question = { text: file.toSpeakable(piece, language), speaker, speed: speed / lengthScale, lang };
        if (!/[\p{L}\p{N}\p{S}]/u.test(question.text)) return new Int16Array(); // the library fails, or never ends
        const options = { signal: lifetime.signal, hasBegun: !isFirst };
        return runPiece(() => sayWith(host, question, lifetime.signal), options).catch(async (error: unknown) => {
          throw lifetime.signal.aborted ? error : await library.explain(error);
        });
      };
      try {
        const samples = speak(voicePieces(text), say, { sampleRate, pauseMs: sentencePause / speed });
        const speech = context.encode({ sampleRate, samples }, format, { signal: lifetime.signal });
        return await awaitFirstChunk(speech, { end, empty: noSound });
      } catch (error) {
        end();
        throw error;
      }
    },
    assets: groupsOf({ part }),
    async inspect() {
      const { usable, findings } = await main.voices.inspect();
      return [...(await hosts.inspect(usable)), ...findings()];
    },
  };
}

/** A model and its voices. */
interface SpokenModel extends LocalModel {
  readonly voices: Voices;
  /** The voice of requests that name none. */
  readonly defaultVoice: string | undefined;
}

interface ModelOptions {
  readonly id: string;
  readonly name: string;
  readonly options: Options;
}

async function toModel({ id, name, options }: ModelOptions, context: EngineContext): Promise<SpokenModel> {
  const voices = await openVoices(options, context);
  const inspect = async () => {
    const { usable, voices: all } = await voices.inspect();
    return usable.length > 0 ? ({ ok: true } as const) : { ok: false as const, detail: problemOf(all, options.voice) };
  };
  return { id, name, voices, inspect, downloads: voices.assets, defaultVoice: options.voice };
}

/** Opens the voices of the catalog that the settings do not name. */
function openOthers(
  named: readonly { readonly id: string }[],
  { mirror }: Options,
  context: EngineContext,
): Promise<SpokenModel[]> {
  const ids = catalog.ids.filter((id) => !named.some((download) => download.id === id));
  const optionsOf = (id: string): Options => ({ voices: [id], ...(mirror !== undefined && { mirror }) });
  const open = (id: string) =>
    toModel({ id: pulledId(id), name: catalog.labelOf(id), options: optionsOf(id) }, context);
  return Promise.all(ids.map(open));
}

function noSound(): EngineError {
  return new EngineError('engine-failed', 'The voice produced no audio.');
}
