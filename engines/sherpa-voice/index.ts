/** Local speech with the voices of Piper, Kokoro, Kitten and Supertonic: sherpa-onnx in a program that stays loaded. The text stays on this machine. */
import {
  EngineError,
  defineEngine,
  type Asset,
  type Availability,
  type EngineContext,
  type ModelEntry,
  type SpeechEngine,
} from '../contract/index.ts';
import { linkedSignal, raceAbort } from '../../lib/abort.ts';
import type { NamedModel } from '../lib/catalogue.ts';
import { awaitFirstChunk } from '../lib/await-first-chunk.ts';
import { notLoadable } from '../lib/sherpa/failure.ts';
import { requireFormat } from '../lib/require-format.ts';
import { pulledId, readyOrBusy, serveModels } from '../lib/serve-models.ts';
import { catalogue, part } from './catalogue.ts';
import { createHosts } from './hosts.ts';
import { optionsSchema, type Options } from './options.ts';
import { sayWith, speak, voicePieces } from './speak.ts';
import { createPieceQueue } from './piece-queue.ts';
import { findSpeaker, openVoices, problemOf } from './voice-set.ts';
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
  const voices = await openVoices(options, context);
  const main: ServedVoices = { id, name, voices, defaultVoice: options.voice };
  const others = await openOthers(voices.assets, options, context);
  const pulled = options.pulled === true ? others : [];
  const { library } = hosts;
  const ofLibrary = library.asset ? [library.asset] : [];

  const { modelOf, ...served } = serveModels(
    {
      entries: async () => [
        await toEntry(main, ofLibrary),
        ...(await Promise.all(pulled.map(async (each) => ((await each.voices.recent()).usable.length > 0 ? [{ ...(await toEntry(each, ofLibrary)), isExplicitOnly: true }] : [])))).flat(), // prettier-ignore
      ],
      find: (model) => [main, ...pulled].find((each) => each.id === model),
    },
    async (model) => (await findProblem(model)) ?? readyOrBusy(queue),
  );

  function namedModels(each: ServedVoices): NamedModel[] {
    const isServed = each === main || pulled.includes(each);
    return each.voices.assets.map((asset) =>
      isServed
        ? { asset, model: each.id }
        : { asset, model: id, settings: `engines.${context.instance}.voices:\n  - ${asset.id}` },
    );
  }

  async function findProblem({ voices, defaultVoice }: ServedVoices): Promise<Availability | undefined> {
    const unavailable = (code: Availability['code'], reason: string) => ({ available: false, code, reason });
    const missing = library.missing();
    if (missing !== undefined) return unavailable('program-missing', missing);
    const found = await voices.recent();
    const speaker = chooseSpeaker(found.speakers, {}, defaultVoice);
    if (!speaker) return unavailable('model-file-missing', problemOf(found.voices, defaultVoice));
    const lacking = hosts.missing(speaker.file);
    if (lacking !== undefined) return unavailable('program-missing', lacking);
    return hosts.isBroken(speaker.file) ? notLoadable(speaker.file.file) : undefined;
  }

  return {
    ...served,
    async synthesize(call, { signal }) {
      const { voices: set, defaultVoice } = modelOf(call.model);
      const { text, format, speed = 1 } = call;
      requireFormat(format, context);
      const { voice, file, speaker, language, lang } = findSpeaker(await set.inspect(), call, defaultVoice);
      const { sampleRate, lengthScale } = file;
      const host = await raceAbort(hosts.open(voice, file), signal);
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
    assets: catalogue.groups({
      part,
      base: ofLibrary,
      configured: voices.assets,
      named: [main, ...others].flatMap(namedModels),
    }),
    async inspect() {
      const { usable, findings } = await voices.inspect();
      return [...(await hosts.inspect(usable)), ...findings()];
    },
  };
}

/** The voices of a model. */
interface ServedVoices {
  readonly id: string;
  readonly name: string;
  readonly voices: Awaited<ReturnType<typeof openVoices>>;
  /** The voice of requests that name none. */
  readonly defaultVoice: string | undefined;
}

/** The model needs the first voice only while no voice is installed. */
async function toEntry({ id, name, voices, ...served }: ServedVoices, library: readonly Asset[]): Promise<ModelEntry> {
  const { listed, speakers } = await voices.recent();
  const defaultVoice = served.defaultVoice ?? speakers[0]?.id;
  const needed = [...library, ...(speakers.length === 0 ? voices.assets.slice(0, 1) : [])];
  const needs = needed.map((asset) => asset.id);
  return {
    id,
    name,
    local: true,
    needs,
    supports,
    voices: listed,
    ...(defaultVoice !== undefined && { defaultVoice }),
  };
}

/** Opens the voices of the catalogue that the settings do not name. */
function openOthers(
  named: readonly { readonly id: string }[],
  { mirror }: Options,
  context: EngineContext,
): Promise<ServedVoices[]> {
  const ids = catalogue.ids.filter((id) => !named.some((download) => download.id === id));
  const open = async (id: string): Promise<ServedVoices> => {
    const voices = await openVoices({ voices: [id], ...(mirror !== undefined && { mirror }) }, context);
    return { id: pulledId(id), name: catalogue.labelOf(id), voices, defaultVoice: undefined };
  };
  return Promise.all(ids.map(open));
}

const supports = ['speed'] as const;

function noSound(): EngineError {
  return new EngineError('engine-failed', 'The voice produced no audio.');
}
