/** Adapts the parameters of a transcription to what its model supports. */
import type { Feature } from '../../engines/contract/index.ts';
import { promptWithKeywords } from '../../lib/text.ts';
import { inBody, ProblemError } from '../contract/problems.ts';
import { requireSupport, supports } from '../engine-host/models/model-selection.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { arePaired, collectParameters, type ParameterName, type TranscriptionParameters } from './parameters.ts';

export interface Fitted {
  /** The parameters that the engine receives. */
  readonly call: TranscriptionParameters;
  /** Parameters that the model does not support. */
  readonly ignored: readonly ParameterName[];
}

/**
 * Drops parameters for which the model lacks a feature, or throws `parameter-not-supported` if the API refuses them in
 * that case. A model without keyword support receives the keywords in its prompt.
 */
export function fit(
  model: ServedModel<'transcription'>,
  asked: TranscriptionParameters,
  api: 'api' | 'openai' | 'session',
): Fitted {
  const ignored: ParameterName[] = [];
  const { keywords, ...call } = collectParameters((row, name) => {
    const value = asked[name];
    if (value === undefined) return undefined;
    const { openai } = row;
    const refused = api === 'api' ? row.api?.field : api === 'openai' && openai?.isRefused ? openai.field : undefined;
    const has = (feature: Feature): boolean => {
      if (supports(model, feature) || (row.instead && supports(model, row.instead))) return true;
      if (refused !== undefined) requireSupport(model, feature, `/${refused}`);
      return false;
    };
    const taken = row.fit ? row.fit(value, has, asked) : row.features.every(has) ? value : undefined;
    if (taken === undefined) ignored.push(name);
    return taken;
  });
  if (!keywords || supports(model, 'keywords')) return { call: { ...call, ...(keywords && { keywords }) }, ignored };
  return { call: { ...call, prompt: promptWithKeywords(call.prompt, keywords) }, ignored };
}

/**
 * Throws `parameter-not-supported` if the numbers of speakers contradict each other or the model accepts none, or if known
 * speakers lack a name or a reference, or are sent with separate channels, which have no names.
 */
export function requireSpeakers(
  model: ServedModel<'transcription'>,
  { channels, minSpeakers, maxSpeakers, knownSpeakers }: TranscriptionParameters,
): void {
  const refuse = (field: string, detail: string, rule: string) =>
    new ProblemError('parameter-not-supported', detail, inBody(`/${field}`, rule));
  if (!arePaired(knownSpeakers)) {
    const detail = 'known_speaker_names and known_speaker_references are not equally many.';
    throw refuse('known_speaker_references', detail, 'must be one for each of known_speaker_names');
  }
  if (channels && knownSpeakers) {
    const detail = 'The speakers of separate channels have no names.';
    throw refuse('known_speaker_names', detail, 'must not be sent with channels=separate');
  }
  if (minSpeakers === undefined && maxSpeakers === undefined) return;
  const field = minSpeakers ? 'min_speakers' : 'max_speakers';
  if ((minSpeakers ?? 0) > (maxSpeakers ?? Infinity)) {
    throw refuse(field, 'min_speakers is greater than max_speakers.', 'must not exceed max_speakers');
  }
  if (model.finder) return;
  const detail = `The model "${model.id}" distinguishes speakers by itself, and accepts no number of them.`;
  throw refuse(field, detail, 'must be something that the model supports');
}
