/** Transcribes the channels of a recording, each of which contains one speaker, and merges the transcripts by time. */
import { timestampKinds, type Recording, type TranscriptionOptions } from '../../../engines/contract/index.ts';
import { joinTexts } from '../../../lib/join-texts.ts';
import { supports } from '../../engine-host/models/model-selection.ts';
import type { ServedModel } from '../../engine-host/models/served-models.ts';
import { transcribe, type TranscriptionRequest, type TranscriptionServices } from '../run.ts';
import { letterOf, type LabeledTranscript } from './label.ts';
import { passagesOf, turnsOf, unitsOf, type SpokenText, type SpokenTranscript } from './spoken.ts';

/** A pause of this length within one channel leaves room for the other speaker. */
const pauseMs = 500;

export interface ChannelRequest extends Omit<TranscriptionRequest, 'recording'> {
  /** The recording of each channel; undefined for a silent one. */
  readonly channels: readonly (Recording | undefined)[];
  readonly durationMs: number;
}

/** Resolves with segments and turns, and with words if the model supports them. */
export async function transcribeChannels(
  model: ServedModel<'transcription'>,
  { channels, durationMs, ...request }: ChannelRequest,
  { signal, onProgress, onQueued }: TranscriptionOptions,
  services: TranscriptionServices,
): Promise<LabeledTranscript> {
  const timestamps = timestampKinds.filter((kind) => supports(model, kind));
  const spoken: SpokenTranscript[] = [];
  for (const [index, recording] of channels.entries()) {
    const options = {
      ...{ signal, ...(onQueued && { onQueued }) },
      onProgress: (ms: number) => onProgress?.((index * durationMs + ms) / channels.length, durationMs),
    };
    if (recording === undefined) continue;
    const transcript = await transcribe(model, { ...request, recording, timestamps }, options, services);
    spoken.push(labeled(transcript, letterOf(index)));
  }
  const segments = inOrder(spoken.flatMap((one) => one.segments ?? []));
  return {
    text: joinTexts(segments.map(({ text }) => text)),
    language: spoken.find(({ language }) => language !== null)?.language ?? null,
    durationMs,
    segments,
    words: inOrder(spoken.flatMap((one) => one.words ?? [])),
    turns: turnsOf(segments),
  };
}

function labeled(transcript: SpokenTranscript, speaker: string): SpokenTranscript {
  const units = unitsOf(transcript);
  const follows = (unit: number) => (units[unit]?.startMs ?? 0) - (units[unit - 1]?.endMs ?? 0) >= pauseMs;
  const segments = passagesOf(transcript, units, follows).map(({ first: _first, ...part }) => ({ ...part, speaker }));
  return { ...transcript, segments, words: transcript.words?.map((word) => ({ ...word, speaker })) ?? [] };
}

const inOrder = (parts: readonly SpokenText[]): SpokenText[] => parts.toSorted((a, b) => a.startMs - b.startMs);
