/** Prepares the models of an answer before its turn ends, if they are local. Never charged. */
import { toLanguage, type AnswerPlan, type AnswerServices } from './answer.ts';

/** Rejects with the errors of `toolsFor` and `SpeechModelSelector.choose`. */
export async function warmUp(
  plan: AnswerPlan,
  services: Pick<AnswerServices, 'tools' | 'speakers'>,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([readConversation(plan, services, signal), loadVoice(plan, services)]);
}

async function readConversation(
  { id, chat: { model, call, tools } }: AnswerPlan,
  services: Pick<AnswerServices, 'tools'>,
  signal: AbortSignal,
): Promise<void> {
  const { engine, engineId, entry } = model;
  if (!entry.local || !engine.warmUp) return;
  const offered = tools ? await services.tools.toolsFor({ ...tools, id, signal }) : [];
  if (!signal.aborted) await engine.warmUp({ ...call, model: engineId }, { signal, tools: offered });
}

async function loadVoice({ speech }: AnswerPlan, { speakers }: Pick<AnswerServices, 'speakers'>): Promise<void> {
  if (speech) await speakers.choose(speech.selection).warmUp(toLanguage(speech.language));
}
