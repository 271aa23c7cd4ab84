/**
 * Facts about a voice, read from its files before it is loaded. Each family checks its files and returns these facts.
 */
import { requireCount, Unusable, type Judged } from '../lib/model-files.ts';

export interface VoiceFacts {
  /** Path of the model. */
  readonly file: string;
  /** Size of all weights. */
  readonly bytes: number;
  /** Bytes of memory that the voice needs once it is loaded. */
  readonly memory: number;
  readonly sampleRate: number;
  /** Above 1 for a voice that speaks slowly. */
  readonly lengthScale: number;
  /** Display name; may be empty. */
  readonly title: string;
  /** At least one. */
  readonly speakers: readonly FileSpeaker[];
  /** The name of the family in the configuration of sherpa-onnx. */
  readonly family: 'vits' | 'kokoro' | 'kitten' | 'supertonic';
  /** Whether the text goes through eSpeak NG. */
  readonly needsEspeak: boolean;
  /** The configuration of the family. `directory` has what `convert` has written. */
  readonly configure: (directory: string) => Readonly<Record<string, unknown>>;
  /** Writes what the library needs beyond the files of the voice. */
  readonly convert?: (directory: string) => Promise<void>;
  /** Returns what the library can speak in a language; a text without a letter, a digit or a symbol is silence. */
  readonly toSpeakable: (text: string, language: string | null) => string;
}

/** A speaker in the files of a voice. */
export interface FileSpeaker {
  /** Undefined for the only speaker. */
  readonly name?: string;
  readonly number: number;
  /** ISO 639-1; null if unknown. */
  readonly language: string | null;
  /** BCP 47, such as en-US. */
  readonly locale: string;
  /** The option `lang` of the library, if the family has one. */
  readonly lang?: string;
}

export type VoiceFile = Judged<VoiceFacts>;
export type UsableVoice = Extract<VoiceFile, { readonly ok: true }>;

/** Published voices have up to 904. Each speaker is listed as a voice. */
const maxSpeakers = 10_000;
/** The embedding of a speaker has at least 64 numbers. */
const leastSpeakerBytes = 64;

/** `bytes` is the size of the weights, which include those of each speaker. Throws `Unusable`. */
export function speakerCountOf(value: unknown, name: string, bytes: number): number {
  return requireCount(value, name, Math.min(maxSpeakers, Math.max(1, Math.floor(bytes / leastSpeakerBytes))));
}

/** With other rates, the library divides by zero, or the encoders fail. Throws `Unusable`. */
export function sampleRateOf(value: unknown): number {
  const rate = Number(value);
  if (Number.isInteger(rate) && rate >= 8_000 && rate <= 48_000) return rate;
  throw new Unusable('its sample_rate must be 8000 to 48000');
}
