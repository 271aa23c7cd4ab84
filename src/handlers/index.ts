/** One handler for each operation of the contract: a missing one does not compile. */
import type { Handlers } from '../contract/operations.ts';
import type { Services } from './dependencies.ts';
import { createChat, listChatModels, streamChat } from './chat.ts';
import { createSpeech, getSpeechClip, listSpeechModels } from './speech.ts';
import {
  admitTranscription,
  createTranscription,
  getTranscriptionAvailability,
  listTranscriptionModels,
} from './transcription.ts';

export const handlers: Handlers<Services> = {
  createTranscription,
  getTranscriptionAvailability,
  listTranscriptionModels,
  createChat,
  streamChat,
  listChatModels,
  createSpeech,
  listSpeechModels,
  getSpeechClip,
};

/** Throws when an operation is switched off, before its body is read. */
export function admit(operation: string, services: Services): void {
  if (operation === 'createTranscription') admitTranscription(services);
}
