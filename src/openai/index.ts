/** One handler per operation of the OpenAI-compatible contract; a missing one does not compile. */
import { admitTranscription } from '../handlers/transcription.ts';
import type { Services } from '../handlers/dependencies.ts';
import { createChatCompletion } from './chat.ts';
import { listAudioModels, listAudioVoices, listModels, retrieveModel } from './models.ts';
import type { Handlers } from './operations.ts';
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

/** Throws when an operation is switched off, before its body is read. */
export function admitOpenAI(operation: string, services: Services): void {
  if (operation === 'createTranscription') admitTranscription(services);
}

/** Throws when the fields that precede the file of a form ask for what cannot be done, before the file is stored. */
export async function admitOpenAIFile(
  operation: string,
  fields: Readonly<Record<string, unknown>>,
  services: Services,
): Promise<void> {
  if (operation === 'createTranscription') await admitRecording(fields, services);
}
