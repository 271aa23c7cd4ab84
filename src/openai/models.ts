/** The lists of models and voices, answered from memory because apps have short timeouts for them. */
import type { Capability } from '../../engines/contract/index.ts';
import type { ServedModel } from '../engine-host/registry/served-models.ts';
import type { Services } from '../handlers/dependencies.ts';
import { answer, type OperationId } from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';
import { allowedModels, mayCall } from '../keys/permissions.ts';
import { capabilities, findModel, resolveModel } from './aliases.ts';
import type { Handler, Schemas } from './operations.ts';

type Model = Schemas['Model'];

/** The permission to list the models of each capability. */
export const listings = {
  chat: 'listChatModels',
  transcription: 'listTranscriptionModels',
  speech: 'listSpeechModels',
} as const satisfies Record<Capability, OperationId>;

export const listModels: Handler<'listModels', Services> = async ({ query: { capability } }, services) => {
  const all = await allModels(services);
  const data = capability === undefined ? all : all.filter(({ capabilities: has }) => has.includes(capability));
  return answer({ status: 200, mediaType: 'application/json', body: { object: 'list', data } });
};

export const retrieveModel: Handler<'retrieveModel', Services> = async ({ path }, services) => {
  const found = (await allModels(services)).find(({ id }) => id === path.id);
  if (!found) {
    throw new ProblemError('unknown-model', `The model "${path.id}" does not exist; GET /v1/models lists them all.`);
  }
  return answer({ status: 200, mediaType: 'application/json', body: found });
};

/**
 * `created` of all entries, in seconds since 1970. Entries have no creation time, and clients only need a constant
 * integer.
 */
const started = Math.floor(performance.timeOrigin / 1000);

/** Returns all models without duplicate ids, chat models first. */
async function allModels(services: Services): Promise<Model[]> {
  const byId = new Map<string, Model>();
  const lists = await Promise.all(capabilities.map((capability) => modelsOf(capability, services)));
  for (const model of lists.flat()) add(byId, model);
  return [...byId.values()];
}

async function modelsOf(capability: Capability, services: Services): Promise<Model[]> {
  const { registry, transcribeEnabled } = services;
  if ((capability === 'transcription' && !transcribeEnabled) || !mayCall(listings[capability])) return [];
  const models = allowedModels(await registry.models(capability)).map((model) => toModel(model, capability));
  const meant = capability === 'transcription' ? await findModel(services, capability, whisper) : undefined;
  const [transcriber] = allowedModels(meant ? [meant] : []);
  return transcriber ? [...models, { ...toModel(transcriber, capability), id: whisper }] : models;
}

/** Alias of the default model, listed for apps that only show ids that look like OpenAI's. */
const whisper = 'whisper-1';

function toModel({ id, entry, instance }: ServedModel, capability: Capability): Model {
  // Clients treat a server with this owner as a llama.cpp server.
  const owner = instance === 'llamacpp' ? 'llama-cpp' : instance;
  const { name = id } = entry;
  const has = entry.supports?.includes('images') ? [capability, 'images' as const] : [capability];
  return { id, object: 'model', created: started, owned_by: owner, name, capabilities: has };
}

function add(byId: Map<string, Model>, model: Model): void {
  const known = byId.get(model.id);
  if (!known) byId.set(model.id, model);
  else known.capabilities = [...new Set([...known.capabilities, ...model.capabilities])];
}

export const listAudioModels: Handler<'listAudioModels', Services> = async (_request, { registry }) => {
  const models = allowedModels(await registry.models('speech')).map(({ id, entry: { name = id } }) => ({ id, name }));
  return answer({ status: 200, mediaType: 'application/json', body: { object: 'list', models } });
};

export const listAudioVoices: Handler<'listAudioVoices', Services> = async ({ query }, services) => {
  const models =
    query.model === undefined
      ? allowedModels(await services.registry.models('speech'))
      : [await resolveModel(services, 'speech', query.model)];
  const all = models.flatMap(({ entry }) => entry.voices ?? []);
  const voices = [...new Map(all.toReversed().map((voice) => [voice.id, voice])).values()].toReversed();
  const body = { object: 'list' as const, voices: voices.map(({ id, name }) => ({ id, name })) };
  return answer({ status: 200, mediaType: 'application/json', body });
};
