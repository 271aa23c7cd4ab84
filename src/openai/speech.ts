/** POST /v1/audio/speech. */
import { answer } from '../contract/operations.ts';
import { syntheticHeader } from '../contract/audio.ts';
import { EngineError } from '../../engines/contract/index.ts';
import { inBody, ProblemError } from '../contract/problems.ts';
import { requireSupport, supports } from '../engine-host/models/model-selection.ts';
import type { Services } from '../handlers/dependencies.ts';
import { ignoredHeader, leavesModel, modelHeader, resolveModel, resolveVoice } from './aliases.ts';
import type { Handler, Schemas } from './operations.ts';

type SpeechRequest = Schemas['SpeechRequest'];

export const createSpeech: Handler<'createSpeech', Services> = async ({ body, signal }, services) => {
  const speed = body.speed === 1 ? null : body.speed;
  const instructions = readInstructions(body.instructions);
  const resolved = resolveModel(services, 'speech', body.model);
  const speaker = services.speakers.choose({
    model: leavesModel(services, resolved, body.model) ? undefined : resolved.id,
    voice: resolveVoice(resolved, typeof body.voice === 'object' ? body.voice?.id : body.voice),
    pointers: { model: '/model', voice: '/voice' },
  });
  const { model } = speaker;
  if (speed != null) requireSupport(model, 'speed', '/speed');
  const takesInstructions = supports(model, 'instructions');
  const utterance = {
    ...{ text: body.input, format: body.response_format ?? 'mp3' },
    ...(speed != null && { speed }),
    ...(takesInstructions && { instructions }),
  };
  const audio = await speaker.speak(utterance, { signal }).catch((error: unknown) => {
    throw placed(error);
  });
  const ignored = instructions !== undefined && !takesInstructions ? ['instructions'] : [];
  const head = {
    status: 200,
    headers: { ...modelHeader(model), ...ignoredHeader(ignored), ...syntheticHeader },
  } as const;
  const spooled = await services.speechSpool.spool(audio.audio, { signal });
  return body.stream_format === 'sse'
    ? answer({ ...head, mediaType: 'text/event-stream', body: toSpeechEvents(spooled) })
    : answer({ ...head, mediaType: audio.mediaType, body: spooled });
};

/** Adds the field to an engine error, because engine errors name no field. Here, only the speed can be at fault. */
function placed(error: unknown): unknown {
  if (!EngineError.is(error) || error.code !== 'parameter-not-supported') return error;
  const blame = inBody('/speed', 'must be a speed that the model has');
  return new ProblemError(error.code, error.message, { cause: error, ...blame });
}

/** If there are no instructions, Home Assistant sends "None" (Python's null). */
function readInstructions(text: SpeechRequest['instructions']): string | undefined {
  return text == null || text === '' || text === 'None' ? undefined : text;
}

/** Zeros, because speech engines do not count tokens. */
const noUsage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 } as const;

/** Yields the audio in base64, piece by piece. */
async function* toSpeechEvents(audio: AsyncIterable<Uint8Array>): AsyncGenerator<Schemas['SpeechEvent']> {
  for await (const { buffer, byteOffset, length } of audio) {
    yield { type: 'speech.audio.delta', audio: Buffer.from(buffer, byteOffset, length).toString('base64') };
  }
  yield { type: 'speech.audio.done', usage: noUsage };
}
