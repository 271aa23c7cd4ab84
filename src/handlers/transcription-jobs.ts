import { ProblemError } from '../contract/problems.ts';
import { answer, noBody, type Handler } from '../contract/operations.ts';
import { joinTexts } from '../../lib/join-texts.ts';
import { toLines, toSrt, toVtt } from '../../lib/subtitles.ts';
import { fromApi } from '../transcription/parameters.ts';
import { chooseTranscriptionModel, requireTranscription } from '../transcription/run.ts';
import { currentReader } from '../jobs/store.ts';
import { requireFileFit, requireFinder } from '../transcription/speakers/find.ts';
import { decodeKnown } from '../transcription/speakers/known.ts';
import type { Services } from './dependencies.ts';

/** Checks before the upload whether a job can be accepted. */
export async function requireJobs(services: Services): Promise<void> {
  requireTranscription(services);
  await services.jobs.requirePlace();
}

export const createTranscriptionJob: Handler<'createTranscriptionJob', Services> = async (request, services) => {
  const { id: requestId, body, headers, signal } = request;
  const { jobs, linkTo } = services;
  const { file, model: named, ...asked } = body;
  const { model, call } = chooseTranscriptionModel(services, named, fromApi(asked));
  if (call.diarize) await requireFileFit(requireFinder(model), file, signal);
  const known = await decodeKnown(call.knownSpeakers ?? [], file.path, { decode: services.decode, signal });
  const { known_speaker_names: _names, known_speaker_references: _references, ...others } = asked;
  const fields = { ...others, ...(call.diarize && { diarize: 'true' as const }) };
  const pace = services.sandbox ? preferenceOf(headers.Prefer, 'pace') : undefined;
  const { id } = await jobs.accept(file, { requestId, model: model.id, fields, known }, signal, pace);
  return answer({
    status: 202,
    mediaType: 'application/json',
    headers: { Location: linkTo(`/transcriptions/${id}`) },
    body: await jobs.view(id, { reader: currentReader(), waitMs: 0, signal }),
  });
};

const maxWaitSeconds = 30;

export const getTranscriptionJob: Handler<'getTranscriptionJob', Services> = async (request, { jobs }) => {
  const { path, headers, signal } = request;
  const seconds = Math.min(maxWaitSeconds, preferenceOf(headers.Prefer, 'wait') ?? 0);
  const body = await jobs.view(path.id, { reader: currentReader(), waitMs: seconds * 1000, signal });
  return answer({ status: 200, mediaType: 'application/json', body });
};

/** Returns a number of seconds from a `Prefer` header (RFC 7240); undefined if absent. */
function preferenceOf(header: string | undefined, name: 'wait' | 'pace'): number | undefined {
  const [, value] = new RegExp(`(?:^|[\\s,;])${name}\\s*=\\s*"?(\\d{1,6})(?:[\\s,;"]|$)`, 'i').exec(header ?? '') ?? [];
  return value === undefined ? undefined : Number(value);
}

export const streamTranscriptionJob: Handler<'streamTranscriptionJob', Services> = async (request, { jobs }) => {
  const { id: requestId, path, headers, signal } = request;
  const last = headers['Last-Event-ID'] ?? '';
  const after = /^\d{1,15}$/.test(last) ? Number(last) : -1;
  const body = await jobs.events(path.id, { reader: currentReader(), after, signal, requestId });
  return answer({ status: 200, mediaType: 'text/event-stream', body });
};

export const getTranscriptionJobTranscript: Handler<'getTranscriptionJobTranscript', Services> = async (
  { path, query, signal },
  { jobs },
) => {
  const { status, segments, ...job } = await jobs.view(path.id, { reader: currentReader(), waitMs: 0, signal });
  if (segments.length === 0 && status !== 'completed') {
    throw new ProblemError('transcript-not-ready', 'Nothing of the recording has been transcribed yet.');
  }
  const text = job.result?.text ?? joinTexts(segments.map((segment) => segment.text));
  const { turns, speakers } = job.result ?? {};
  const cues = segments.map(({ start_ms: startMs, end_ms: endMs, ...spoken }) => ({ startMs, endMs, ...spoken }));
  const durationMs = job.duration_ms ?? undefined;
  switch (query.format) {
    case 'json': {
      const { model, duration_ms, result } = job;
      const language = result?.language ?? null;
      const known = {
        ...(duration_ms !== null && { duration_ms }),
        ...(turns && { turns }),
        ...(speakers && { speakers }),
      };
      const body = { text, language, model, segments, ...known };
      return answer({ status: 200, mediaType: 'application/json', body });
    }
    case 'srt':
      return answer({ status: 200, mediaType: 'application/x-subrip', body: toSrt(cues, durationMs) });
    case 'vtt':
      return answer({ status: 200, mediaType: 'text/vtt', body: toVtt(cues, durationMs) });
    default:
      return answer({ status: 200, mediaType: 'text/plain', body: turns ? toLines(turns) : text });
  }
};

export const deleteTranscriptionJob: Handler<'deleteTranscriptionJob', Services> = async ({ path }, { jobs }) => {
  await jobs.remove(path.id, currentReader());
  return answer({ status: 204, mediaType: noBody, body: undefined });
};
