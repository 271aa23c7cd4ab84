/**
 * Finds the speakers of a recording with sherpa-onnx. It is disabled until the library and both model files are
 * installed.
 */
import {
  EngineError,
  type AssetGroup,
  type Decoded,
  type EngineContext,
  type Finding,
  type FoundSpeakers,
  type Resident,
  type SpeakerFinder,
  type SpeakerOptions,
  type SpeakerSpan,
} from '../../contract/index.ts';
import { startTimeout } from '../../../lib/abort.ts';
import { lengthOf, samplesPerMs } from '../../../lib/wav.ts';
import { scriptCommand } from '../host-program/script-command.ts';
import type { Judged } from '../model-files.ts';
import type { Library } from '../sherpa/library.ts';
import type { HostDistances, HostOptions, HostProgress, HostQuestion, HostSpans } from './host.ts';
import { defaultThreshold, type SpeakersOptions } from './options.ts';
import { assetId, catalog, inspectFolder, type SpeakerFiles } from './models.ts';

const hourMs = 3_600_000;
const longestMs = 24 * hourMs;
const idleUnloadMs = 30_000;
const waiting = 32;

/**
 * Returns the shift of the windows, as a share of their length. The memory grows with the square of the number of
 * windows, and a smaller shift hardly finds more.
 */
function stepOf(durationMs: number): number {
  if (durationMs <= hourMs / 2) return 0.1;
  return durationMs <= 2 * hourMs ? 0.25 : 0.5;
}

/** Pieces of speech to cluster per hour of audio, with a step of 0.1. */
const piecesPerHour = 6_758;
const megabyte = 1_000_000;

/**
 * Memory in bytes for a recording: the library holds two copies of the samples, copies of the files, and a triangular
 * matrix of doubles. Measured with handmade models: 0.84 GB for an hour, 2.87 GB for four. Rounded up, so that recordings
 * of about the same length share a program.
 */
function needOf(durationMs: number, fileBytes: number): number {
  const pieces = (piecesPerHour * 0.1 * durationMs) / hourMs / stepOf(durationMs);
  const bytes = 160 * megabyte + 3 * fileBytes + 12 * samplesPerMs * durationMs + 4 * pieces ** 2;
  return Math.ceil(bytes / (100 * megabyte)) * 100 * megabyte;
}

/** Length in milliseconds of the longest recording whose memory is within the budget, to within a minute. */
function longestWithin(budget: number, fileBytes: number): number {
  let [fits, tooLong] = [0, longestMs];
  while (tooLong - fits > 60_000) {
    const middle = (fits + tooLong) / 2;
    if (needOf(middle, fileBytes) <= budget) fits = middle;
    else tooLong = middle;
  }
  return Math.floor(fits);
}

export async function openSpeakers(
  options: SpeakersOptions & { readonly mirror?: string | undefined },
  library: Library,
  context: EngineContext,
) {
  const { threshold = defaultThreshold, mirror } = options;
  const isOwn = options.folder === undefined;
  const folder = isOwn ? catalog.pathOf(assetId, context) : context.resolve(options.folder);
  const inspect = inspectFolder(folder);
  const queue = context.queue({ slots: 1, waiting, threads: 1 });
  const asset = catalog.asset(assetId, context, mirror, {
    isReady: async () => (await inspect()).ok,
    memoryOf: (bytes) => needOf(hourMs, bytes),
  });
  const longest = (found: Judged<SpeakerFiles>) =>
    found.ok ? longestWithin(context.memoryBudget, found.bytes) : undefined;
  let files = await inspect();
  let maxMs = longest(files); // computed in advance, because every list of models reads it

  function open(durationMs: number): Resident {
    if (!files.ok) throw new EngineError('model-unavailable', `${files.detail}.`);
    const { segmentation, embedding, bytes, stamp } = files;
    const hostOptions: HostOptions = { library: library.open(), segmentation, embedding, threshold };
    const command = scriptCommand('host', import.meta.url, JSON.stringify(hostOptions));
    const memory = needOf(durationMs, bytes);
    const opened = isOwn ? { files: [segmentation, embedding] } : {};
    return context.resident({ name: assetId, ...command, ...opened, version: stamp, memory, idleUnloadMs });
  }

  async function ask(
    sound: Decoded,
    { signal, clusters, references = [], onProgress }: SpeakerOptions,
  ): Promise<FoundSpeakers> {
    const durationMs = lengthOf(sound);
    const late = () => new EngineError('engine-timeout', 'The speakers were not found in time.');
    using deadline = startTimeout(durationMs + 60_000, late, signal);
    const question: HostQuestion = {
      ...placeOf(sound),
      step: stepOf(durationMs),
      clusters,
      references: references.map(placeOf),
    };
    const spans: SpeakerSpan[] = [];
    const done = await open(durationMs).call(
      { ...question },
      {
        signal: deadline.signal,
        onMessage(message) {
          const { progress, spans: more = [] } = message as Partial<HostProgress & HostSpans>;
          if (progress !== undefined) onProgress?.(progress);
          for (const [startMs, endMs, speaker] of more) spans.push({ startMs, endMs, speaker });
        },
      },
    );
    return { spans, ...(done as HostDistances) };
  }

  const finder: SpeakerFinder = {
    get maxMs() {
      return library.missing() === undefined ? maxMs : undefined;
    },
    find: (sound, call) => queue.run(() => ask(sound, call), { signal: call.signal }),
  };
  const group: AssetGroup = {
    ...{ id: assetId, title: catalog.labelOf(assetId), purpose: catalog.find(assetId)?.purpose ?? '' },
    assets: [...(library.asset ? [library.asset] : []), asset],
  };
  return {
    finder,
    /** Checks the files again. */
    async look(): Promise<void> {
      files = await inspect();
      maxMs = longest(files);
    },
    groups: isOwn ? [group] : [],
    /** The models are optional, unless the settings name a folder. */
    async inspect(): Promise<Finding[]> {
      const found = await inspect();
      if (found.ok) return [{ what: assetId, ok: true, detail: folder }];
      return isOwn ? [] : [{ what: assetId, ok: false, detail: found.detail }];
    },
  };
}

const placeOf = ({ wavPath, startMs, endMs }: Decoded) => ({ wavPath, startMs, endMs });
