/** Local speech with Piper voices: sherpa-onnx in a program that stays loaded. The text stays on this machine. */
import {
  EngineError,
  defineEngine,
  type Availability,
  type EngineContext,
  type SpeechEngine,
} from '../contract/index.ts';
import { linkedSignal, raceAbort } from '../../lib/abort.ts';
import { awaitFirstChunk } from '../lib/await-first-chunk.ts';
import { toSpeakable } from '../lib/espeak-text/speakable.ts';
import { createPreparation } from '../lib/preparation.ts';
import { requireFormat } from '../lib/require-format.ts';
import { readyOrBusy, serveModels } from '../lib/serve-models.ts';
import { part } from './catalogue.ts';
import { createHosts } from './hosts.ts';
import { optionsSchema, type Options } from './options.ts';
import { piecesOf } from './pieces.ts';
import { sayWith, speak } from './speak.ts';
import { createTurns } from './turns.ts';
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
  const takeTurn = createTurns(queue);
  const hosts = createHosts(options, context);
  const voices = await openVoices(options, context);
  const { library } = hosts;
  const preparation = createPreparation({ part, library, wanted: voices.downloads }, context);

  const { modelOf, ...served } = serveModels(
    {
      entries: async () => {
        const { listed, speakers } = await voices.recent();
        const usual = options.voice ?? speakers[0]?.id;
        const voice = usual === undefined ? undefined : { defaultVoice: usual };
        return [{ id, name, local: true, supports, voices: listed, ...voice }];
      },
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
    const missing = library.missing();
    if (missing !== undefined) return unavailable('program-missing', missing);
    const found = await voices.recent();
    const usual = chooseSpeaker(found.speakers, {}, options.voice);
    if (!usual) return unavailable('model-file-missing', problemOf(found.voices, options.voice));
    const lacking = hosts.missing(usual.file);
    return lacking === undefined ? undefined : unavailable('program-missing', lacking);
  }

  return {
    ...served,
    async synthesize(call, { signal }) {
      modelOf(call.model);
      const { text, format, speed = 1 } = call;
      requireFormat(format, context);
      const { voice, file, speaker } = findSpeaker(await voices.inspect(), call, options.voice);
      const { sampleRate, lengthScale } = file.config;
      const host = await raceAbort(hosts.open(voice, file), signal);
      const lifetime = linkedSignal(signal);
      const end = () => lifetime.end(new Error('the speech is over'));
      const say = async (piece: string, isFirst: boolean) => {
        const question = { text: toSpeakable(piece), speaker, speed: speed / lengthScale };
        const turn = { signal: lifetime.signal, hasBegun: !isFirst };
        return takeTurn(() => sayWith(host, question, lifetime.signal), turn).catch(async (error: unknown) => {
          throw lifetime.signal.aborted ? error : await library.explain(error);
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
      voices.forget();
      for (const file of (await voices.inspect()).usable) await hosts.prepare(file);
    },
    async inspect() {
      const { usable, findings } = await voices.inspect();
      return [...(await hosts.inspect(usable)), ...findings()];
    },
  };
}

const supports = ['speed'] as const;

function noSound(): EngineError {
  return new EngineError('engine-failed', 'The voice produced no audio.');
}
