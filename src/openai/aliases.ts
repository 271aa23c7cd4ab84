/** Resolves the model of a request. Ids that apps hard-code resolve to the configured default. */
import type { Capability } from '../../engines/contract/index.ts';
import { validNames } from '../../lib/did-you-mean.ts';
import { findOpenAiAudioModel } from '../../lib/openai-audio-models.ts';
import { chooseModel, defaultModel, supports } from '../engine-host/models/model-selection.ts';
import { RegistryError } from '../engine-host/registry/registry-error.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { inBody, ProblemError } from '../contract/problems.ts';
import { mayUseModel } from '../keys/permissions.ts';
import type { Services } from '../handlers/dependencies.ts';

export const capabilities = ['chat', 'transcription', 'speech'] as const;

/** Whether this is an OpenAI id that apps hard-code, which resolves to the default. */
export function isAlias(capability: Capability, named: string): boolean {
  return findOpenAiAudioModel(named)?.capability === capability;
}

/** OpenAI's voices. If a model has no voice of that name, they resolve to its default voice. */
export const voiceAliases: readonly string[] = [
  'alloy',
  'ash',
  'ballad',
  'cedar',
  'coral',
  'echo',
  'fable',
  'marin',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
];

/**
 * Returns the model that a request names, or the default: an entry with that id, then the entry that `compatAliases`
 * maps it to, then the default for an id that apps hard-code. Throws `invalid-request` for a model of another
 * capability, and the errors of `chooseModel`: the API key must permit the entry, not the alias. `pointer` is the
 * location of the model's name in the request body.
 */
export function resolveModel<C extends Capability>(
  services: AliasServices,
  capability: C,
  named: string | null | undefined,
  pointer = '/model',
): ServedModel<C> {
  const { registry, compatAliases } = services;
  const choose = (id: string | undefined) => chooseModel(registry, capability, id, pointer);
  if (named == null || named === '') return choose(undefined);
  const entry = findModel(services, capability, named);
  if (entry) return choose(entry.id);
  if (isAlias(capability, named)) return choose(targetOf(compatAliases, named));
  for (const other of capabilities) {
    const isListed = registry.of(other).find(named) !== undefined && mayUseModel(named);
    if (other !== capability && (isListed || isAlias(other, named))) throw wrongKind(named, capability, pointer);
  }
  return choose(named);
}

/** Whether a request uses the configured default because it names no model or one that apps hard-code. */
export function leavesModel(
  { compatAliases }: AliasServices,
  { id }: ServedModel<'speech'>,
  named: string | null | undefined,
): boolean {
  if (named == null || named === '') return true;
  return id !== named && isAlias('speech', named) && targetOf(compatAliases, named) === undefined;
}

type AliasServices = Pick<Services, 'registry' | 'compatAliases'>;

/** Like `resolveModel`, but returns undefined for an unknown name and ignores the permissions of the API key. */
export function findModel<C extends Capability>(
  { registry, compatAliases }: AliasServices,
  capability: C,
  named: string,
): ServedModel<C> | undefined {
  const served = registry.of(capability);
  const target = targetOf(compatAliases, named);
  const found = served.find(named) ?? (target === undefined ? undefined : served.find(target));
  if (found || target !== undefined || !isAlias(capability, named)) return found;
  const meant = defaultModel(registry, capability);
  if (meant === undefined || findOpenAiAudioModel(named)?.id !== diarizing || supports(meant, 'diarize')) return meant;
  return served.candidates.find((model) => supports(model, 'diarize')) ?? meant;
}

/** Returns the model that the settings map an id to, otherwise the model for the id without its snapshot date. */
function targetOf(compatAliases: AliasServices['compatAliases'], named: string): string | undefined {
  return compatAliases.get(named) ?? compatAliases.get(findOpenAiAudioModel(named)?.id ?? named);
}

/** This alias resolves to the first model that distinguishes speakers, if the default does not. */
const diarizing = 'gpt-4o-transcribe-diarize';

/** Throws a `RegistryError` if an alias maps to an entry that no engine serves, unless an engine may still list it. */
export function checkAliases({ registry, compatAliases }: AliasServices): void {
  const ids = capabilities.flatMap((capability) => registry.of(capability).all.map(({ id }) => id));
  const isServed = (target: string) =>
    ids.includes(target) || capabilities.some((capability) => registry.of(capability).mayServe(target));
  const mistakes = [...compatAliases].flatMap(([name, target]) =>
    isServed(target) ? [] : `compatAliases.${name}: no engine serves the model "${target}"; ${validNames(ids, target)}`,
  );
  if (mistakes.length > 0) throw new RegistryError(mistakes.join('\n'));
}

function wrongKind(named: string, capability: Capability, pointer: string): ProblemError {
  const blame = inBody(pointer, `must be a ${capability} model`);
  return new ProblemError('invalid-request', `${named} is not a ${capability} model.`, blame);
}

/**
 * Returns the voice that a request selects for a speech model; undefined means the default. Other unknown names are
 * returned unchanged and rejected later, unless the model (such as OpenAI's own) lists no voices.
 */
export function resolveVoice({ entry }: ServedModel<'speech'>, named: string | null | undefined): string | undefined {
  if (named == null || named === '') return undefined;
  const { voices = [] } = entry;
  const mayHaveIt = voices.length === 0 || voices.some(({ id }) => id === named);
  return !mayHaveIt && voiceAliases.includes(named) ? undefined : named;
}

/** Returns the header `X-Parlance-Model`: the id of the entry in use, percent-encoded. */
export function modelHeader({ id }: ServedModel): { 'X-Parlance-Model': string } {
  return { 'X-Parlance-Model': encodeURI(id) };
}

/** Returns the header `X-Parlance-Ignored`, which lists the fields that had no effect. */
export function ignoredHeader(fields: readonly string[]): { 'X-Parlance-Ignored'?: string } {
  return fields.length > 0 ? { 'X-Parlance-Ignored': fields.join(', ') } : {};
}
