import type { Container } from '../../../engines/contract/index.ts';
import type { Channel, DecodeRequest } from '../decode-request.ts';
import { mixFilters } from './mix.ts';

const demuxers: Readonly<Record<Container, string>> = {
  webm: 'matroska',
  mp4: 'mov',
  ogg: 'ogg',
  mp3: 'mp3',
  wav: 'wav',
  flac: 'flac',
};

/**
 * The ffmpeg decoders for all audio that the accepted containers may hold, except codecs used only in games or studios.
 * Video decoders are excluded. The `pcm_*` decoders are for raw samples.
 */
const codecs = [
  ...['opus', 'vorbis', 'aac', 'aac_latm', 'mp3float', 'mp3', 'mp3adufloat', 'mp3on4float', 'mp2float', 'mp2'],
  ...['mp1float', 'mp1', 'flac', 'alac', 'als', 'tta', 'wavpack', 'ac3', 'eac3', 'dca', 'truehd', 'mlp'],
  ...['wmav1', 'wmav2', 'wmapro', 'wmalossless', 'wmavoice', 'xma1', 'xma2', 'cook', 'sipr', 'real_144', 'real_288'],
  ...['ralf', 'atrac1', 'atrac3', 'atrac3al', 'atrac3plus', 'atrac3plusal', 'atrac9', 'qdm2', 'qdmc', 'mace3', 'mace6'],
  ...[
    'amrnb',
    'amrwb',
    'qcelp',
    'evrc',
    'gsm',
    'gsm_ms',
    'speex',
    'libspeex',
    'ilbc',
    'g722',
    'g726',
    'g726le',
    'g729',
  ],
  ...['g723_1', 'truespeech', 'nellymoser', 'dss_sp', 'siren', 'msnsiren', 'libcodec2', 'comfortnoise', 'metasound'],
  ...['imc', 'iac', 'on2avc', 'sbc', 'aptx', 'aptx_hd', 'dfpwm', 'dsd_lsbf', 'dsd_msbf', 'dst', 's302m'],
  ...['adpcm_ms', 'adpcm_ima_wav', 'adpcm_ima_qt', 'adpcm_ima_oki', 'adpcm_yamaha', 'adpcm_swf', 'adpcm_ct'],
  ...['pcm_mulaw', 'pcm_alaw', 'pcm_vidc', 'pcm_dvd', 'pcm_bluray', 'pcm_u8', 'pcm_s8'],
  ...['16', '24', '32', '64'].flatMap((bits) =>
    ['le', 'be'].flatMap((order) => [`pcm_s${bits}${order}`, `pcm_u${bits}${order}`]),
  ),
  ...['16', '24', '32', '64'].flatMap((bits) => [`pcm_f${bits}le`, `pcm_f${bits}be`]),
].join(',');

/** Matroska output keeps the timestamps of the file; raw samples would have none. */
const toPipe = (channel?: Channel) => ['-af', mixFilters(channel), '-c:a', 'pcm_s16le', '-f', 'matroska', 'pipe:1'];

/**
 * `track`: the index of a stream. By default, ffmpeg chooses: it prefers default tracks, then tracks with more
 * channels.
 */
export function ffmpegArguments(
  { path, container, channel }: Pick<DecodeRequest, 'path' | 'container' | 'channel'>,
  track?: number,
  output: readonly string[] = toPipe(channel),
): string[] {
  const map = track === undefined ? [] : ['-map', `0:${String(track)}`];
  return [
    ...['-nostdin', '-hide_banner', '-nostats', '-loglevel', 'level+info'],
    ...['-max_alloc', '67108864', '-threads', '1'],
    ...['-protocol_whitelist', 'file,pipe', '-codec_whitelist', codecs, '-max_streams', '16'],
    ...['-f', demuxers[container], '-i', `file:${path}`, ...map, '-vn', '-sn', '-dn'],
    ...['-map_metadata', '-1'],
    ...output,
  ];
}
