/** Transcribes a recording as requested: with or without speakers. */
import {
  timestampKinds,
  type Recording,
  type SpeakerFinder,
  type TranscriptionOptions,
} from '../../../engines/contract/index.ts';
import { lengthOf } from '../../../lib/wav.ts';
import { decodeChannels } from '../../audio/channels.ts';
import type { Decoder } from '../../audio/decode/index.ts';
import { gapMsIn } from '../../audio/timeline.ts';
import { sliceOf } from '../../audio/wav-file.ts';
import { supports } from '../../engine-host/models/model-selection.ts';
import type { ServedModel } from '../../engine-host/models/served-models.ts';
import type { TranscriptionParameters } from '../parameters.ts';
import { transcribe, type TranscriptionServices } from '../run.ts';
import { transcribeChannels } from './channels.ts';
import { findSpeakers, type Search } from './find.ts';
import { decodeKnown } from './known.ts';
import { labeled } from './label.ts';
import { withRequestedTimes, type SpokenTranscript } from './spoken.ts';

export interface RequestServices extends TranscriptionServices {
  /** Decodes the recording of a request, or one of its channels. */
  readonly decode: Decoder;
}

type Asked = TranscriptionParameters & { readonly recording: Recording };

/**
 * Throws the errors of `transcribe`, `parameter-not-supported` for a recording without separate channels, and
 * `recording-too-long` for one that is too long for the speaker search.
 */
export async function transcribeRequest(
  model: ServedModel<'transcription'>,
  { channels, minSpeakers, maxSpeakers, ...asked }: Asked,
  options: TranscriptionOptions,
  services: RequestServices,
): Promise<SpokenTranscript> {
  const { timestamps } = asked;
  if (channels) return withRequestedTimes(await transcribeSeparately(model, asked, options, services), timestamps);
  const { finder } = model;
  if (!asked.diarize || !finder) return transcribe(model, asked, options, services);
  const search = { finder, minSpeakers, maxSpeakers };
  const transcript = await transcribeWithSpeakers(model, { ...asked, search }, options, services);
  return withRequestedTimes(transcript, timestamps);
}

async function transcribeSeparately(
  model: ServedModel<'transcription'>,
  { recording, ...call }: Asked,
  options: TranscriptionOptions,
  services: RequestServices,
): Promise<SpokenTranscript> {
  const { signal } = options;
  const decoded = await decodeChannels((channel) => services.decode({ ...recording, channel }, { signal }), signal);
  const [{ endMs: durationMs, gaps, startMs }] = decoded;
  const gapMs = gapMsIn(gaps, { startMs, endMs: durationMs });
  const recordings = decoded.map((channel) => (channel.isSilent ? undefined : sliceOf(channel)));
  return transcribeChannels(model, { ...call, gapMs, durationMs, channels: recordings }, options, services);
}

interface SpeakerSearch extends Pick<Search, 'minSpeakers' | 'maxSpeakers'> {
  readonly finder: SpeakerFinder;
}

/** Finds the speakers first; if that fails, nothing is transcribed. */
async function transcribeWithSpeakers(
  model: ServedModel<'transcription'>,
  { recording, search, diarize: _here, knownSpeakers = [], ...call }: Asked & { readonly search: SpeakerSearch },
  { signal, onProgress, onQueued }: TranscriptionOptions,
  services: RequestServices,
): Promise<SpokenTranscript> {
  const { finder, ...numbers } = search;
  const sound = await services.decode(recording, { signal });
  const durationMs = lengthOf(sound);
  const report = (ms: number) => onProgress?.(ms, durationMs);
  const known = await decodeKnown(knownSpeakers, recording.path, { decode: services.decode, signal });
  const speakers = await findSpeakers(finder, sound, {
    ...{ ...numbers, known, signal },
    onProgress: (fraction) => report((fraction * durationMs) / 2),
  });
  const listener = { signal, onProgress: (ms: number) => report((durationMs + ms) / 2), ...(onQueued && { onQueued }) };
  const timestamps = timestampKinds.filter((kind) => supports(model, kind));
  const request = { ...call, timestamps, gapMs: gapMsIn(sound.gaps, sound) };
  const source = model.engine.decodes ? sliceOf(sound) : recording;
  return labeled(await transcribe(model, { ...request, recording: source }, listener, services), speakers);
}
