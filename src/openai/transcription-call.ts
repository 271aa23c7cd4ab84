/** Converts the fields of a form to the options that the model supports. */
import { defaultModel, requireAvailable, requireSupport, supports } from '../engine-host/models/model-selection.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import type { Services } from '../handlers/dependencies.ts';
import { warmUp, type TranscriptionRequest } from '../transcription/run.ts';
import { ignoredHeader, modelHeader, resolveModel } from './aliases.ts';
import type { RequestedTranscription } from './transcription-fields.ts';

/** Throws if a named model lacks a requested feature, and warms up the model before the recording arrives. */
export function expectRecording(requested: RequestedTranscription, services: Services): void {
  const model = expectedModel(services, requested.model);
  if (model === undefined) return;
  if (requested.model !== undefined) toCallOptions(model, requested);
  warmUp(model);
}

/** The named model or the default; a field that follows the recording may still name another one. */
function expectedModel(services: Services, named: string | undefined) {
  if (named === undefined) return defaultModel(services.registry, 'transcription');
  return resolveModel(services, 'transcription', named);
}

/** Returns the model of a form, the options of the transcription, and the response headers. */
export function openCall(requested: RequestedTranscription, services: Services) {
  const model = resolveModel(services, 'transcription', requested.model);
  const { ignored, ...options } = toCallOptions(model, requested);
  requireAvailable(model, services.registry.of('transcription'));
  return { model, options, headers: { ...modelHeader(model), ...ignoredHeader(ignored) } };
}

type CallOptions = Omit<TranscriptionRequest, 'recording'> & {
  /** Fields that have no effect. */
  readonly ignored: readonly string[];
};

/** Throws `parameter-not-supported` for unsupported fields that change the answer, and drops unsupported hints. */
function toCallOptions(model: ServedModel<'transcription'>, requested: RequestedTranscription): CallOptions {
  requireFeatures(model, requested);
  const { task, format, granularities, knownSpeakers, language, temperature } = requested;
  const hasSegments = supports(model, 'segment');
  // 0 is the default, which the AI SDK always sends.
  const takesTemperature = temperature === undefined || temperature === 0 || supports(model, 'temperature');
  const { ignored, ...hints } = hintsFor(model, requested);
  const languages = requested.languages.length < 2 || supports(model, 'languages') ? requested.languages : [];
  return {
    language,
    languages,
    timestamps: granularities.filter((kind) => kind === 'word' || hasSegments),
    ...hints,
    ...(supports(model, 'temperature') && { temperature }),
    ...(task === 'translate' && { translate: true }),
    ...(format === 'diarized_json' && { diarize: true, knownSpeakers }),
    ignored: [
      ...ignored,
      ...(takesTemperature ? [] : ['temperature']),
      ...(languages === requested.languages ? [] : ['languages']),
      ...requested.hints,
    ],
  };
}

function requireFeatures(
  model: ServedModel<'transcription'>,
  { task, format, granularities, shape }: RequestedTranscription,
) {
  if (task === 'translate') requireSupport(model, 'translate', '/model');
  if (format === 'srt' || format === 'vtt') requireSupport(model, 'segment', '/response_format');
  if (format === 'diarized_json') requireSupport(model, 'diarize', '/response_format');
  if (shape) requireSupport(model, 'word', '/max_line_width');
  if (granularities.includes('word')) requireSupport(model, 'word', '/timestamp_granularities');
}

/** A model with a prompt gets the keywords in it. */
export function hintsFor(
  model: ServedModel<'transcription'>,
  { prompt, keywords }: Pick<RequestedTranscription, 'prompt' | 'keywords'>,
) {
  const takesPrompt = supports(model, 'prompt');
  const takesKeywords = takesPrompt || supports(model, 'keywords');
  return {
    ...(takesPrompt && { prompt }),
    ...(takesKeywords && { keywords }),
    ignored: [
      ...(takesPrompt || prompt === undefined ? [] : ['prompt']),
      ...(takesKeywords || keywords.length === 0 ? [] : ['keywords']),
    ],
  };
}
