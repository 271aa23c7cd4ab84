import type { Clip } from '../clips/clip.ts';
import type { ByteRange } from '../clips/spool.ts';
import { listModels, toEntry, toList } from '../engine-host/models/model-selection.ts';
import { answer, noBody, type Handler, type Schemas } from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';
import { syntheticHeader, type Audio } from '../contract/audio.ts';
import type { SpeechModelSelector } from '../speech/speech-models.ts';
import type { Listener } from '../speech/timeouts.ts';
import type { Services } from './dependencies.ts';
import { locate, parseRange, type RequestedRange } from '../clips/byte-range.ts';

export const createSpeech: Handler<'createSpeech', Services> = async ({ body, signal }, { speakers, speechSpool }) => {
  const { mediaType, audio } = await speak(body, { signal }, speakers);
  const spooled = await speechSpool.spool(audio, { signal });
  return answer({ status: 200, mediaType, headers: syntheticHeader, body: spooled });
};

async function speak(
  { text, model, voice_id: voice, format, speakable }: Schemas['SpeechRequest'],
  listener: Listener,
  speakers: SpeechModelSelector,
): Promise<Audio> {
  const speaker = speakers.choose({ model, voice, pointers: { model: '/model', voice: '/voice_id' } });
  return speaker.speak({ text, format: format ?? 'mp3', speakable }, listener);
}

/** A clip outlives its request. Its synthesis ends when the clip is deleted or when no one reads it. */
const neverAborted = new AbortController().signal;

/** Responds once the first bytes exist. From then on, the synthesis belongs to the clip, not to the request. */
export const createSpeechClip: Handler<'createSpeechClip', Services> = async (request, { speakers, clips, linkTo }) => {
  const { id: requestId, body, signal } = request;
  const audio = await speak(body, { signal: neverAborted, waiting: signal }, speakers);
  const { id, mediaType } = await clips.create(audio, { signal: neverAborted, id: requestId, endsUnread: true });
  if (signal.aborted) await clips.remove(id);
  signal.throwIfAborted();
  const url = linkTo(`/tts/clips/${id}`);
  const headers = { Location: url };
  return answer({ status: 201, mediaType: 'application/json', headers, body: { id, url, content_type: mediaType } });
};

export const deleteSpeechClip: Handler<'deleteSpeechClip', Services> = async ({ path }, { clips }) => {
  if (!(await clips.remove(path.id))) throw notFound(path.id);
  return answer({ status: 204, mediaType: noBody, body: undefined });
};

export const listSpeechModels: Handler<'listSpeechModels', Services> = (_request, { registry, speakers }) => {
  const listing = listModels(registry, 'speech');
  const data = listing.models.map((model) => ({
    ...toEntry(model),
    voices: (model.entry.voices ?? []).map(({ id, name, language }) => ({ id, name, language })),
    default_voice: speakers.defaultVoiceOf(model) ?? null,
  }));
  return Promise.resolve(answer({ status: 200, mediaType: 'application/json', body: toList(listing, data) }));
};

/**
 * An incomplete clip has no length and no ETag yet. A request for the whole clip streams it as it grows (Chromium opens
 * an `<audio>` with `bytes=0-`); a request for a range (Safari opens with `bytes=0-1`) waits until the clip is
 * complete. An If-Range header cannot match before that.
 */
export const getSpeechClip: Handler<'getSpeechClip', Services> = async ({ path, headers, signal }, { clips }) => {
  let clip = findClip(clips, path.id);
  const range = parseRange(headers.Range);
  const validator = headers['If-Range'];
  if (!clip.whole && range && !wantsAll(range) && validator === undefined) {
    await clip.settled(signal);
    clip = findClip(clips, path.id);
  }
  const { mediaType, whole } = clip;
  const read = (part: ByteRange) => readClip(clip, part, clips, signal);
  if (!whole) return answer({ status: 200, mediaType, headers: syntheticHeader, body: read({ first: 0 }) });

  const { bytes, etag } = whole;
  const headersOf = (length: number) => ({
    ...syntheticHeader,
    ...{ 'Accept-Ranges': 'bytes', ETag: etag, 'Content-Length': String(length) },
  });
  if (!range || (validator !== undefined && validator !== etag)) {
    return answer({ status: 200, mediaType, headers: headersOf(bytes), body: read({ first: 0 }) });
  }
  const part = locate(range, bytes);
  if (!part) throw notSatisfiable(headers.Range, bytes);
  const { first, last } = part;
  const partHeaders = { ...headersOf(last - first + 1), 'Content-Range': `bytes ${first}-${last}/${bytes}` };
  return answer({ status: 206, mediaType, headers: partHeaders, body: read(part) });
};

function findClip(clips: Services['clips'], id: string): Clip {
  const found = clips.find(id);
  if (!found) throw notFound(id);
  return found;
}

function notFound(id: string): ProblemError {
  return new ProblemError('clip-not-found', `No clip ${id}: it does not exist or has expired.`);
}

/** Answers 404 if the clip is evicted before its first byte is read. */
async function* readClip(
  clip: Clip,
  part: ByteRange,
  clips: Services['clips'],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let hasBegun = false;
  try {
    for await (const piece of clip.read(part, signal)) {
      hasBegun = true;
      yield piece;
    }
  } catch (error) {
    if (!hasBegun && !signal.aborted) findClip(clips, clip.id);
    throw error;
  }
}

function notSatisfiable(range: string | undefined, bytes: number): ProblemError {
  const detail = `The clip has ${bytes} bytes; ${range} is out of range.`;
  return new ProblemError('range-not-satisfiable', detail, { headers: { 'Content-Range': `bytes */${bytes}` } });
}

function wantsAll(range: RequestedRange): boolean {
  return !('suffix' in range) && range.first === 0 && range.last === Infinity;
}
