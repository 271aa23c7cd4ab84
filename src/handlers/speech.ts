import { chooseModel, listModels, toEntry } from '../models.ts';
import { answer, type Handler } from '../operations.ts';
import { ProblemError } from '../problems.ts';
import type { Services } from '../services.ts';

export const createSpeech: Handler<'createSpeech', Services> = async ({ body }, { registry }) => {
  await chooseModel(registry, 'speech', body.model);
  throw new ProblemError('no-engine', 'This version has no engine for speech.');
};

export const listSpeechModels: Handler<'listSpeechModels', Services> = async (_request, { registry }) => {
  const { models, default: standard } = await listModels(registry, 'speech');
  const data = await Promise.all(
    models.map(async (model) => ({
      ...(await toEntry(model)),
      voices: (model.entry.voices ?? []).map(({ id, name, language }) => ({ id, name, language })),
    })),
  );
  return answer({ status: 200, mediaType: 'application/json', body: { data, default: standard?.id ?? null } });
};

/** No engine makes clips yet, so there is none to fetch. */
export const getSpeechClip: Handler<'getSpeechClip', Services> = ({ path }) => {
  throw new ProblemError('clip-not-found', `There is no clip ${path.id}, or no longer.`);
};
