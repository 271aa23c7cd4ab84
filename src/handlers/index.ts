/** One definition per operation of the contract. A missing definition does not compile. */
import type { OperationTable } from '../contract/operations.ts';
import { requireTranscription } from '../transcription/run.ts';
import { createChat, listChatModels, streamChat } from './chat.ts';
import type { Services } from './dependencies.ts';
import { listPreparations, startPreparation, stopPreparation } from './preparations.ts';
import { createSpeech, createSpeechClip, deleteSpeechClip, getSpeechClip, listSpeechModels } from './speech.ts';
import {
  checkRecordingFields,
  createTranscription,
  getTranscriptionAvailability,
  listTranscriptionModels,
  streamTranscription,
} from './transcription.ts';
import {
  createTranscriptionJob,
  deleteTranscriptionJob,
  getTranscriptionJob,
  getTranscriptionJobTranscript,
  requireJobs,
  streamTranscriptionJob,
} from './transcription-jobs.ts';

const recording = {
  budget: 'audio',
  beforeBody: requireTranscription,
  beforeFile: checkRecordingFields,
  forLarger: ({ jobs }: Services) => (jobs.isOn ? 'POST /api/v1/transcriptions takes larger ones, as jobs' : undefined),
} as const;

export const nativeOperations: OperationTable<Services> = {
  createTranscription: { handle: createTranscription, permissions: ['createTranscription'], ...recording },
  streamTranscription: { handle: streamTranscription, permissions: ['streamTranscription'], ...recording },
  getTranscriptionAvailability: { handle: getTranscriptionAvailability, permissions: ['getTranscriptionAvailability'] },
  listTranscriptionModels: { handle: listTranscriptionModels, permissions: ['listTranscriptionModels'] },
  createTranscriptionJob: {
    handle: createTranscriptionJob,
    permissions: ['createTranscriptionJob'],
    budget: 'audio',
    beforeBody: requireJobs,
    beforeFile: checkRecordingFields,
    upload: (declared, { jobs }) => jobs.openUpload(declared),
  },
  getTranscriptionJob: {
    handle: getTranscriptionJob,
    permissions: ['getTranscriptionJob'],
    owned: 'transcription',
  },
  streamTranscriptionJob: {
    handle: streamTranscriptionJob,
    permissions: ['streamTranscriptionJob'],
    owned: 'transcription',
  },
  getTranscriptionJobTranscript: {
    handle: getTranscriptionJobTranscript,
    permissions: ['getTranscriptionJobTranscript'],
    owned: 'transcription',
  },
  deleteTranscriptionJob: {
    handle: deleteTranscriptionJob,
    permissions: ['deleteTranscriptionJob'],
    owned: 'transcription',
  },
  createChat: { handle: createChat, permissions: ['createChat'], budget: 'tokens' },
  streamChat: { handle: streamChat, permissions: ['streamChat'], budget: 'tokens' },
  listChatModels: { handle: listChatModels, permissions: ['listChatModels'] },
  createSpeech: { handle: createSpeech, permissions: ['createSpeech'] },
  listSpeechModels: { handle: listSpeechModels, permissions: ['listSpeechModels'] },
  createSpeechClip: { handle: createSpeechClip, permissions: ['createSpeechClip'] },
  getSpeechClip: { handle: getSpeechClip, permissions: ['getSpeechClip'], owned: 'clip' },
  deleteSpeechClip: { handle: deleteSpeechClip, permissions: ['deleteSpeechClip'], owned: 'clip' },
  listPreparations: { handle: listPreparations, permissions: ['listPreparations'] },
  startPreparation: { handle: startPreparation, permissions: ['startPreparation'] },
  stopPreparation: { handle: stopPreparation, permissions: ['stopPreparation'] },
};
