/** The lists of models and voices, answered from memory because apps have short timeouts for them. */
import type { Capability } from '../../engines/contract/index.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import type { Services } from '../handlers/dependencies.ts';
import { answer, type OperationId } from '../contract/operations.ts';
import { ProblemError } from '../contract/problems.ts';
import { allowedModels, mayCall } from '../keys/permissions.ts';
import { capabilities, findModel, resolveModel } from './aliases.ts';
import type { Handler, Schemas } from './operations.ts';

type Model = Schemas['Model'];

/** The permission that is required to list the models of each capability. */
export const listings = {
  chat: 'listChatModels',
  transcription: 'listTranscriptionModels',
  speech: 'listSpeechModels',
} as const satisfies Record<Capability, OperationId>;

export const listModels: Handler<'listModels', Services> = ({ query: { capability } }, services) => {
  const all = allModels(services);
  const data = capability === undefined ? all : all.filter(({ capabilities: has }) => has.includes(capability));
  return Promise.resolve(answer({ status: 200, mediaType: 'application/json', body: { object: 'list', data } }));
};

export const retrieveModel: Handler<'retrieveModel', Services> = ({ path: { id } }, services) => {
  const meant = capabilities.map((capability) => modelNamed(id, capability, services));
  const [found] = withoutDuplicates(meant.flatMap((model) => model ?? []));
  if (!found) {
    throw new ProblemError('unknown-model', `The model "${id}" does not exist; GET /v1/models lists them all.`);
  }
  return Promise.resolve(answer({ status: 200, mediaType: 'application/json', body: found }));
};

/**
 * `created` of all entries, in seconds since 1970. Models have no creation time, and clients only need a constant
 * integer.
 */
const started = Math.floor(performance.timeOrigin / 1000);

/** Returns all models without duplicate ids, chat models first. */
function allModels(services: Services): Model[] {
  return withoutDuplicates(capabilities.flatMap((capability) => modelsOf(capability, services)));
}

function modelsOf(capability: Capability, services: Services): Model[] {
  if (!mayList(capability, services)) return [];
  const models = allowedModels(services.registry.of(capability).all).map((model) => toModel(model, capability));
  const alias = capability === 'transcription' ? modelNamed(whisper, capability, services) : undefined;
  return alias ? [...models, alias] : models;
}

/** Returns the model that requests with this id use. The id, which may be an alias, is kept. */
function modelNamed(id: string, capability: Capability, services: Services): Model | undefined {
  const meant = mayList(capability, services) ? findModel(services, capability, id) : undefined;
  const [allowed] = allowedModels(meant ? [meant] : []);
  return allowed && { ...toModel(allowed, capability), id };
}

function mayList(capability: Capability, { transcribeEnabled }: Services): boolean {
  return (capability !== 'transcription' || transcribeEnabled) && mayCall(listings[capability]);
}

/** Alias of the default model. It is listed for apps that show only ids that look like OpenAI's. */
const whisper = 'whisper-1';

function toModel({ id, entry, instance }: ServedModel, capability: Capability): Model {
  // Clients treat a server with this owner as a llama.cpp server.
  const owner = instance === 'llamacpp' ? 'llama-cpp' : instance;
  const { name = id } = entry;
  const has = entry.supports?.includes('images') ? [capability, 'images' as const] : [capability];
  return { id, object: 'model', created: started, owned_by: owner, name, capabilities: has };
}

function withoutDuplicates(models: readonly Model[]): Model[] {
  const byId = new Map<string, Model>();
  for (const model of models) {
    const known = byId.get(model.id);
    if (!known) byId.set(model.id, model);
    else known.capabilities = [...new Set([...known.capabilities, ...model.capabilities])];
  }
  return [...byId.values()];
}

export const listAudioModels: Handler<'listAudioModels', Services> = (_request, { registry }) => {
  const models = allowedModels(registry.of('speech').all).map(({ id, entry: { name = id } }) => ({ id, name }));
  return Promise.resolve(answer({ status: 200, mediaType: 'application/json', body: { object: 'list', models } }));
};

export const listAudioVoices: Handler<'listAudioVoices', Services> = ({ query }, services) => {
  const models =
    query.model === undefined
      ? allowedModels(services.registry.of('speech').all)
      : [resolveModel(services, 'speech', query.model)];
  const all = models.flatMap(({ entry }) => entry.voices ?? []);
  const voices = [...new Map(all.toReversed().map((voice) => [voice.id, voice])).values()].toReversed();
  const body = { object: 'list' as const, voices: voices.map(({ id, name }) => ({ id, name })) };
  return Promise.resolve(answer({ status: 200, mediaType: 'application/json', body }));
};
