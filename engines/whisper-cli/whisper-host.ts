/**
 * Runs whisper-host (host/host.cpp): as processes that keep a model loaded, one per slot because each transcribes one
 * recording at a time, and as a process for a single recording.
 */
import { type EngineContext, EngineError, type Resident } from '../contract/index.ts';
import { programOf } from '../lib/local-models.ts';
import { needOf, type Model, type UsableFile } from './models.ts';
import { decodeBytes, isSegment, type RawTranscript, type Segment, toRawTranscript } from './transcript.ts';
import { hardLimitMs, spinLimit, type WhisperCall, type WhisperOptions } from './whisper-call.ts';
import { LineSplitter, toJsonLine } from '../../lib/json-lines.ts';
import { isObject, parseObject } from '../../lib/json.ts';
import { lastLine } from '../../lib/text.ts';

interface LoadedModelsOptions {
  readonly slots: number;
  /** Seconds. */
  readonly idleUnload: number;
  readonly programs: {
    /** Path of whisper-host, if it was found. */
    readonly host: string | undefined;
  };
}

export function createLoadedModels(
  { slots, idleUnload, programs }: LoadedModelsOptions,
  context: Pick<EngineContext, 'resident'>,
) {
  /**
   * Empty if whisper-host is not built, or if the model has VAD: whisper.cpp supports that only with its default state.
   */
  function residentsOf(model: Model, found: UsableFile): readonly Resident[] {
    const { host } = programs;
    if (host === undefined || model.vad !== undefined) return [];
    const common = programOf(model, found, idleUnload);
    const own = { program: host, args: [model.file], env: spinLimit, memory: needOf(found), isOptional: true };
    const names = Array.from({ length: slots }, (_, slot) => (slots === 1 ? model.id : `${model.id} (${slot + 1})`));
    return names.map((name) => context.resident({ ...common, ...own, name }));
  }

  return {
    /** Returns a free process, preferably with the model loaded; undefined if none is free. */
    free(model: Model, file: UsableFile): Resident | undefined {
      const free = residentsOf(model, file).filter(({ isFree }) => isFree);
      return free.find(({ state }) => state === 'loaded') ?? free.find(({ state }) => state === 'loading') ?? free[0];
    },
  };
}

export async function runHost(
  host: Pick<Resident, 'call'>,
  call: WhisperCall,
  { signal, onRaw }: WhisperOptions,
): Promise<RawTranscript> {
  const transcription: Segment[] = [];
  const done = await host.call(questionOf(call), {
    signal,
    onMessage({ segment }) {
      if (!isSegment(segment)) throw unexpected();
      transcription.push(segment);
      if (segment.offsets) onRaw?.({ ...segment.offsets, text: decodeBytes(segment.text) });
    },
  });
  if (!isObject(done) || typeof done.language !== 'string') throw unexpected();
  if (call.translate && done.translated !== true) throw unexpected(); // the program is from an earlier release
  return toRawTranscript({ result: { language: done.language }, transcription }, call.requested);
}

function questionOf({ audio, language, languages, threads, requested, prompt = '', ...call }: WhisperCall) {
  const { carriesPrompt, translate = false, temperature = 0, audioContext = 0 } = call;
  const words = requested.timestamps.includes('word');
  return { ...audio, language, languages, threads, words, prompt, carriesPrompt, translate, temperature, audioContext };
}

function unexpected(): EngineError {
  const cause = new Error('whisper-host wrote a message of an unexpected structure');
  return new EngineError('engine-failed', 'The loaded model failed.', { cause });
}

const maxMessageBytes = 1_048_576;

export function singleHost(program: string, modelFile: string, context: EngineContext): Pick<Resident, 'call'> {
  return {
    async call(question, { signal, onMessage }) {
      const answered = Promise.withResolvers<undefined>();
      async function* input() {
        yield Buffer.from(toJsonLine({ ...question, id: 1 }));
        await answered.promise; // the program exits when its stdin closes
      }
      const call = { signal, timeoutMs: hardLimitMs, cwd: '/', env: spinLimit, input: input() };
      const { output, exit } = context.start(program, [modelFile], call);
      const lines = new LineSplitter(maxMessageBytes, 'throw');
      try {
        for await (const chunk of output) {
          for (const line of lines.push(chunk)) {
            const { id, ...message } = parseObject(line) ?? {};
            if ('error' in message) throw failed(String(message.error));
            if ('done' in message) return message.done;
            if (id !== undefined) onMessage?.(message);
          }
        }
      } finally {
        answered.resolve(undefined);
      }
      const { code, stderr } = await exit;
      throw failed(`whisper-host ended with exit code ${String(code)}; output: ${lastLine(stderr)}`);
    },
  };
}

function failed(why: string): EngineError {
  return new EngineError('engine-failed', 'The transcription program failed.', { cause: new Error(why) });
}
