/** The public types of the client. Imports nothing from the service, so that pages can bundle it. */
import type { components, paths } from '../../generated/api.d.ts';

export type { paths };

type Schemas = components['schemas'];

export type TranscriptionAvailability = Schemas['TranscriptionAvailability'];
export type Transcription = Schemas['Transcription'];
export type TranscriptFormat = Schemas['TranscriptFormat'];
export type TranscriptionJob = Schemas['TranscriptionJob'];
export type TimedText = Schemas['TimedText'];
export type Task = NonNullable<Schemas['TranscriptionRequest']['task']>;
export type Timestamps = NonNullable<Schemas['TranscriptionRequest']['timestamps']>;
export type TranscriptionEvent = Schemas['TranscriptionEvent'];
export type ModelEntry = Schemas['ModelEntry'];
export type ModelList = Schemas['ModelList'];
export type SpeechModelEntry = Schemas['SpeechModelEntry'];
export type SpeechModelList = Schemas['SpeechModelList'];
export type Message = Schemas['Message'];
export type ChatRequest = Schemas['ChatRequest'];
export type ChatResult = Schemas['ChatResult'];
export type ChatEvent = Schemas['ChatEvent'];
export type SpeechRequest = Schemas['SpeechRequest'];
export type SpeechClip = Schemas['Audio'];
export type Preparation = Schemas['Preparation'];
export type PreparationList = Schemas['PreparationList'];
export type Problem = Schemas['Problem'];
export type ProblemCode = Schemas['ProblemCode'];
export type Violation = Schemas['Violation'];
