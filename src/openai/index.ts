/** One definition per operation of the OpenAI-compatible contract. A missing definition does not compile. */
import type { Services } from '../handlers/dependencies.ts';
import { requireTranscription } from '../transcription/run.ts';
import { createChatCompletion } from './chat.ts';
import { listAudioModels, listAudioVoices, listModels, listings, retrieveModel } from './models.ts';
import type { OperationTable } from './operations.ts';
import { createRealtimeClientSecret } from './realtime/client-secrets.ts';
import { connectRealtime, requireRealtime, requireUpgrade } from './realtime/connect.ts';
import { createResponse } from './responses/handler.ts';
import { createSpeech } from './speech.ts';
import {
  checkRecordingFields,
  checkTranslationFields,
  createTranscription,
  createTranslation,
} from './transcription.ts';

/** If an operation lists several permissions, the request body determines which one is needed. */
export const openaiOperations: OperationTable<Services> = {
  listModels: { handle: listModels, permissions: Object.values(listings) },
  retrieveModel: { handle: retrieveModel, permissions: Object.values(listings) },
  listAudioModels: { handle: listAudioModels, permissions: [listings.speech] },
  listAudioVoices: { handle: listAudioVoices, permissions: [listings.speech] },
  createTranscription: {
    handle: createTranscription,
    permissions: ['createTranscription', 'streamTranscription'],
    budget: 'audio',
    beforeBody: requireTranscription,
    beforeFile: checkRecordingFields,
  },
  createTranslation: {
    handle: createTranslation,
    permissions: ['createTranscription'],
    budget: 'audio',
    beforeBody: requireTranscription,
    beforeFile: checkTranslationFields,
  },
  connectRealtime: {
    handle: requireUpgrade,
    connect: connectRealtime,
    permissions: ['createTranscription', 'streamChat', 'createChat'],
    budget: 'audio',
    beforeBody: requireRealtime,
  },
  createRealtimeClientSecret: {
    handle: createRealtimeClientSecret,
    permissions: ['createTranscription', 'streamChat', 'createChat'],
    beforeBody: requireRealtime,
  },
  createSpeech: { handle: createSpeech, permissions: ['createSpeech'] },
  createChatCompletion: { handle: createChatCompletion, permissions: ['createChat', 'streamChat'], budget: 'tokens' },
  createResponse: { handle: createResponse, permissions: ['createChat', 'streamChat'], budget: 'tokens' },
};
