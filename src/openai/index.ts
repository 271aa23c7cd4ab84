/** One handler per operation of the OpenAI-compatible contract; a missing one does not compile. */
import type { FormFields } from '../contract/operations.ts';
import { admitTranscription } from '../handlers/transcription.ts';
import type { Services } from '../handlers/dependencies.ts';
import { requireOperation } from '../keys/permissions.ts';
import { createChatCompletion } from './chat.ts';
import { listAudioModels, listAudioVoices, listModels, retrieveModel } from './models.ts';
import { nativeOperations } from './native-operations.ts';
import type { Handlers, OperationId } from './operations.ts';
import { createSpeech } from './speech.ts';
import { admitRecording, createTranscription } from './transcription.ts';

export const openaiHandlers: Handlers<Services> = {
  listModels,
  retrieveModel,
  listAudioModels,
  listAudioVoices,
  createTranscription,
  createSpeech,
  createChatCompletion,
};

/** Throws when the API key may not use the operation or it is switched off, before its body is read. */
export function admitOpenAI(operation: string, services: Services): void {
  requireOperation(...nativeOperations[operation as OperationId]);
  if (operation === 'createTranscription') admitTranscription(services);
}

/** Throws when the fields that precede the file of a form ask for what cannot be done, before the file is stored. */
export async function admitOpenAIFile(operation: string, fields: FormFields, services: Services): Promise<void> {
  if (operation === 'createTranscription') await admitRecording(fields, services);
}
