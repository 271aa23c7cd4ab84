/** Prepares an answer before its turn ends. */
import type { AnswerPlan, AnswerServices } from './answer.ts';

/** Lets a local chat model read the conversation. Never charged. Rejects with the errors of `toolsFor`. */
export async function warmUp(
  { id, chat: { model, call, tools } }: Pick<AnswerPlan, 'id' | 'chat'>,
  services: Pick<AnswerServices, 'tools'>,
  signal: AbortSignal,
): Promise<void> {
  const { engine, engineId, entry } = model;
  if (!entry.local || !engine.warmUp) return;
  const offered = tools ? await services.tools.toolsFor({ ...tools, id, signal }) : [];
  if (!signal.aborted) await engine.warmUp({ ...call, model: engineId }, { signal, tools: offered });
}
