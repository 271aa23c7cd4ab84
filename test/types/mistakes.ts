/* eslint-disable @typescript-eslint/require-await -- these handlers only answer */
/**
 * Handlers that keep the contract and handlers that break it. Above each mistake stands a line that expects the
 * compiler to refuse the next one; handlers.process.test.ts makes sure that it does so.
 */
import {
  answer,
  type Handler,
  type OperationId,
  type OperationTable,
  type Schemas,
} from '../../src/contract/operations.ts';
import { invalid, ProblemError } from '../../src/contract/problems.ts';

/** What these handlers are handed. */
interface Services {
  readonly now: () => number;
}

type Event = Schemas['ChatEvent'];

const json = 'application/json';
const problemJson = 'application/problem+json';
const transcript: Schemas['Transcription'] = {
  text: 'alpha',
  language: 'en',
  duration_ms: 1,
  model: 'local',
};
const entry: Schemas['ModelEntry'] = {
  id: 'a',
  name: 'A',
  engine: 'a',
  local: true,
  available: true,
  code: 'ready',
  reason: 'Ready.',
  supports: [],
};
const result: Schemas['ChatResult'] = {
  content: '',
  model: 'a',
  finish_reason: 'stop',
  reasoning: null,
  usage: null,
};
const problem: Schemas['Problem'] = {
  type: 'urn:parlance:problem:not-found',
  title: 'Not found',
  status: 404,
  detail: 'There is no clip x.',
  code: 'not-found',
  instance: 'id',
};

async function* audio(): AsyncGenerator<Uint8Array> {
  yield Promise.resolve(new Uint8Array(1));
}

async function* streamOf<E>(...events: readonly E[]): AsyncGenerator<E> {
  for (const event of events) yield Promise.resolve(event);
}

declare const all: OperationTable<Services>;

// ------------------------------------------------------------------------------------------- what must compile

export const transcribes: Handler<'createTranscription', Services> = async ({ body, signal }, { now }) => {
  const { path, bytes } = body.file;
  signal.throwIfAborted();
  const said = { text: path, language: body.language ?? null, duration_ms: bytes + now(), model: body.model ?? '' };
  return answer({ status: 200, mediaType: json, body: said });
};

export const leavesOutWhatIsOptional: Handler<'createTranscription', Services> = async () =>
  answer({ status: 200, mediaType: json, body: { text: '', language: null, model: 'local' } });

export const throwsProblems: Handler<'createChat', Services> = async () => {
  throw invalid('body', '/model', 'must be the id of a listed model');
};

export const answersProblems: Handler<'createChat', Services> = async () =>
  answer({ status: 429, mediaType: problemJson, headers: { 'Retry-After': '1' }, body: problem });

export const linksToItsClips: Handler<'createChat', Services> = async ({ body }) => {
  const content = body.messages.map(({ content }) => content).join(' ');
  return answer({ status: 200, mediaType: json, headers: { Link: '<a>' }, body: { ...result, content } });
};

export const streams: Handler<'streamChat', Services> = async () => {
  const events = streamOf<Event>(
    { type: 'chat.started', seq: 0, id: 'x', model: 'a' },
    { type: 'step.started', seq: 1, step: 0 },
    { type: 'chat.failed', seq: 2, problem },
  );
  return answer({ status: 200, mediaType: 'text/event-stream', body: events });
};

export const sendsAudio: Handler<'createSpeech', Services> = async ({ body }) =>
  answer({
    status: 200,
    mediaType: body.format === 'wav' ? 'audio/wav' : 'audio/mpeg',
    headers: { 'X-Parlance-Synthetic': 'true' },
    body: audio(),
  });

export const sendsAPartOfAClip: Handler<'getSpeechClip', Services> = async ({ path, headers }) => {
  if (headers.Range === 'bytes=9-') {
    return answer({ status: 416, mediaType: problemJson, headers: { 'Content-Range': 'bytes */1' }, body: problem });
  }
  const headersOfPart = {
    'X-Parlance-Synthetic': 'true',
    ETag: `"${path.id}"`,
    'Content-Range': 'bytes 0-0/1',
  } as const;
  return answer({ status: 206, mediaType: 'audio/mpeg', headers: headersOfPart, body: audio() });
};

export const readsTheQuery: Handler<'getTranscriptionAvailability', Services> = async ({ query }) => {
  const { available, code, reason } = entry;
  return answer({ status: 200, mediaType: json, body: { available, code, reason, model: query.model ?? '' } });
};

export const complete: OperationTable<Services> = {
  ...all,
  createTranscription: { handle: transcribes, permissions: ['createTranscription'], budget: 'audio' },
};

// ---------------------------------------------------------------------------------------- mistakes of a status

export const undeclaredStatus: Handler<'createTranscription', Services> = async () =>
  // @ts-expect-error 201 is not among the statuses of the operation
  answer({ status: 201, mediaType: json, body: transcript });

export const statusOfAnotherOperation: Handler<'listChatModels', Services> = async () =>
  // @ts-expect-error only clips have ranges
  answer({ status: 416, mediaType: problemJson, body: problem });

// ------------------------------------------------------------------------------------------ mistakes of a body

export const undeclaredProperty: Handler<'createTranscription', Services> = async () =>
  // @ts-expect-error a transcript has no `tokens`
  answer({ status: 200, mediaType: json, body: { ...transcript, tokens: [] } });

export const undeclaredPropertyInAList: Handler<'listChatModels', Services> = async () =>
  // @ts-expect-error an entry has no `price`
  answer({ status: 200, mediaType: json, body: { data: [{ ...entry, price: 1 }], default: null } });

export const propertyInCamelCase: Handler<'createTranscription', Services> = async () =>
  // @ts-expect-error on the wire it is `duration_ms`
  answer({ status: 200, mediaType: json, body: { text: '', language: null, model: 'a', durationMs: 1 } });

export const missingProperty: Handler<'createTranscription', Services> = async () =>
  // @ts-expect-error a transcript has a `model`
  answer({ status: 200, mediaType: json, body: { text: '', language: null } });

export const missingPropertyInAList: Handler<'listSpeechModels', Services> = async () =>
  // @ts-expect-error an entry for speech has `voices`
  answer({ status: 200, mediaType: json, body: { data: [entry], default: null } });

export const wrongProperty: Handler<'createTranscription', Services> = async () =>
  // @ts-expect-error `language` is a string or null
  answer({ status: 200, mediaType: json, body: { ...transcript, language: undefined } });

export const undeclaredWord: Handler<'createChat', Services> = async () =>
  // @ts-expect-error `tool_calls` is no reason to finish
  answer({ status: 200, mediaType: json, body: { ...result, finish_reason: 'tool_calls' } });

export const bodyOfAnotherStatus: Handler<'createTranscription', Services> = async () =>
  // @ts-expect-error 422 is answered with a problem
  answer({ status: 422, mediaType: problemJson, body: transcript });

export const audioAsText: Handler<'createSpeech', Services> = async () =>
  // @ts-expect-error audio comes in chunks of bytes
  answer({ status: 200, mediaType: 'audio/mpeg', body: 'ID3' });

export const undeclaredCode: Handler<'getSpeechClip', Services> = async () =>
  // @ts-expect-error the contract has no such code
  answer({ status: 404, mediaType: problemJson, body: { ...problem, code: 'out-of-coffee' } });

// @ts-expect-error the contract has no such code
export const undeclaredCodeThrown = new ProblemError('out-of-coffee', 'There is none left.');

// @ts-expect-error a request has no such part
export const undeclaredPlace = invalid('cookie', '/x', 'must not be there');

// ------------------------------------------------------------------------------------ mistakes of a media type

export const undeclaredMediaType: Handler<'createTranscription', Services> = async () =>
  // @ts-expect-error a transcript is JSON
  answer({ status: 200, mediaType: 'text/plain', body: transcript });

export const problemAsOrdinaryJson: Handler<'getSpeechClip', Services> = async () =>
  // @ts-expect-error a problem is application/problem+json
  answer({ status: 404, mediaType: json, body: problem });

export const undeclaredAudio: Handler<'createSpeech', Services> = async () =>
  // @ts-expect-error no format is MIDI
  answer({ status: 200, mediaType: 'audio/midi', body: audio() });

// ----------------------------------------------------------------------------------------- mistakes of headers

export const undeclaredHeader: Handler<'createChat', Services> = async () =>
  // @ts-expect-error the contract declares no X-Powered-By
  answer({ status: 200, mediaType: json, headers: { 'X-Powered-By': 'Parlance' }, body: result });

export const headerWhereNoneIsDeclared: Handler<'createTranscription', Services> = async () =>
  // @ts-expect-error the answer has no header but X-Request-Id, which the app sets
  answer({ status: 200, mediaType: json, headers: { Link: '<a>' }, body: transcript });

export const headerOfAnotherStatus: Handler<'createChat', Services> = async () =>
  // @ts-expect-error only 200 has a Link
  answer({ status: 422, mediaType: problemJson, headers: { Link: '<a>' }, body: problem });

export const headerThatIsNoText: Handler<'createChat', Services> = async () =>
  // @ts-expect-error headers are text
  answer({ status: 429, mediaType: problemJson, headers: { 'Retry-After': 1 }, body: problem });

export const missingHeaders: Handler<'getSpeechClip', Services> = async () =>
  // @ts-expect-error 416 has a Content-Range
  answer({ status: 416, mediaType: problemJson, body: problem });

export const missingHeader: Handler<'getSpeechClip', Services> = async () =>
  // @ts-expect-error 206 has a Content-Range
  answer({ status: 206, mediaType: 'audio/mpeg', headers: { ETag: '"x"' }, body: audio() });

// ------------------------------------------------------------------------------------------ mistakes of events

// @ts-expect-error there is no such event
export const undeclaredEvent: Event = { type: 'chat.paused', seq: 0 };

// @ts-expect-error content.delta has a `delta`
export const eventWithoutAField: Event = { type: 'content.delta', seq: 0, step: 0 };

// @ts-expect-error step.started has no `of`
export const eventWithAnUndeclaredField: Event = { type: 'step.started', seq: 0, step: 0, of: 3 };

export const undeclaredEventInAStream: Handler<'streamChat', Services> = async () =>
  // @ts-expect-error there is no such event
  answer({ status: 200, mediaType: 'text/event-stream', body: streamOf({ type: 'chat.paused', seq: 0 } as const) });

export const eventWithoutSeqInAStream: Handler<'streamChat', Services> = async () =>
  // @ts-expect-error every event has a `seq`
  answer({ status: 200, mediaType: 'text/event-stream', body: streamOf({ type: 'step.started', step: 0 } as const) });

export const eventInsteadOfAStream: Handler<'streamChat', Services> = async () =>
  // @ts-expect-error the body is the iterator of the events
  answer({ status: 200, mediaType: 'text/event-stream', body: { type: 'step.started', seq: 0, step: 0 } });

// ----------------------------------------------------------------------------------------- mistakes of the table

const { getSpeechClip: _left, ...allButOne } = all;
// @ts-expect-error every operation has a definition
export const missingOperation: OperationTable<Services> = allButOne;

// @ts-expect-error the contract has no such operation
export const definitionOfNoOperation: OperationTable<Services> = { ...all, createSong: all.createSpeech };

// @ts-expect-error a chat's answer is no transcript
export const definitionOfAnotherOperation: OperationTable<Services> = { ...all, createTranscription: all.createChat };

// @ts-expect-error every operation says which permission it needs
export const withoutPermissions: OperationTable<Services>['createSpeech'] = { handle: all.createSpeech.handle };

export const undeclaredPermission: OperationTable<Services>['createSpeech'] = {
  ...all.createSpeech,
  // @ts-expect-error permissions are operations of the native contract
  permissions: ['createSong'],
};

// @ts-expect-error the contract has no such operation
export type HandlerOfNoOperation = Handler<'createSong', Services>;

// @ts-expect-error the contract has no such operation
export const unknownOperation: OperationId = 'createSong';

// -------------------------------------------------------------------------- mistakes about what is handed in

export const undeclaredParameter: Handler<'getTranscriptionAvailability', Services> = async ({ query }) => {
  // @ts-expect-error the only parameter is `model`
  throw new ProblemError('unknown-model', String(query.language));
};

export const undeclaredPropertyOfTheRequest: Handler<'createTranscription', Services> = async ({ body }) => {
  // @ts-expect-error a request names no `prompt`
  throw new ProblemError('unknown-model', String(body.prompt));
};

export const bodyWhereThereIsNone: Handler<'listChatModels', Services> = async ({ body }) => {
  // @ts-expect-error a GET has no body
  throw new ProblemError('unknown-model', String(body.model));
};

export const serviceThatIsNotHandedIn: Handler<'createChat', Services> = async (_request, services) => {
  // @ts-expect-error these handlers are handed no registry
  throw new ProblemError('unknown-model', String(services.registry));
};

export const answerThatIsNotChecked: Handler<'createTranscription', Services> =
  // @ts-expect-error what does not go through `answer` may have undeclared properties
  async () => ({ status: 200, mediaType: json, body: transcript });
