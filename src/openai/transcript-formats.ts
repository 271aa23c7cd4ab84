/** The formats of a transcript. */
import type { Transcript } from '../../engines/contract/index.ts';
import { toSrt, toVtt } from '../../lib/subtitles.ts';
import type { Answer } from './operations.ts';
import type { Format, PlainFormat, Task } from './transcription-fields.ts';
import { toDiarizedJson, toJson, toVerboseJson } from './transcript-json.ts';

type TranscriptAnswer<Op extends 'createTranscription' | 'createTranslation'> = Exclude<
  Answer<Op> & { readonly status: 200 },
  { readonly mediaType: 'text/event-stream' }
>;
type Formatted<Op extends 'createTranscription' | 'createTranslation'> = {
  [A in TranscriptAnswer<Op> as A['mediaType']]: Pick<A, 'mediaType' | 'body'>;
}[TranscriptAnswer<Op>['mediaType']];

export function toFormat(format: Format, transcript: Transcript): Formatted<'createTranscription'> {
  if (format !== 'diarized_json') return toPlainFormat(format, transcript, 'transcribe');
  return { mediaType: 'application/json', body: toDiarizedJson(transcript) };
}

/** Formats a transcript in any format except `diarized_json`. */
export function toPlainFormat(format: PlainFormat, transcript: Transcript, task: Task): Formatted<'createTranslation'> {
  const { text, segments = [], durationMs } = transcript;
  switch (format) {
    case 'json':
      return { mediaType: 'application/json', body: toJson(transcript) };
    case 'verbose_json':
      return { mediaType: 'application/json', body: toVerboseJson(transcript, task) };
    case 'text': // not JSON, because SDKs decide by the media type
      return { mediaType: 'text/plain', body: text };
    case 'srt':
      return { mediaType: 'text/plain', body: toSrt(segments, durationMs) };
    case 'vtt':
      return { mediaType: 'text/vtt', body: toVtt(segments, durationMs) };
  }
}
