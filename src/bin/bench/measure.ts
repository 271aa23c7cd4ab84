/**
 * Measures one model with separately opened engines, so that the first call loads it and no other model is in memory.
 */
import { buffer } from 'node:stream/consumers';
import { pino } from 'pino';
import {
  EngineError,
  pcmFormat,
  type Capability,
  type Decoded,
  type Recording,
} from '../../../engines/contract/index.ts';
import { messageOf } from '../../../lib/errors.ts';
import { shorten } from '../../../lib/text.ts';
import { bytesOf, lengthOf } from '../../../lib/wav.ts';
import { mediaTypes } from '../../audio/sniff.ts';
import { textFor } from '../../contract/problems.ts';
import type { ServedModel } from '../../engine-host/models/served-models.ts';
import { openEngines, type OpenEngines } from '../../engine-host/registry/open-engines.ts';
import type { Registry } from '../../engine-host/registry/registry.ts';
import type { LoadedSettings } from '../../settings/load.ts';
import { withTimeouts } from '../../speech/timeouts.ts';
import { transcribe } from '../../transcription/run.ts';
import { processorSeconds } from './processor-time.ts';
import type { Measured } from './table.ts';
import { wordErrorRate } from './word-errors.ts';

export interface BenchContext {
  readonly settings: LoadedSettings;
  readonly signal: AbortSignal;
}

/** The recording that recognizers transcribe. */
export interface Sample {
  /** A file that contains only this recording. */
  readonly audio: Decoded;
  /** The words spoken in the recording, if known. */
  readonly expected: string | undefined;
  readonly origin: string;
}

/** The result of one call to a model. */
interface Run extends Pick<Measured, 'firstSoundSeconds' | 'wordErrorRate'> {
  readonly audioSeconds: number;
  /** Speech in the format `pcm`; absent for a transcription. */
  readonly pcm?: Buffer;
}

type Work = (engines: OpenEngines) => Promise<Run>;

export interface Measurement extends Pick<Run, 'pcm'> {
  readonly result: Measured | string;
  /** Names of the resident programs that the calls opened. */
  readonly programs: readonly string[];
}

export const openQuietly = ({ settings }: BenchContext): Promise<OpenEngines> =>
  openEngines(settings, process.env, pino({ level: 'silent' }));

/** Rejects only with the signal's reason. */
export async function measure(work: Work, context: BenchContext): Promise<Measurement> {
  await using engines = await openQuietly(context);
  const programs = () => engines.residents.facts().map(({ name }) => name);
  try {
    await work(engines);
    const [started, before] = [performance.now(), processorSeconds()];
    const { audioSeconds, pcm, ...values } = await work(engines);
    const realTimeFactor = (performance.now() - started) / 1000 / audioSeconds;
    const processor = (processorSeconds() - before) / audioSeconds;
    const result = { ...loadOf(engines), ...values, realTimeFactor, processor };
    return { result, programs: programs(), ...(pcm && { pcm }) };
  } catch (error) {
    context.signal.throwIfAborted();
    return { result: explain(error), programs: programs() };
  }
}

/** Both values are undefined for a model without a resident program. */
function loadOf({ residents }: OpenEngines): Pick<Measured, 'loadSeconds' | 'memoryBytes'> {
  const loaded = residents.facts().filter(({ isLoaded }) => isLoaded);
  if (loaded.length === 0) return { loadSeconds: undefined, memoryBytes: undefined };
  const sum = (of: (one: (typeof loaded)[number]) => number) => loaded.reduce((total, one) => total + of(one), 0);
  return { loadSeconds: sum(({ loadSeconds }) => loadSeconds), memoryBytes: sum(({ bytes }) => bytes) };
}

const timeouts = { firstBytesMs: 120_000, silenceMs: 60_000 };

export function speaking(id: string, voice: string | undefined, text: string, { signal }: BenchContext): Work {
  return async ({ registry }) => {
    const { engine, engineId } = find(registry, 'speech', id);
    const call = { text, model: engineId, format: 'pcm', ...(voice !== undefined && { voice }) } as const;
    const started = performance.now();
    const { audio } = await withTimeouts((own) => engine.synthesize(call, { signal: own }), { signal }, timeouts);
    const firstSoundSeconds = (performance.now() - started) / 1000;
    const pcm = await buffer(audio);
    return { audioSeconds: pcm.length / 2 / pcmFormat.sampleRate, firstSoundSeconds, pcm };
  };
}

export function hearing(id: string, { audio, expected }: Sample, { settings, signal }: BenchContext): Work {
  const { transcribeTimeout } = settings;
  const { wavPath: path, ...slice } = audio;
  const recording: Recording = { path, bytes: bytesOf(audio), container: 'wav', mediaType: mediaTypes.wav, slice };
  return async ({ registry }) => {
    const model = find(registry, 'transcription', id);
    const { text } = await transcribe(model, { recording }, { signal }, { registry, transcribeTimeout });
    const audioSeconds = lengthOf(audio) / 1000;
    return { audioSeconds, wordErrorRate: expected === undefined ? undefined : wordErrorRate(expected, text) };
  };
}

function find<C extends Capability>(registry: Registry, capability: C, id: string): ServedModel<C> {
  const model = registry.of(capability).find(id);
  if (!model) throw new Error('it is no longer listed');
  return model;
}

const maxReasonLength = 300;

function explain(error: unknown): string {
  const isOfEngine = EngineError.is(error);
  const text = isOfEngine ? textFor({ isOperator: true }, error.message, error.forOperator) : messageOf(error);
  const cause = isOfEngine && error.cause !== undefined ? ` (${messageOf(error.cause)})` : '';
  return shorten(`${text}${cause}`.replaceAll(/\s+/g, ' '), maxReasonLength);
}
