/**
 * Examples for every declared error of the OpenAI-compatible contract: mostly those of the native contract, in the
 * format of `/v1`. `npm run generate` adds them.
 */
import { invalid, problemAnswer, ProblemError } from '../../src/contract/problems.ts';
import { toErrorResponse } from '../../src/openai/errors.ts';
import { addExamples, common, type WithOperations } from './problem-examples.ts';

const byStatus: Readonly<Record<string, ProblemError>> = {
  ...common,
  400: invalid('body', '/messages', 'must NOT have fewer than 1 items'),
  404: new ProblemError('unknown-model', 'Unknown model "nobody".'),
  413: new ProblemError('body-too-large', 'The body is larger than the limit of this operation.'),
  426: new ProblemError('upgrade-required', 'Connect with a WebSocket client, to ws:// or wss://.', {
    headers: { Upgrade: 'websocket' },
  }),
};

/** The example of an invalid request, by operation. */
const badRequest: Readonly<Record<string, ProblemError>> = {
  createTranscription: new ProblemError(
    'language-not-supported',
    'Unknown language "xx"; send an ISO 639-1 code such as de.',
  ),
  createSpeech: new ProblemError('voice-not-supported', 'espeak has no voice "nobody".'),
  connectRealtime: invalid('query', '/intent', 'must be transcription'),
  listModels: invalid('query', '/capability', 'must be one of chat, transcription, speech, images'),
  listAudioVoices: invalid('query', '/model', 'must be a speech model'),
};

export function addErrorExamples(document: WithOperations): void {
  const toBody = (error: ProblemError) => toErrorResponse(problemAnswer(error, ''), error);
  addExamples(document, { mediaType: 'application/json', byStatus, byOperation: { 400: badRequest }, toBody });
}
