/** OpenAI's models for `/v1/audio`, with the shutdown dates given in the types of the npm package `openai`. */

export interface OpenAiAudioModel {
  readonly id: string;
  readonly capability: 'transcription' | 'speech';
  /** The announced shutdown date, as YYYY-MM-DD. OpenAI may move it. */
  readonly ends?: string;
  /** The model that OpenAI names as the replacement; undefined if it names none. */
  readonly successor?: string;
}

const endOfTranscription = { capability: 'transcription', ends: '2027-02-26', successor: 'gpt-transcribe' } as const;
const endOfSpeech = { capability: 'speech', ends: '2027-01-06' } as const;

export const openAiAudioModels: readonly OpenAiAudioModel[] = [
  { id: 'whisper-1', ...endOfTranscription },
  { id: 'gpt-4o-transcribe', ...endOfTranscription },
  { id: 'gpt-4o-mini-transcribe', ...endOfTranscription },
  { id: 'gpt-4o-transcribe-diarize', ...endOfTranscription },
  { id: 'gpt-transcribe', capability: 'transcription' },
  { id: 'gpt-live-transcribe', capability: 'transcription' },
  { id: 'gpt-realtime-whisper', capability: 'transcription' },
  { id: 'tts-1', ...endOfSpeech },
  { id: 'tts-1-hd', ...endOfSpeech },
  { id: 'gpt-4o-mini-tts', ...endOfSpeech },
];

/** Finds a model by its id, or by the id of a dated snapshot such as `gpt-4o-mini-tts-2025-12-15`. */
export function findOpenAiAudioModel(id: string): OpenAiAudioModel | undefined {
  const family = id.replace(/-\d{4}-\d{2}-\d{2}$/, '');
  return openAiAudioModels.find((model) => model.id === family);
}
