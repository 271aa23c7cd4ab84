/** Transcribes a recording as requested: with or without speakers. */
import type { Recording, TranscriptionOptions } from '../../../engines/contract/index.ts';
import { bytesOf } from '../../../lib/wav.ts';
import { decodeChannels, type DecodedChannel } from '../../audio/channels.ts';
import type { Decoder } from '../../audio/decode/index.ts';
import { gapMsIn } from '../../audio/timeline.ts';
import type { ServedModel } from '../../engine-host/models/served-models.ts';
import type { TranscriptionParameters } from '../parameters.ts';
import { transcribe, type TranscriptionServices } from '../run.ts';
import { transcribeChannels } from './channels.ts';
import type { SpokenTranscript } from './spoken.ts';

export interface RequestServices extends TranscriptionServices {
  /** Decodes the recording of a request, or one of its channels. */
  readonly decode: Decoder;
}

/** Throws the errors of `transcribe`, and `parameter-not-supported` for a recording without separate channels. */
export async function transcribeRequest(
  model: ServedModel<'transcription'>,
  { channels, ...asked }: TranscriptionParameters & { readonly recording: Recording },
  options: TranscriptionOptions,
  services: RequestServices,
): Promise<SpokenTranscript> {
  if (channels === undefined) return transcribe(model, asked, options, services);
  const { recording, timestamps = [], ...call } = asked;
  const { signal } = options;
  const decoded = await decodeChannels((channel) => services.decode({ ...recording, channel }, { signal }), signal);
  const [{ endMs: durationMs, gaps, startMs }] = decoded;
  const gapMs = gapMsIn(gaps, { startMs, endMs: durationMs });
  const request = { ...call, gapMs, durationMs, channels: decoded.map(recordingOf) };
  const { segments, words, ...transcript } = await transcribeChannels(model, request, options, services);
  return {
    ...transcript,
    ...(timestamps.includes('segment') && { segments }),
    ...(timestamps.includes('word') && { words }),
  };
}

/**
 * Returns undefined for a silent channel, which must not be transcribed, because recognizers hallucinate words in
 * silence.
 */
function recordingOf({ wavPath, startMs, endMs, isSilent }: DecodedChannel): Recording | undefined {
  if (isSilent) return undefined;
  const slice = { startMs, endMs };
  return { path: wavPath, container: 'wav', mediaType: 'audio/wav', bytes: bytesOf({ wavPath, ...slice }), slice };
}
