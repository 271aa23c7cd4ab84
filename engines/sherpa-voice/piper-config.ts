/** Reads the fields of Piper's .onnx.json that a voice needs. */
import { isObject, parseObject, textOf, type JsonObject } from '../../lib/json.ts';
import { requireCount, Unusable } from '../lib/model-files.ts';
import { sampleRateOf, speakerCountOf } from './voice-facts.ts';

export interface PiperConfig {
  /** How text becomes tokens: by eSpeak NG, or letter by letter. */
  readonly phonemes: 'espeak' | 'text';
  /** eSpeak NG's name of the voice. */
  readonly espeakVoice: string;
  readonly sampleRate: number;
  /** The number of each speaker by name. Empty for a single speaker. */
  readonly speakers: ReadonlyMap<string, number>;
  readonly speakerCount: number;
  readonly tokens: ReadonlyMap<string, number>;
  readonly lengthScale: number;
  readonly noiseScale: number;
  readonly noiseW: number;
  /** ISO 639-1; null if the locale names none. */
  readonly language: string | null;
  /** BCP 47, such as en-US. */
  readonly locale: string;
  /** The name of the recordings, such as `ljspeech`. */
  readonly dataset: string;
}

/** `modelBytes` is the size of the model. Throws `Unusable`. */
export function readPiperConfig(text: string, modelBytes: number): PiperConfig {
  const json = parseObject(text);
  if (!json) throw new Unusable('it is not a JSON object');
  const [audio, espeak, inference, language] = [
    objectOf(json.audio),
    objectOf(json.espeak),
    objectOf(json.inference),
    objectOf(json.language),
  ];
  const phonemes = textOf(json.phoneme_type) || 'espeak';
  if (phonemes !== 'espeak' && phonemes !== 'text')
    throw new Unusable(`its phoneme_type is ${phonemes}; supported: espeak, text`);
  const espeakVoice = textOf(espeak.voice);
  if (phonemes === 'espeak' && espeakVoice === '') throw new Unusable('it has no espeak.voice');
  const locale = (textOf(language.code) || espeakVoice).replaceAll('_', '-');
  return {
    phonemes,
    espeakVoice,
    locale,
    language: /^[a-z]{2}(?![a-z])/i.exec(locale)?.[0].toLowerCase() ?? null,
    sampleRate: sampleRateOf(audio.sample_rate),
    ...speakersOf(json, modelBytes),
    tokens: tokensOf(json, modelBytes),
    lengthScale: scaleOf(inference, 'length_scale', 1, 0.1),
    noiseScale: scaleOf(inference, 'noise_scale', 0.667, 0),
    noiseW: scaleOf(inference, 'noise_w', 0.8, 0),
    dataset: textOf(json.dataset),
  };
}

function speakersOf(
  { num_speakers = 1, speaker_id_map }: JsonObject,
  modelBytes: number,
): Pick<PiperConfig, 'speakers' | 'speakerCount'> {
  const speakerCount = speakerCountOf(num_speakers, 'num_speakers', modelBytes);
  if (speakerCount === 1) return { speakerCount, speakers: new Map() };
  const named = Object.entries(objectOf(speaker_id_map)).map(([name, sid]) => [name, Number(sid)] as const);
  if (named.length > speakerCount) throw new Unusable('its speaker_id_map has more than num_speakers names');
  const numbered = Array.from({ length: speakerCount }, (_, sid) => [String(sid), sid] as const);
  const speakers = new Map(named.length > 0 ? named : numbered);
  const isNumber = (sid: number) => Number.isInteger(sid) && sid >= 0 && sid < speakerCount;
  if (![...speakers.values()].every(isNumber)) throw new Unusable('its speaker_id_map has an unknown speaker');
  return { speakerCount, speakers };
}

/**
 * Line ends and symbols of more than one character cannot be written to tokens.txt. Each of the `num_symbols` has weights
 * in the model.
 */
function tokensOf({ phoneme_id_map, num_symbols }: JsonObject, modelBytes: number): ReadonlyMap<string, number> {
  const size = requireCount(num_symbols, 'num_symbols', modelBytes);
  const all = Object.entries(objectOf(phoneme_id_map)).map(([symbol, ids]) => {
    const [id] = [ids].flat();
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= size)
      throw new Unusable('its phoneme_id_map has a number that is not below num_symbols');
    return [symbol, id] as const;
  });
  const tokens = new Map(
    all.filter(([symbol]) => symbol !== '\n' && symbol !== '\r' && Array.from(symbol).length === 1),
  );
  if (!['_', '^', '$'].every((symbol) => tokens.has(symbol)))
    throw new Unusable('its phoneme_id_map lacks one of _ ^ $');
  return tokens;
}

/** With a length scale near 0, the library speaks for minutes. */
function scaleOf(inference: JsonObject, name: string, defaultValue: number, least: number): number {
  const { [name]: value = defaultValue } = inference;
  if (typeof value === 'number' && value >= least && value <= 10) return value;
  throw new Unusable(`its ${name} must be ${least} to 10`);
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
