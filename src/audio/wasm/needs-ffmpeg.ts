/** The codecs that are known but not decoded here. ffmpeg decodes them; the documentation and the doctor list them. */
import type { Container, EngineError } from '../../../engines/contract/index.ts';
import { undecodable } from '../failures.ts';

/**
 * Names by the beginning of the id in the container: the type of a sample entry in mp4, the CodecID in Matroska, the first
 * packet in Ogg, and the format code in WAV.
 */
const names: Readonly<Partial<Record<Container, readonly (readonly [id: string, name: string])[]>>> = {
  mp4: [
    ['mp4a', 'AAC'],
    ['alac', 'ALAC'],
    ['samr', 'AMR'],
    ['sawb', 'AMR-WB'],
    ['ac-3', 'AC-3'],
    ['ec-3', 'E-AC-3'],
  ],
  webm: [
    ['A_AAC', 'AAC'],
    ['A_ALAC', 'ALAC'],
    ['A_AC3', 'AC-3'],
    ['A_EAC3', 'E-AC-3'],
  ],
  ogg: [
    ['\x7fFLAC', 'FLAC'],
    ['Speex   ', 'Speex'],
  ],
  wav: [
    ['2', 'Microsoft ADPCM'],
    ['17', 'IMA ADPCM'],
    ['49', 'GSM'],
    ['85', 'MP3'],
  ],
};

/** Text for the documentation and the doctor. */
export const codecsOfFfmpeg = Object.entries(names)
  .map(([container, codecs]) => `${codecs.map(([, name]) => name).join(', ')} in ${container}`)
  .join('; ');

/**
 * The error for a codec that is not supported. `ids` are those of all streams, for containers that do not say which of
 * them are audio.
 */
export function unsupportedCodec(container: Container, ...ids: readonly string[]): EngineError {
  const isId = container === 'wav' ? Object.is : (id: string, known: string) => id.startsWith(known);
  const name = names[container]?.find(([known]) => ids.some((id) => isId(id, known)))?.[1];
  if (name !== undefined) return undecodable(`${name} in ${container} needs ffmpeg on the server`);
  // Ids come from the file: only short, plain ones are shown.
  const shown = ids.find((id) => /^[\w/. -]{1,32}$/.test(id)) ?? 'an unknown codec';
  return undecodable(`unsupported codec (${shown} in ${container})`);
}
