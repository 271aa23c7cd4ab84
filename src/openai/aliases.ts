/** The model of a request: ids that apps hard-code mean the configured default. */
import type { Capability } from '../../engines/contract/index.ts';
import { chooseModel, listModels } from '../engine-host/model-selection.ts';
import type { ServedModel } from '../engine-host/registry.ts';
import { ProblemError } from '../contract/problems.ts';
import type { Services } from '../handlers/dependencies.ts';

export const capabilities = ['chat', 'transcription', 'speech'] as const;

/** OpenAI's ids that self-hosted apps send without asking; none for chat. */
export const modelAliases: Readonly<Record<Capability, readonly string[]>> = {
  chat: [],
  transcription: ['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'],
  speech: ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'],
};

/** OpenAI's voices: the default voice of a model that has none so named. */
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
 * The model that a request names, else the default: an entry of that id, then the entry that `compatAliases` names, then
 * the default for an id that apps hard-code. Throws `invalid-request` for a model of another kind, else as `chooseModel`.
 */
export async function resolveModel<C extends Capability>(
  { registry, compatAliases }: Pick<Services, 'registry' | 'compatAliases'>,
  capability: C,
  named: string | null | undefined,
): Promise<ServedModel<C>> {
  if (named == null || named === '') return chooseModel(registry, capability, undefined);
  const { models } = await listModels(registry, capability);
  const entry = models.find(({ id }) => id === named) ?? models.find(({ id }) => id === compatAliases.get(named));
  if (entry) return entry;
  if (modelAliases[capability].includes(named)) return chooseModel(registry, capability, undefined);
  for (const other of capabilities) {
    const isListed = (await registry.models(other)).some(({ id }) => id === named);
    if (other !== capability && (isListed || modelAliases[other].includes(named))) throw wrongKind(named, capability);
  }
  return chooseModel(registry, capability, named);
}

function wrongKind(named: string, capability: Capability): ProblemError {
  const detail = `${named} is not a ${capability} model`;
  return new ProblemError('invalid-request', `${detail}.`, {
    errors: [{ in: 'body', pointer: '/model', detail: `must be a ${capability} model` }],
  });
}

/** The voice of a request for a speech model; undefined: the default. Unknown voices stay, and are refused later. */
export function resolveVoice({ entry }: ServedModel<'speech'>, named: string | null | undefined): string | undefined {
  if (named == null || named === '') return undefined;
  const hasIt = entry.voices?.some(({ id }) => id === named) ?? false;
  return !hasIt && voiceAliases.includes(named) ? undefined : named;
}

/** `X-Parlance-Model`: the entry that does the work. Header values are ASCII. */
export function modelHeader({ id }: ServedModel): { 'X-Parlance-Model': string } {
  return { 'X-Parlance-Model': encodeURI(id) };
}

/** `X-Parlance-Ignored`: fields that had no effect. */
export function ignoredHeader(fields: readonly string[]): { 'X-Parlance-Ignored'?: string } {
  return fields.length > 0 ? { 'X-Parlance-Ignored': fields.join(', ') } : {};
}
