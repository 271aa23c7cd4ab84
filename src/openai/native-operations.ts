/** The permissions of API keys are by operation of the native contract, at both doors. */
import type { OperationId as NativeOperationId } from '../contract/operations.ts';
import type { OperationId } from './operations.ts';

/** A key needs one of them to be let in; the body of the request then decides which one. */
export const nativeOperations: Readonly<Record<OperationId, readonly NativeOperationId[]>> = {
  listModels: ['listChatModels', 'listTranscriptionModels', 'listSpeechModels'],
  retrieveModel: ['listChatModels', 'listTranscriptionModels', 'listSpeechModels'],
  listAudioModels: ['listSpeechModels'],
  listAudioVoices: ['listSpeechModels'],
  createTranscription: ['createTranscription', 'streamTranscription'],
  createSpeech: ['createSpeech'],
  createChatCompletion: ['createChat', 'streamChat'],
};

/** The listing of each capability. */
export const listings = {
  chat: 'listChatModels',
  transcription: 'listTranscriptionModels',
  speech: 'listSpeechModels',
} as const satisfies Record<string, NativeOperationId>;
