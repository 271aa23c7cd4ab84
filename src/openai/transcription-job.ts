/** What a form asks of a model, as far as the model can do it. */
import { promptWithKeywords } from '../../lib/keywords.ts';
import { defaultModel, requireAvailable, requireSupport, supports } from '../engine-host/registry/model-selection.ts';
import type { ServedModel } from '../engine-host/registry/served-models.ts';
import type { Services } from '../handlers/dependencies.ts';
import { warmUp, type TranscriptionJob } from '../transcription/run.ts';
import { ignoredHeader, modelHeader, resolveModel } from './aliases.ts';
import type { RequestedTranscription } from './transcription-fields.ts';

/** Throws for a named model that lacks a feature, and lets the model that is to hear the recording get ready. */
export async function expectRecording(requested: RequestedTranscription, services: Services): Promise<void> {
  const model = await expectedModel(services, requested.model);
  if (model === undefined) return;
  if (requested.model !== undefined) toJob(model, requested);
  warmUp(model);
}

/** A model that is not named yet may follow the recording. */
function expectedModel(services: Services, named: string | undefined) {
  if (named === undefined) return defaultModel(services.registry, 'transcription');
  return resolveModel(services, 'transcription', named);
}

/** The model that a form means, what it is asked, and the headers that name what it does. */
export async function openJob(requested: RequestedTranscription, services: Services) {
  const model = await resolveModel(services, 'transcription', requested.model);
  const { ignored, ...options } = toJob(model, requested);
  await requireAvailable(model);
  return { model, options, headers: { ...modelHeader(model), ...ignoredHeader(ignored) } };
}

type JobOptions = Omit<TranscriptionJob, 'recording'> & {
  /** Fields without an effect. */
  readonly ignored: readonly string[];
};

/** The job for the model. Throws `parameter-not-supported` for fields that change the answer, and drops hints. */
function toJob(model: ServedModel<'transcription'>, requested: RequestedTranscription): JobOptions {
  requireFeatures(model, requested);
  const { task, format, granularities, language, temperature } = requested;
  const hasSegments = supports(model, 'segment');
  // 0 is the default, and the AI SDK always sends it.
  const takesTemperature = temperature === undefined || temperature === 0 || supports(model, 'temperature');
  const { ignored, ...hints } = hintsFor(model, requested);
  return {
    language,
    timestamps: granularities.filter((kind) => kind === 'word' || hasSegments),
    ...hints,
    ...(supports(model, 'temperature') && { temperature }),
    ...(task === 'translate' && { translate: true }),
    ...(format === 'diarized_json' && { diarize: true }),
    ignored: [...ignored, ...(takesTemperature ? [] : ['temperature']), ...requested.hints],
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

/** A model that has a prompt only gets the keywords in it. */
function hintsFor(model: ServedModel<'transcription'>, { prompt, keywords }: RequestedTranscription) {
  const takesPrompt = supports(model, 'prompt');
  const own = takesPrompt ? prompt : undefined;
  const ignored = prompt === own ? [] : ['prompt'];
  if (keywords.length === 0) return { ignored, prompt: own };
  if (supports(model, 'keywords')) return { ignored, prompt: own, keywords };
  if (!takesPrompt) return { ignored: [...ignored, 'keywords'] };
  return { ignored, prompt: promptWithKeywords(own, keywords) };
}
