/** POST /v1/audio/transcriptions: the form as apps send it, the formats, the stream. */
import type { Transcript } from '../../engines/contract/index.ts';
import type { FormFields } from '../contract/operations.ts';
import { delayStart } from '../../lib/delayed-start.ts';
import { defaultModel, requireAvailable, requireSupport, supports } from '../engine-host/model-selection.ts';
import type { ServedModel } from '../engine-host/served-models.ts';
import type { Services } from '../handlers/dependencies.ts';
import { transcribe, warmUp, type TranscriptionJob } from '../transcription/run.ts';
import { isFromEngine, streamTranscript } from '../transcription/stream.ts';
import { requireOperation } from '../keys/permissions.ts';
import { ignoredHeader, modelHeader, resolveModel } from './aliases.ts';
import { answer, type Answer, type Handler } from './operations.ts';
import { toCues } from '../transcription/cues.ts';
import { toSrt, toVtt } from '../transcription/subtitles.ts';
import { toDeltas } from './transcript-deltas.ts';
import { readTranscriptionFields, type Format, type TranscriptionWish } from './transcription-fields.ts';
import { toJson, toVerboseJson } from './verbose-json.ts';

/**
 * Checks the fields that precede the recording, before it is stored. Throws for a wrong value, and for a named model that
 * lacks a feature. Other fields may follow the recording.
 */
export async function checkRecordingFields(fields: FormFields, services: Services): Promise<void> {
  const wish = readTranscriptionFields(fields, { complete: false });
  if (fields.stream !== undefined) requireOperation(operationOf(wish));
  const model = await expectedModel(services, wish.model);
  if (model === undefined) return;
  if (wish.model !== undefined) toJob(model, wish);
  warmUp(model);
}

/** A model that is not named yet may follow the recording. */
function expectedModel(services: Services, named: string | undefined) {
  if (named === undefined) return defaultModel(services.registry, 'transcription');
  return resolveModel(services, 'transcription', named);
}

export const createTranscription: Handler<'createTranscription', Services> = async (
  { id, body: { file: recording, ...fields }, signal },
  services,
) => {
  const wish = readTranscriptionFields(fields, { complete: true });
  requireOperation(operationOf(wish));
  const model = await resolveModel(services, 'transcription', wish.model);
  const { ignored, ...options } = toJob(model, wish);
  await requireAvailable(model);
  const job = { ...options, recording };
  const headers = { ...modelHeader(model), ...ignoredHeader(ignored) };
  if (wish.stream) {
    const events = await delayStart(
      streamTranscript(model, job, { id, signal }, services),
      services.streamHoldMs,
      isFromEngine,
    );
    return answer({ status: 200, mediaType: 'text/event-stream', headers, body: toDeltas(events) });
  }
  const transcript = await transcribe(model, job, { signal }, services);
  const shaped = wish.shape ? { ...transcript, segments: toCues(transcript, wish.shape) } : transcript;
  return answer({ status: 200, headers, ...formats[wish.format](shaped) });
};

function operationOf({ stream }: TranscriptionWish) {
  return stream ? 'streamTranscription' : 'createTranscription';
}

type TranscriptAnswer = Answer<'createTranscription'> & { readonly status: 200 };
type Formatted = { [A in TranscriptAnswer as A['mediaType']]: Pick<A, 'mediaType' | 'body'> }[Exclude<
  TranscriptAnswer['mediaType'],
  'text/event-stream'
>];

const formats: Readonly<Record<Format, (transcript: Transcript) => Formatted>> = {
  json: (transcript) => ({ mediaType: 'application/json', body: toJson(transcript) }),
  verbose_json: (transcript) => ({ mediaType: 'application/json', body: toVerboseJson(transcript) }),
  // Not JSON: SDKs parse by the media type alone.
  text: ({ text }) => ({ mediaType: 'text/plain', body: text }),
  srt: ({ segments = [] }) => ({ mediaType: 'text/plain', body: toSrt(segments) }),
  vtt: ({ segments = [] }) => ({ mediaType: 'text/vtt', body: toVtt(segments) }),
};

type JobOptions = Omit<TranscriptionJob, 'recording'> & {
  /** Fields without an effect. */
  readonly ignored: readonly string[];
};

/** The job for the model. Throws `parameter-not-supported` for fields that change the answer, and drops hints. */
function toJob(
  model: ServedModel<'transcription'>,
  { format, granularities, language, prompt, temperature, shape, hints }: TranscriptionWish,
): JobOptions {
  if (format === 'srt' || format === 'vtt') requireSupport(model, 'segment', '/response_format');
  if (shape) requireSupport(model, 'word', '/max_line_width');
  if (granularities.includes('word')) requireSupport(model, 'word', '/timestamp_granularities');
  const hasSegments = supports(model, 'segment');
  const takesPrompt = prompt === undefined || supports(model, 'prompt');
  // 0 is the default, and the AI SDK always sends it.
  const takesTemperature = temperature === undefined || temperature === 0 || supports(model, 'temperature');
  return {
    language,
    timestamps: granularities.filter((kind) => kind === 'word' || hasSegments),
    ...(takesPrompt && { prompt }),
    ...(supports(model, 'temperature') && { temperature }),
    ignored: [...(takesPrompt ? [] : ['prompt']), ...(takesTemperature ? [] : ['temperature']), ...hints],
  };
}
