/**
 * Known codecs that the WASM decoders do not support. ffmpeg decodes them; the documentation and the doctor list them.
 */
import type { Container, EngineError } from '../../../engines/contract/index.ts';
import { nameOf } from '../container-name.ts';
import { undecodable } from '../failures.ts';

/**
 * Codec names by the prefix of the codec's id in the container (the type of a sample entry in mp4, the CodecID in
 * Matroska, the first packet in Ogg), or by the whole format code in WAV.
 */
const names: Readonly<Partial<Record<Container, readonly (readonly [id: string, name: string])[]>>> = {
  mp4: [
    ['mp4a', 'AAC'],
    ['alac', 'ALAC'],
    ['samr', 'AMR'],
    ['sawb', 'AMR-WB'],
    ['ac-3', 'AC-3'],
    ['ec-3', 'E-AC-3'],
    ['dts', 'DTS'],
    ['mlpa', 'TrueHD'],
  ],
  webm: [
    ['A_AAC', 'AAC'],
    ['A_ALAC', 'ALAC'],
    ['A_AC3', 'AC-3'],
    ['A_EAC3', 'E-AC-3'],
    ['A_DTS', 'DTS'],
    ['A_TRUEHD', 'TrueHD'],
    ['A_MLP', 'MLP'],
    ['A_WAVPACK4', 'WavPack'],
    ['A_TTA1', 'TTA'],
    ['A_MPEG/L2', 'MP2'],
    ['A_MS/ACM', 'Windows audio'],
    ['A_REAL', 'RealAudio'],
    ['A_QUICKTIME', 'QuickTime audio'],
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
    ['353', 'Windows Media Audio'],
  ],
};

/** Text for the documentation and the doctor. */
export const codecsOfFfmpeg = Object.entries(names)
  .map(([container, codecs]) => [
    codecs.map(([, name]) => name).join(', '),
    container === 'webm' ? 'Matroska' : container,
  ])
  .map(([codecs, file]) => `${codecs} in ${file}`)
  .join('; ');

/**
 * Creates the error for a file without a supported codec. `ids` are the codec ids of all audio tracks, or of all
 * streams if the container does not say which are audio.
 */
export function unsupportedCodecs(path: string, container: Container, ids: readonly string[]): EngineError {
  const isId = container === 'wav' ? Object.is : (id: string, known: string) => id.startsWith(known);
  const nameOfId = (id: string) => names[container]?.find(([known]) => isId(id, known))?.[1];
  const known = [...new Set(ids.map(nameOfId).filter((name) => name !== undefined))];
  // The ids come from the file, so only short, plain ones are shown.
  const others = ids.filter((id) => nameOfId(id) === undefined && /^[\w/. -]{1,32}$/.test(id)).join(', ');
  const file = nameOf(path, container);
  if (known.length === 0) return undecodable(`unsupported codec (${others || 'an unknown codec'} in ${file})`);
  const needs = `${known.join(' and ')} in ${file} ${known.length > 1 ? 'need' : 'needs'} ffmpeg on the server`;
  return undecodable(others === '' || container === 'ogg' ? needs : `${needs}, and ${others} is not supported`);
}
