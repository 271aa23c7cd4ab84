/** Makes the answer of a response. */
import type { Logger } from '../../../engines/contract/index.ts';
import { ignore } from '../../../lib/errors.ts';
import type { Services } from '../../handlers/dependencies.ts';
import { answer, type AnswerPlan, type SpeechPlan } from '../../realtime/answer.ts';
import type { InAnswerScope } from '../../realtime/answer-scope.ts';
import { warmUp } from '../../realtime/warm-up.ts';
import { resolveVoice } from '../aliases.ts';
import { ownTools } from '../run.ts';
import { toSoundFormat } from './input-config.ts';
import type { Run } from './response-plan.ts';
import { endOf, type ResponseEvent } from './response.ts';

export interface RunOptions {
  /** Identifies the session in the log. */
  readonly id: string;
  readonly run: Run;
  readonly log: Logger;
  readonly services: Services;
  readonly inScope: InAnswerScope;
  /** Aborts when the response is canceled, and when the session ends. */
  readonly signal: AbortSignal;
  /** For a response that may be dropped: nothing is emitted before this resolves. Rejects when the signal aborts. */
  readonly release?: Promise<unknown> | undefined;
}

/** Counts as a request of the key, from its release on. The next part is made when `emit` has resolved. Never rejects. */
export async function runResponse(options: RunOptions, emit: (event: ResponseEvent) => Promise<void>): Promise<void> {
  const { inScope, signal, release } = options;
  try {
    await inScope((released) => run(options, released, emit), release);
  } catch (error) {
    await release?.catch(ignore);
    if (!signal.aborted) await emit({ type: 'broken', error });
  }
}

async function run(
  { id, run: planned, log, services, signal }: RunOptions,
  released: Promise<unknown> | undefined,
  emit: Emit,
): Promise<void> {
  const plan = { ...toPlan(id, planned, services), released };
  for await (const part of answer(plan, { ...services, log }, signal)) {
    signal.throwIfAborted();
    if (part.type === 'end') {
      await emit({ type: 'answered', end: endOf(part) });
    } else if (part.type === 'sound') {
      const { bytes, ms, db } = part;
      await emit({ type: 'part', part: { type: 'sound', audio: toBase64(bytes), ms, db } });
    } else {
      await emit({ type: 'part', part });
    }
  }
}

/** Warms up the models for an answer. Never rejects: the answer reports what is wrong. */
export async function warmUpResponse({ id, run: planned, services, signal }: WarmUp): Promise<void> {
  await warmUp(toPlan(id, planned, services), services, signal).catch(ignore);
}

type WarmUp = Pick<RunOptions, 'id' | 'run' | 'services' | 'signal'>;
type Emit = Parameters<typeof runResponse>[1];

const toBase64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

function toPlan(id: string, planned: Run, services: Services): AnswerPlan {
  const { models, settings, call, isCallersLoop } = planned;
  const tools = ownTools(services, isCallersLoop, settings.toolChoice);
  return { id, chat: { model: models.chat, call, tools }, speech: toSpeech(planned) };
}

function toSpeech({ models: { speech }, settings, language }: Run): SpeechPlan | null {
  if (settings.modality === 'text' || !speech) return null;
  const { format, voice, speed } = settings;
  const { encoding } = toSoundFormat(format);
  const pointers = { model: '/session/model', voice: '/session/audio/output/voice' };
  const selection = { model: undefined, voice: resolveVoice(speech, voice), pointers };
  return { selection, language, encoding, ...(speed !== 1 && { speed }) };
}
