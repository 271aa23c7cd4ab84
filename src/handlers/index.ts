/** One handler for each operation of the contract: a missing one does not compile. */
import type { FormFields, Handlers, OperationId } from '../contract/operations.ts';
import { requireOperation } from '../keys/permissions.ts';
import type { Services } from './dependencies.ts';
import { createChat, listChatModels, streamChat } from './chat.ts';
import { createSpeech, createSpeechClip, deleteSpeechClip, getSpeechClip, listSpeechModels } from './speech.ts';
import {
  admitRecording,
  admitTranscription,
  createTranscription,
  getTranscriptionAvailability,
  listTranscriptionModels,
  streamTranscription,
} from './transcription.ts';

export const handlers: Handlers<Services> = {
  createTranscription,
  streamTranscription,
  getTranscriptionAvailability,
  listTranscriptionModels,
  createChat,
  streamChat,
  listChatModels,
  createSpeech,
  listSpeechModels,
  createSpeechClip,
  getSpeechClip,
  deleteSpeechClip,
};

/** Throws when the API key may not use the operation or it is switched off, before its body is read. */
export function admit(operation: string, services: Services): void {
  requireOperation(operation as OperationId);
  if (takesRecording.has(operation)) admitTranscription(services);
}

/** Throws when the fields that precede the file of a form ask for what cannot be done, before the file is stored. */
export async function admitFile(operation: string, fields: FormFields, services: Services): Promise<void> {
  if (takesRecording.has(operation)) await admitRecording(fields, services);
}

const takesRecording: ReadonlySet<string> = new Set<OperationId>(['createTranscription', 'streamTranscription']);
