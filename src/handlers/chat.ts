import { chooseModel, listModels, toEntry } from '../models.ts';
import { answer, type Handler } from '../operations.ts';
import { ProblemError } from '../problems.ts';
import type { Services } from '../services.ts';

/** Until the agent loop is there, no model can be chosen that would reach this. */
const notYet = () => new ProblemError('no-engine', 'This version has no engine for chat.');

export const createChat: Handler<'createChat', Services> = async ({ body }, { registry }) => {
  await chooseModel(registry, 'chat', body.model);
  throw notYet();
};

export const streamChat: Handler<'streamChat', Services> = async ({ body }, { registry }) => {
  await chooseModel(registry, 'chat', body.model);
  throw notYet();
};

export const listChatModels: Handler<'listChatModels', Services> = async (_request, { registry }) => {
  const { models, default: standard } = await listModels(registry, 'chat');
  const data = await Promise.all(models.map((model) => toEntry(model)));
  return answer({ status: 200, mediaType: 'application/json', body: { data, default: standard?.id ?? null } });
};
