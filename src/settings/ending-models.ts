/** Describes the models in the settings for which OpenAI has announced a shutdown date. */
import { findOpenAiAudioModel } from '../../lib/openai-audio-models.ts';
import type { InstanceSettings } from './engines.ts';
import type { LoadedSettings } from './load.ts';

/**
 * The engines that call OpenAI's audio API, each with the variable that names its model if the file lists no engines.
 */
const audioEngines: Readonly<Record<string, string>> = { 'hosted-stt': 'TRANSCRIBE_MODEL', tts: 'TTS_MODEL' };

/**
 * Returns one line for each model that OpenAI has shut down or will shut down. Other providers may serve models with
 * the same names.
 */
export function describeEndingModels(
  { engines, enginesAreListed, file }: Pick<LoadedSettings, 'engines' | 'enginesAreListed' | 'file'>,
  now: number,
): string[] {
  const today = new Date(now).toISOString().slice(0, 10);
  return Object.entries(engines).flatMap(([name, given]) =>
    [given].flat().flatMap((instance, index) => {
      const place = Array.isArray(given) ? `engines.${name}[${String(index)}]` : `engines.${name}`;
      const location = enginesAreListed ? `${file?.path ?? ''}: ${place}.models` : audioEngines[instance.use];
      return openAiModelsOf(instance).flatMap((id) => {
        const model = findOpenAiAudioModel(id);
        if (model?.ends === undefined) return [];
        const ends = today > model.ends ? 'ended' : 'ends';
        const fix = model.successor === undefined ? 'it has announced no successor' : `use ${model.successor} instead`;
        return [`${String(location)}: OpenAI ${ends} the model ${id} on ${model.ends}; ${fix}`];
      });
    }),
  );
}

/** Returns the model ids that the instance sends to OpenAI. */
function openAiModelsOf({ use, baseUrl, models }: InstanceSettings): readonly string[] {
  const isOpenAi = typeof baseUrl === 'string' && /(^|\.)api\.openai\.com$/.test(URL.parse(baseUrl)?.hostname ?? '');
  if (!isOpenAi || !Object.hasOwn(audioEngines, use)) return [];
  return (models as readonly (string | { readonly id: string; readonly remoteId?: string })[]).map((model) =>
    typeof model === 'string' ? model : (model.remoteId ?? model.id),
  );
}
