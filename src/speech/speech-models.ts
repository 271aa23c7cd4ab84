/** Selects the speech model and the voice of a request from its options and the settings. */
import { joinFirst } from '../../lib/listing.ts';
import {
  EngineError,
  pcmFormat,
  type EngineContext,
  type Pcm,
  type SpeechFormat,
  type Voice,
} from '../../engines/contract/index.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { firstInstalled, type ServedModel } from '../engine-host/models/served-models.ts';
import type { Registry } from '../engine-host/registry/registry.ts';
import { chooseModel, defaultModel, requireAvailable } from '../engine-host/models/model-selection.ts';
import { audioTypes, type Audio, type AudioType } from '../contract/audio.ts';
import { ProblemError } from '../contract/problems.ts';
import { allowedModels } from '../keys/permissions.ts';
import { SettingsError } from '../settings/load.ts';
import { composed } from './letters.ts';
import { speakable } from './speakable.ts';
import { recordSpeech } from './speech-record.ts';
import { wholeSamples } from './whole-samples.ts';
import { withTimeouts, type Listener, type SpeechTimeouts } from './timeouts.ts';

/**
 * For `model` and `voice`, null or absent means the configured default. If neither the request nor the settings name a
 * model, a voice or language that the default model lacks selects a local model that has it.
 */
export interface SpeechSelection {
  readonly model: string | null | undefined;
  readonly voice: string | null | undefined;
  /** JSON Pointers (RFC 6901) of these fields in the body, for problems. */
  readonly pointers: { readonly model: string; readonly voice: string };
}

export interface Utterance {
  readonly text: string;
  /** Removes markup, code, reasoning, addresses and emoji from the text. Defaults to true, unless the engine is `verbatim`. */
  readonly speakable?: boolean | undefined;
  /** ISO 639-1; ignored when the request or TTS_VOICE selects the voice. */
  readonly language?: string;
  readonly format: SpeechFormat;
  /** Requires a model that supports `speed`. */
  readonly speed?: number | undefined;
  /** Requires a model that supports `instructions`. */
  readonly instructions?: string | undefined;
}

export interface SelectedSpeech {
  /** The model that is used for a text without a language. */
  readonly model: ServedModel<'speech'>;
  /** Resolves once the first bytes are available; reading the audio throws later failures. */
  speak(utterance: Utterance, listener: Listener): Promise<Audio>;
  /** Loads the voice for a text in this language, if the model is local. */
  warmUp({ language }: Pick<Utterance, 'language'>): Promise<void>;
}

export interface SpeechModelSelector {
  /**
   * Throws `no-engine`, `unknown-model`, `model-not-allowed` or `model-unavailable`, and `voice-not-supported` if the
   * model lists other voices.
   */
  choose(options: SpeechSelection): SelectedSpeech;
  /** Returns the voice for requests that name none; undefined if the engine lists no default. */
  defaultVoiceOf(model: ServedModel<'speech'>): string | undefined;
  /** Whether the default model of the API key is available. */
  defaultIsAvailable(): boolean;
}

export interface SelectorOptions {
  readonly registry: Registry;
  /** The setting TTS_VOICE. */
  readonly defaultVoice: string | undefined;
  /** Encodes silence for a text without speakable content. */
  readonly encode: EngineContext['encode'];
  readonly limits?: SpeechTimeouts;
  readonly metrics?: Metrics | undefined;
}

const defaultLimits: SpeechTimeouts = { firstBytesMs: 120_000, silenceMs: 60_000 };

const voicesInMessages = 5;

/** Throws a `SettingsError` if the default model lists its voices and TTS_VOICE is not one of them. */
export function createSpeechModelSelector({
  registry,
  defaultVoice,
  encode,
  limits = defaultLimits,
  metrics,
}: SelectorOptions): SpeechModelSelector {
  const served = registry.of('speech');
  // Checked only if all engines have listed their models, because the default model may be missing from a failed list.
  if (defaultVoice !== undefined && served.knowsAll) expectVoice(served.default, defaultVoice);
  return {
    choose({ model: named, voice, pointers }) {
      const preferred = chooseModel(registry, 'speech', named, pointers.model);
      const isFree = named == null && !served.isNamed;
      const chosen = voice == null || !isFree ? preferred : withVoice(preferred, ({ id }) => id === voice);
      if (voice != null && !mayHaveVoice(chosen, voice)) throw voiceNotSupported(chosen, voice, pointers.voice);
      requireAvailable(chosen, served);
      const chosenVoice = voice ?? configuredVoiceOf(chosen);
      const forLanguage = (requested: string | undefined) =>
        chosenVoice !== undefined || requested === undefined || !isFree
          ? chosen
          : withVoice(chosen, ({ language }) => language === null || language === requested);
      return { model: chosen, ...selectedSpeech(forLanguage, chosenVoice, { encode, limits, metrics }) };
    },
    defaultVoiceOf: (model) => configuredVoiceOf(model) ?? model.entry.defaultVoice,
    defaultIsAvailable: () => defaultModel(registry, 'speech')?.availability.available ?? false,
  };

  /**
   * Returns the preferred model if it has a matching voice or lists no voices, otherwise the first local model that has
   * one.
   */
  function withVoice(preferred: ServedModel<'speech'>, matches: (voice: Voice) => boolean) {
    const has = ({ entry }: ServedModel) => entry.voices?.some(matches) ?? false;
    if (has(preferred) || !preferred.entry.voices?.length) return preferred;
    const able = allowedModels(served.all).filter((model) => model.entry.local && has(model));
    return firstInstalled(able) ?? able[0] ?? preferred;
  }

  /** TTS_VOICE belongs to the configured default model; other models use it only if they list a voice of that name. */
  function configuredVoiceOf({ id: model, entry }: ServedModel): string | undefined {
    if (defaultVoice === undefined || entry.voices?.some(({ id }) => id === defaultVoice)) return defaultVoice;
    return model === served.default?.id ? defaultVoice : undefined;
  }
}

function expectVoice(model: ServedModel | undefined, voice: string): void {
  if (!model || mayHaveVoice(model, voice)) return;
  const detail = `the default speech model "${model.id}" has no voice "${voice}"; available: ${someVoices(model)}`;
  throw new SettingsError(`TTS_VOICE: ${detail}`);
}

function selectedSpeech(
  modelFor: (language: string | undefined) => ServedModel<'speech'>,
  voice: string | undefined,
  { encode, limits, metrics }: Required<Pick<SelectorOptions, 'encode' | 'limits'>> & Pick<SelectorOptions, 'metrics'>,
): Pick<SelectedSpeech, 'speak' | 'warmUp'> {
  const voiceFor = (language: string | undefined) =>
    voice === undefined ? { ...(language !== undefined && { language }) } : { voice };
  return {
    async warmUp({ language }) {
      const { engine, engineId, entry } = modelFor(language);
      if (entry.local) await engine.warmUp?.({ model: engineId, ...voiceFor(language) });
    },
    async speak({ language, format, speed, instructions, ...utterance }, listener) {
      const model = modelFor(language);
      const prepares = utterance.speakable ?? !model.engine.verbatim;
      const text = prepares ? speakable(utterance.text) : composed(utterance.text);
      const call = {
        ...{ text, model: model.engineId, format, ...voiceFor(language) },
        ...(speed !== undefined && { speed }),
        ...(instructions !== undefined && { instructions }),
      };
      const synthesize = async (signal: AbortSignal): Promise<Audio> => {
        const { mediaType, audio } =
          text === '' ? encode(silence(), format, { signal }) : await model.engine.synthesize(call, { signal });
        const declared = declaredType(mediaType);
        return { mediaType: declared, audio: declared === pcmFormat.mediaType ? wholeSamples(audio) : audio };
      };
      return recordSpeech(() => withTimeouts(synthesize, listener, limits), model, listener, metrics);
    },
  };
}

/** Returns 100 ms of silence, because apps expect some audio for each piece of a text. */
function silence(): Pcm {
  const { sampleRate } = pcmFormat;
  async function* samples() {
    yield await Promise.resolve(new Int16Array(sampleRate / 10));
  }
  return { sampleRate, samples: samples() };
}

/** Returns the type without its parameters: `audio/ogg; codecs=opus` is ogg. */
function declaredType(mediaType: string): AudioType {
  const [essence] = mediaType.toLowerCase().split(';');
  const declared = audioTypes.find((type) => type === essence?.trim());
  if (declared !== undefined) return declared;
  const cause = new Error(`the engine returned "${mediaType}", not one of ${audioTypes.join(', ')}`);
  throw new EngineError('engine-failed', 'The engine returned audio of an unsupported type.', { cause });
}

/** Whether the model may have the voice. Engines that list no voices check it in `synthesize`. */
function mayHaveVoice({ entry: { voices = [] } }: ServedModel, voice: string): boolean {
  return voices.length === 0 || voices.some(({ id }) => id === voice);
}

function voiceNotSupported(model: ServedModel, voice: string, pointer: string): ProblemError {
  const detail = `The speech model "${model.id}" has no voice "${voice}"; available: ${someVoices(model)}.`;
  return new ProblemError('voice-not-supported', detail, {
    errors: [{ in: 'body', pointer, detail: 'must be the id of a listed voice of the speech model' }],
  });
}

function someVoices({ entry: { voices = [] } }: ServedModel): string {
  return joinFirst(
    voices.map(({ id }) => id),
    voicesInMessages,
  );
}
