/** Generates what Piper's two files lack for sherpa-onnx: tokens.txt, and metadata in the model. */
import type { PiperConfig } from './piper-config.ts';

/** The metadata that the library reads from a VITS model. */
export function metadataOf(config: PiperConfig): Readonly<Record<string, string | number>> {
  const { phonemes, sampleRate, speakerCount, espeakVoice, locale, tokens } = config;
  const common = { model_type: 'vits', language: locale, n_speakers: speakerCount, sample_rate: sampleRate };
  if (phonemes === 'espeak') return { ...common, comment: 'piper', voice: espeakVoice, has_espeak: 1 };
  const [pad = 0, begin = 0, end = 0] = ['_', '^', '$'].map((symbol) => tokens.get(symbol));
  const ids = { blank_id: pad, pad_id: pad, bos_id: begin, eos_id: end };
  return { ...common, comment: 'piper', frontend: 'characters', add_blank: 1, use_eos_bos: 1, ...ids };
}

export const tokensFile = ({ tokens }: PiperConfig): string =>
  Array.from(tokens, ([symbol, id]) => `${symbol} ${id}\n`).join('');

/** Fields of a protobuf message may come in any order: appended to an ONNX file, these bytes are metadata of its model. */
export function metadataFields(metadata: Readonly<Record<string, string | number>>): Buffer {
  const entries = Object.entries(metadata).map(([key, value]) =>
    field(14, Buffer.concat([text(1, key), text(2, value)])),
  );
  return Buffer.concat(entries);
}

const text = (number: number, value: string | number): Buffer => field(number, Buffer.from(String(value)));

function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  return Buffer.from(value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]);
}
