/** The settings of the audio that a client sends, which both types of sessions have. */
import type { Capability } from '../../../engines/contract/index.ts';
import { requireAvailable } from '../../engine-host/models/model-selection.ts';
import type { ServedModel } from '../../engine-host/models/served-models.ts';
import type { Services } from '../../handlers/dependencies.ts';
import type { SoundFormat, SpeechOptions, TurnDetection } from '../../realtime/speech-session.ts';
import { fit } from '../../transcription/fit.ts';
import { toSessionFields, updated, type TranscriptionParameters } from '../../transcription/parameters.ts';
import { resolveModel } from '../aliases.ts';
import type { Schemas } from '../operations.ts';
import { forField } from './errors.ts';

export type Format = Schemas['RealtimeAudioFormat'];
type Detection = Schemas['RealtimeTurnDetection'];
type DetectionUpdate = Schemas['RealtimeTurnDetectionUpdate'];
type TranscriptionUpdate = Schemas['RealtimeTranscriptionUpdate'];

export interface InputConfig {
  readonly format: Format;
  readonly model: ServedModel<'transcription'>;
  /** Kept as set even if the model does not support them, because another model may. */
  readonly hints: TranscriptionParameters;
  readonly delay: string | undefined;
  readonly detection: Detection | null;
}

export type ConfigServices = Pick<Services, 'registry' | 'compatAliases'>;

const defaults = { server_vad: { threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 } } as const;

/** Throws the errors of the named or default model, even if it is only unavailable. */
export function openInput(services: ConfigServices, named: string | undefined): InputConfig {
  const model = chooseAvailable(services, 'transcription', named);
  const detection = { type: 'server_vad', ...defaults.server_vad } as const;
  return { format: { type: 'audio/pcm', rate: 24_000 }, model, hints: {}, delay: undefined, detection };
}

/** Throws the errors of the named or default model, even if it is only unavailable. `pointer` is its field. */
export function chooseAvailable<C extends Capability>(
  services: ConfigServices,
  capability: C,
  named: string | null | undefined,
  pointer?: string,
): ServedModel<C> {
  return forField(pointer, () => {
    const model = resolveModel(services, capability, named, pointer);
    requireAvailable(model, services.registry.of(capability));
    return model;
  });
}

const maxDelay = 64;
const noHints: TranscriptionUpdate = { model: null, delay: null };
const modelPointer = '/session/audio/input/transcription/model';

/** Either type of session; a conversation's update may have null where nothing changes. */
type InputUpdate = Omit<Schemas['RealtimeInputUpdate'], 'format'> & { readonly format?: FormatUpdate | null };
type FormatUpdate = Schemas['RealtimeFormatUpdate'];

/** Throws if a named model cannot be used. */
export function updateInput(
  config: InputConfig,
  { format, transcription = {}, turn_detection: detection }: InputUpdate,
  services: ConfigServices,
): InputConfig {
  const { model: named, delay = config.delay, ...hints } = transcription ?? noHints;
  return {
    format: format ? toFormat(format) : config.format,
    model: named === undefined ? config.model : chooseAvailable(services, 'transcription', named, modelPointer),
    hints: transcription === null ? {} : updated(config.hints, hints),
    delay: delay?.slice(0, maxDelay),
    detection: detection === undefined ? config.detection : detection && mergeDetection(config.detection, detection),
  };
}

export function toFormat({ type, rate }: Schemas['RealtimeFormatUpdate']): Format {
  return type === 'audio/pcm' ? { type, rate: rate ?? 24_000 } : { type };
}

function mergeDetection(current: Detection | null, update: DetectionUpdate): Detection {
  const type = update.type ?? current?.type ?? 'server_vad';
  const known = current?.type === type ? current : { type };
  if (type === 'semantic_vad') return { type, eagerness: pick(update.eagerness, known.eagerness, 'auto') };
  const number = (name: keyof typeof defaults.server_vad, low: number, high: number) =>
    Math.min(high, Math.max(low, pick(update[name], known[name], defaults.server_vad[name])));
  return {
    type,
    threshold: number('threshold', 0, 1),
    prefix_padding_ms: number('prefix_padding_ms', 0, 2_000),
    silence_duration_ms: number('silence_duration_ms', 100, 5_000),
  };
}

/** An absent field keeps its value; null resets it. */
export function pick<T>(sent: T | null | undefined, current: T | undefined, byDefault: T): T {
  return (sent === undefined ? current : sent) ?? byDefault;
}

/** Returns the settings in the form that the client sees. */
export function toInput(config: InputConfig): Schemas['RealtimeSessionInput'] {
  const { format, model, hints, delay, detection: turn_detection } = config;
  const { ignored } = fit(model, hints, 'session');
  const transcription = { model: model.id, ...toSessionFields(hints, ignored), ...(delay !== undefined && { delay }) };
  return { format, transcription, noise_reduction: null, turn_detection };
}

const silenceMs = { low: 800, medium: 600, auto: 600, high: 400 } as const;

export function toSpeechOptions(config: InputConfig): SpeechOptions {
  const { call } = fit(config.model, config.hints, 'session');
  return {
    format: toSoundFormat(config.format),
    detection: config.detection && toDetection(config.detection),
    hints: { model: config.model.id, ...call },
  };
}

export function toSoundFormat({ type, rate = 24_000 }: Format): SoundFormat {
  if (type === 'audio/pcm') return { encoding: 'pcm', rate };
  return { encoding: type === 'audio/pcmu' ? 'pcmu' : 'pcma' };
}

function toDetection({ type, eagerness = 'auto', ...given }: Detection): TurnDetection {
  const { threshold, prefix_padding_ms: prefixMs, silence_duration_ms: silence } = { ...defaults.server_vad, ...given };
  return { threshold, prefixMs, silenceMs: type === 'semantic_vad' ? silenceMs[eagerness] : silence };
}
