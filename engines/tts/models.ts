import { joinFirst } from '../../lib/listing.ts';
import {
  EngineError,
  OptionsError,
  pcmFormat,
  type ModelEntry,
  type SpeechCall,
  type Voice,
} from '../contract/index.ts';
import type { Api, RemoteFormat } from './apis.ts';
import type { ModelOptions, VoiceOptions } from './options.ts';
import type { RemoteModels } from './remote-models.ts';

export interface Model {
  readonly id: string;
  readonly remoteId: string;
  /** The current entry: another Parlance may list other voices later. */
  readonly entry: () => Omit<ModelEntry, 'local'>;
  readonly maxCharacters: number;
  readonly formats: readonly RemoteFormat[];
  readonly sampleRate: number;
  readonly instructions: string | undefined;
  /** Returns the voice to request; undefined leaves the choice to the provider. Throws `voice-not-supported`. */
  readonly voiceFor: (call: Pick<SpeechCall, 'voice' | 'language'>) => string | undefined;
}

/** Throws an `OptionsError` if the settings contradict each other. */
export function toModel(options: string | ModelOptions, api: Api, remote?: Pick<RemoteModels, 'of'>): Model {
  const given: ModelOptions = typeof options === 'string' ? { id: options } : options;
  const { id, remoteId = id, name, defaultVoice, sampleRate = pcmFormat.sampleRate, instructions } = given;
  const { maxCharacters = api.maxCharacters, formats = api.formats, supports = api.supports } = given;
  const voices = given.voices?.map(toVoice);
  const listed = () => voices ?? remote?.of(remoteId);
  return {
    ...{ id, remoteId, maxCharacters, formats, sampleRate, instructions },
    entry: () => {
      const now = listed();
      const shownDefault = defaultVoice ?? voices?.[0]?.id;
      return {
        ...{ id, supports },
        ...(name !== undefined && { name }),
        ...(now && { voices: now }),
        ...(shownDefault !== undefined && { defaultVoice: shownDefault }),
      };
    },
    voiceFor: voices
      ? chooseAmong(voices, id, defaultVoice)
      : (call) => chooseRemote(call, remote?.of(remoteId), id, defaultVoice),
  };
}

/** If neither the request nor the settings determine a voice, the provider chooses one. */
function chooseRemote(
  { voice, language }: Pick<SpeechCall, 'voice' | 'language'>,
  voices: readonly Voice[] | undefined,
  model: string,
  defaultVoice: string | undefined,
): string | undefined {
  if (voice === undefined) {
    const preferred = voices?.find(({ id }) => id === defaultVoice);
    const isRight = preferred === undefined || preferred.language === null || preferred.language === language;
    if (language === undefined || (defaultVoice !== undefined && isRight)) return defaultVoice;
    return voices?.find((candidate) => candidate.language === language)?.id ?? defaultVoice;
  }
  if (voices && !voices.some(({ id }) => id === voice)) throw unknownVoice(voice, voices, model);
  return voice;
}

const maxListingLength = 20;

function unknownVoice(voice: string, voices: readonly Voice[], model: string): EngineError {
  const ids = voices.map(({ id }) => id);
  const detail = `The model ${model} has the voices ${joinFirst(ids, maxListingLength)}, not "${voice}".`;
  return new EngineError('voice-not-supported', detail);
}

function toVoice(options: string | VoiceOptions): Voice {
  const { id, name, language }: VoiceOptions = typeof options === 'string' ? { id: options } : options;
  return { id, name: name ?? id, language: language ?? null };
}

/**
 * Returns a function that returns the requested voice, or else one that speaks the requested language (the default
 * voice if it does), or else the default voice. Throws an `OptionsError` if there is no such default voice.
 */
function chooseAmong(voices: readonly Voice[], model: string, defaultVoice: string | undefined): Model['voiceFor'] {
  const known = voices.map(({ id }) => id).join(', ');
  const preferred = defaultVoice === undefined ? voices[0] : voices.find(({ id }) => id === defaultVoice);
  if (!preferred) {
    throw new OptionsError(`the model ${model} has the voices ${known}, not the defaultVoice "${defaultVoice}"`);
  }
  return ({ voice, language }) => {
    if (voice === undefined) {
      if (language === undefined) return preferred.id;
      const speaks = (candidate: Voice) => candidate.language === null || candidate.language === language;
      return ([preferred, ...voices].find(speaks) ?? preferred).id;
    }
    if (voices.some(({ id }) => id === voice)) return voice;
    throw unknownVoice(voice, voices, model);
  };
}
