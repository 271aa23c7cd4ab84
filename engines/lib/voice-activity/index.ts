/**
 * Detects speech in samples, with Silero's model and sherpa-onnx. Both are installed at startup, together with local
 * transcription.
 */
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
import { lengthOf } from '../../../lib/wav.ts';
import { setupCommand } from '../../../lib/setup-command.ts';
import { namedRuntime, openLibrary, type LibraryOptions } from '../sherpa/library.ts';
import { explained, rememberFiles, type Judged } from '../model-files.ts';
import { readOnnxFile } from '../sherpa/onnx-file.ts';
import { scriptCommand } from '../host-program/script-command.ts';
import type { HostAnswer, HostOptions } from './host.ts';
import { installWeights, weights, weightsPath } from './weights.ts';

export type VoiceActivity = ReturnType<typeof openVoiceActivity>;

const part = 'speech-detection';

/**
 * The group of the detector's assets. Transcription works without them, so they do not count as assets that a
 * configured model needs.
 */
const group = {
  id: part,
  isAutomatic: true,
  title: 'Speech detection',
  purpose: 'Good for noisy rooms: silence and noise are not transcribed.',
} as const;

/** Audio to keep before and after each stretch of speech, because an onset in noise is detected late. */
const marginMs = 300;
/** Bytes of memory: 155 MB after two minutes of speech. */
const memory = 160e6;
const idleUnloadMs = 300_000;

/** Twenty times the expected time, plus the time to load on a busy machine. */
const deadlineMs = (durationMs: number): number => 20_000 + durationMs / 10;

/** The library is found as for other engines; the model, in the directory of the settings or in DATA_DIR. */
export function openVoiceActivity({ runtime }: Pick<LibraryOptions, 'runtime'>, context: EngineContext) {
  const library = openLibrary({ runtime, part }, context);
  const named = namedRuntime(runtime, context);
  const own = weightsPath(context.dataDir);
  const files = [...(named === undefined ? [] : [join(context.resolve(named), weights.file)]), own];
  const places = files.map((file) => ({
    file,
    inspect: rememberFiles([file], () => explained(file, () => (readOnnxFile(file), { file }))),
  }));

  /** Searches the directory from the settings, then DATA_DIR. Resolves with undefined if neither has the file. */
  async function findWeights(): Promise<Judged<{ readonly file: string }> | undefined> {
    return places.find(({ file }) => existsSync(file))?.inspect();
  }

  const { title, bytes, license } = weights;
  const ownWeights: MadeAsset = {
    ...{ kind: 'made', id: 'silero-vad', title, bytes, license, verb: 'downloading', source: 'npm', path: own },
    isReady: async () => (await findWeights())?.ok === true,
    make: (call) => installWeights(context, call),
  };
  const assets = library.asset ? [library.asset, ownWeights] : library.missing() === undefined ? [ownWeights] : [];

  /** Undefined if something is missing. */
  async function openHost(): Promise<Resident | undefined> {
    const found = await findWeights();
    if (!found?.ok || library.missing() !== undefined) return undefined;
    const options: HostOptions = { library: library.open(), model: found.file };
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
     * Resolves with the speech in decoded audio, with some audio around it: in order, without overlaps, in
     * milliseconds from the start of the audio. Resolves with undefined if the detector is not installed, would have to
     * wait for memory, or has failed, which is logged. Rejects only with the signal's reason.
     */
    async find(sound: Decoded, signal: AbortSignal): Promise<readonly Span[] | undefined> {
      const durationMs = lengthOf(sound);
      try {
        const host = await raceAbort(openHost(), signal);
        if (!host || (host.state === 'unloaded' && !host.isFree)) return undefined;
        const late = () => new EngineError('engine-timeout', 'Voice activity detection timed out.');
        using deadline = startTimeout(deadlineMs(durationMs), late, signal);
        return withMargins(await ask(host, sound, deadline.signal), durationMs);
      } catch (err) {
        signal.throwIfAborted();
        context.log.warn({ err }, 'voice activity detection has failed; the whole recording is transcribed');
        return undefined;
      }
    },
    /** Searches for the library again. */
    look: () => library.look(),
    /** Starts to load the detector if it is installed and does not have to wait for a busy program. */
    async preload(): Promise<void> {
      (await openHost())?.preload();
    },
    /** No group if upstream has no binary, or if the directory in the settings lacks the library. */
    groups: assets.length > 0 ? [{ ...group, assets }] : [],
    /** The detector is optional. */
    async inspect(): Promise<Finding[]> {
      const what = 'Silero VAD';
      const found = await findWeights();
      if (!found) return [];
      if (!found.ok) return [{ what, ok: false, detail: found.detail, fix: setupCommand }];
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
