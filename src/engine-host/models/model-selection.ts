/** Models in the API: listings, availability, and the selection of the model for a request. */
import { commandLine } from '../../../lib/setup-command.ts';
import { joinFirst } from '../../../lib/listing.ts';
import {
  EngineError,
  features,
  type Availability,
  type Capability,
  type Feature,
} from '../../../engines/contract/index.ts';
import type { Models, ServedModel, ServedModels } from './served-models.ts';
import type { Schemas } from '../../contract/operations.ts';
import { inBody, ProblemError, textFor } from '../../contract/problems.ts';
import { isForOperator } from '../../request-scope.ts';
import { engineErrorOf } from '../guard/failures.ts';
import { allowedModels, mayUseModel, modelNotAllowed, requireModel } from '../../keys/permissions.ts';

type ModelEntry = Schemas['ModelEntry'];

const namesInMessages = 5;

export interface Listing<C extends Capability> {
  readonly models: readonly ServedModel<C>[];
  readonly default: ServedModel<C> | undefined;
  /** Why engines list no models; undefined if none of them fails. */
  readonly failure: string | undefined;
}

/** Returns the models that the API key of the request may use, and the default model for the key. */
export function listModels<C extends Capability>(registry: Models, capability: C): Listing<C> {
  const served = registry.of(capability);
  return { models: allowedModels(served.all), default: defaultModel(registry, capability), failure: failureOf(served) };
}

/** Returns the response body with the entries of a listing. */
export function toList<E extends ModelEntry>({ default: model, failure }: Listing<Capability>, data: E[]) {
  return { data, default: model?.id ?? null, ...(failure !== undefined && { reason: failure }) };
}

/**
 * Returns the default model of the service if the API key of the request may use it, otherwise the first available
 * candidate that the key may use, otherwise its first candidate.
 */
export function defaultModel<C extends Capability>(registry: Models, capability: C): ServedModel<C> | undefined {
  const served = registry.of(capability);
  const configured = served.default;
  if (configured === undefined || mayUseModel(configured.id)) return configured;
  const { candidates } = served;
  return candidates.find(({ availability }) => availability.available) ?? candidates[0];
}

/** Returns the model with this id if the API key of the request may use it. */
export function findModel<C extends Capability>(
  registry: Models,
  capability: C,
  id: string,
): ServedModel<C> | undefined {
  return mayUseModel(id) ? registry.of(capability).find(id) : undefined;
}

/**
 * Returns the model that the request names (at `pointer` in its body), otherwise the default. Throws `unknown-model` or
 * `model-not-allowed` with valid ids, or `no-engine` or `model-unavailable` if there are no models.
 */
export function chooseModel<C extends Capability>(
  registry: Models,
  capability: C,
  named: string | null | undefined,
  pointer = '/model',
): ServedModel<C> {
  const found = named == null ? defaultModel(registry, capability) : findModel(registry, capability, named);
  if (found) return found;
  const ids = allowedModels(registry.of(capability).all).map(({ id }) => id);
  if (named != null) requireModel(named, ids, pointer);
  if (ids.length === 0) throw nothingServed(registry, capability, pointer);
  const detail = `${named == null ? 'There is no default model; name one' : `No ${capability} model has the id "${named}"; valid are`}: ${joinFirst(ids, namesInMessages)}.`;
  throw new ProblemError(
    'unknown-model',
    inSentences(failureOf(registry.of(capability)), detail),
    inBody(pointer, 'must be the id of a listed model'),
  );
}

function nothingServed(registry: Models, capability: Capability, pointer: string): ProblemError {
  const served = registry.of(capability);
  if (served.all.length > 0) return modelNotAllowed(`a ${capability} model`, [], pointer);
  const { instances } = served;
  if (instances.length === 0) return new ProblemError('no-engine', `No engine for ${capability} is configured.`);
  const failure = failureOf(served);
  const hint = failure ?? `${noModelHint(instances)}.`;
  return new ProblemError('model-unavailable', `No ${capability} model is available now: ${hint}`);
}

/** Returns a hint for engines that do not fail but list no models, such as an Ollama without models. */
export function noModelHint(instances: readonly string[]): string {
  const asked = `${instances.join(', ')} ${instances.length === 1 ? 'lists' : 'list'} none`;
  return `${asked}; ${commandLine('doctor')} shows what is missing`;
}

/**
 * Returns why engines from the settings list no models, in the words of their own errors; undefined if no engine fails.
 * A key learns only about engines whose listed models it may use.
 */
export function failureOf(served: Pick<ServedModels<Capability>, 'failures'>): string | undefined {
  const failures = served.failures.flatMap(({ instance, error }) => {
    const known = mayUseModel(`${instance}/`) ? engineErrorOf(error) : undefined;
    return known ? [`${instance}: ${textFor(reader(), known.message, known.forOperator)}`] : [];
  });
  return failures.length > 0 ? failures.join(' ') : undefined;
}

const reader = () => ({ isOperator: isForOperator() });

const inSentences = (...parts: readonly (string | undefined)[]) => parts.filter((part) => part !== undefined).join(' ');

/**
 * Throws `engine-failed` if the engine has failed, or `model-unavailable` if the model cannot be used for another
 * reason.
 */
export function requireAvailable(
  { availability: { available, code, reason } }: Pick<ServedModel, 'availability'>,
  others: Pick<ServedModels<Capability>, 'failures'>,
): void {
  // Only a call can show whether a rejected key works again.
  if (available || code === 'key-refused') return;
  if (notThereYet.has(code)) {
    // A failing provider from the settings comes first, because it indicates a mistake, whereas an installable model is
    // only a suggestion.
    throw new ProblemError('model-unavailable', inSentences(failureOf(others), reason));
  }
  throw new EngineError(code === 'engine-failed' ? code : 'model-unavailable', reason);
}

/** Availability codes of a model that is not set up yet. */
const notThereYet: ReadonlySet<string> = new Set(['preparing', 'program-missing', 'model-file-missing', 'key-missing']);

export function supports({ entry }: ServedModel, feature: Feature): boolean {
  return entry.supports?.includes(feature) ?? false;
}

/** Throws `parameter-not-supported`. */
export function requireSupport(model: ServedModel, feature: Feature, pointer: string): void {
  if (supports(model, feature)) return;
  const detail = `The model "${model.id}" does not support ${features[feature]}.`;
  throw new ProblemError(
    'parameter-not-supported',
    detail,
    inBody(pointer, 'must be something that the model supports'),
  );
}

export function toEntry(model: ServedModel, availability = model.availability): ModelEntry {
  const { id, entry, instance } = model;
  const { name = id, local, supports: supported = [], languages } = entry;
  return {
    ...{ id, name, engine: instance, local, ...toAvailability(availability), supports: [...supported] },
    ...(languages && { languages: [...languages] }),
  };
}

/** Converts an availability to its form in the API. */
export function toAvailability({ available, code, reason: text, forOperator, progress }: Availability) {
  const reason = textFor(reader(), text, forOperator);
  return { available, code, reason, ...(code === 'preparing' && { progress: progress ?? null }) };
}
