/**
 * Decodes with a sandboxed ffmpeg: forced demuxer, no network protocols, no other input file, no output file, limits on
 * memory, time and duration. (A plain `ffmpeg -i` follows playlists to local files and the network.)
 */
import { rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EngineError, type Container, type Decoded } from '../../engines/contract/index.ts';
import { findExecutable } from '../../lib/find-executable.ts';
import { lastLine } from '../../lib/last-line.ts';
import { readLines } from '../system/child-process/output.ts';
import { startProgram } from '../system/child-process/run-program.ts';
import { Mix, mixFilters } from './ffmpeg-mix.ts';
import { errorsIn, StreamReport, type AudioStream } from './ffmpeg-streams.ts';
import type { DecodeJob, DecodeOptions } from './job.ts';
import { undecodable } from './failures.ts';
import { createWav, decodedOf, writeSamples } from './wav-file.ts';

const demuxers: Readonly<Record<Container, string>> = {
  webm: 'matroska',
  mp4: 'mov',
  ogg: 'ogg',
  mp3: 'mp3',
  wav: 'wav',
  flac: 'flac',
};

/** Decoders of audio that recorders, phones, cameras and telephone systems write into these containers; none of video. */
const codecs = [
  ...['opus', 'vorbis', 'aac', 'mp3float', 'mp3', 'mp2float', 'mp2', 'flac', 'alac', 'ac3', 'eac3'],
  ...['amrnb', 'amrwb', 'gsm', 'gsm_ms', 'speex', 'libspeex', 'ilbc', 'g722', 'g726', 'pcm_mulaw', 'pcm_alaw'],
  ...['adpcm_ms', 'adpcm_ima_wav', 'adpcm_ima_qt'],
  ...['pcm_u8', 'pcm_s8', 'pcm_s16le', 'pcm_s16be', 'pcm_s24le', 'pcm_s24be'],
  ...['pcm_s32le', 'pcm_s32be', 'pcm_f32le', 'pcm_f32be', 'pcm_f64le', 'pcm_f64be'],
].join(',');

/** No core dump, no output files, CPU time limit, 2 GB of memory. */
const limits = (cpuSeconds: number) =>
  `ulimit -c 0; ulimit -f 0; ulimit -t ${String(cpuSeconds)}; ulimit -v 2000000; exec "$@"`;
const shell = findExecutable('/bin/sh');

export interface FfmpegOptions extends DecodeOptions {
  readonly timeoutMs?: number;
  readonly cpuSeconds?: number;
}

/**
 * Creates the file `wavPath`, and removes it on failure. Where the default track is silent, it has the first track that is
 * not: screen recorders write a track for each source.
 */
export async function decodeWithFfmpeg(ffmpeg: string, job: DecodeJob, options: FfmpegOptions): Promise<Decoded> {
  const main = await decodeTrack(ffmpeg, job, options);
  if (main.hasSound) return main.decoded;
  try {
    for (const { index } of main.others) {
      const other = await replaceBy(ffmpeg, job, { ...options, track: index });
      if (other) return other;
    }
    return main.decoded;
  } catch (error) {
    await rm(job.wavPath, { force: true });
    throw error;
  }
}

/** Undefined, and `wavPath` stays as it is, where the track has no sound or cannot be decoded. */
async function replaceBy(ffmpeg: string, job: DecodeJob, options: TrackOptions): Promise<Decoded | undefined> {
  const wavPath = `${job.wavPath}.track`;
  try {
    const { decoded, hasSound } = await decodeTrack(ffmpeg, { ...job, wavPath }, options);
    if (!hasSound) return undefined;
    await rename(wavPath, job.wavPath);
    return { ...decoded, wavPath: job.wavPath };
  } catch (error) {
    if (EngineError.is(error) && error.code === 'recording-undecodable') return undefined;
    throw error;
  } finally {
    await rm(wavPath, { force: true });
  }
}

interface TrackOptions extends FfmpegOptions {
  /** The index of a stream. Default: the choice of ffmpeg, which prefers default tracks, then those with more channels. */
  readonly track?: number;
}

interface DecodedTrack {
  readonly decoded: Decoded;
  readonly hasSound: boolean;
  readonly others: readonly AudioStream[];
}

async function decodeTrack(ffmpeg: string, job: DecodeJob, options: TrackOptions): Promise<DecodedTrack> {
  // Open the file before starting the program: Node discards the output of a program that exits before it is read.
  return createWav(job.wavPath, (wav) => decodeInto(wav, ffmpeg, job, options));
}

async function decodeInto(
  wav: FileHandle,
  ffmpeg: string,
  job: DecodeJob,
  { signal, account, patience = 1, timeoutMs = 180_000 * patience, cpuSeconds = 120 * patience, track }: TrackOptions,
): Promise<DecodedTrack> {
  const { container, wavPath, maxSeconds } = job;
  const args = ffmpegArguments(job, track);
  const [program, ...rest] = shell ? [shell, '-c', limits(cpuSeconds), 'sh', ffmpeg, ...args] : [ffmpeg, ...args];
  const started = performance.now();
  const decoder = startProgram(program, rest, { signal, timeoutMs, cwd: dirname(wavPath), name: 'ffmpeg' });
  const streams = new StreamReport();
  const onLine = (line: string) => {
    streams.read(line);
    if (streams.excess !== undefined) decoder.kill();
  };
  readLines(decoder.stderr, onLine, decoder.kill);
  const mix = new Mix(decoder.stdout);
  const [bytes, exit] = await Promise.all([
    writeSamples(mix, wav, { maxSeconds, account, stop: decoder.kill }),
    decoder.exit,
  ]).finally(decoder.kill);
  if (streams.excess !== undefined) throw undecodable(streams.excess);
  const decoded = decodedOf(bytes, { wavPath, maxSeconds });
  const cause = new Error(`ffmpeg: exit ${String(exit.code ?? exit.signal)}: ${lastLine(errorsIn(exit.stderr))}`);
  // Linux sends SIGKILL at the CPU limit, but also when out of memory; only the former takes that long. The kernel counts
  // CPU time in ticks, so that the limit may come a little before its time by the clock.
  const isCpuLimit = exit.signal === 'SIGKILL' && performance.now() - started >= cpuSeconds * 900;
  if (exit.timedOut || exit.signal === 'SIGXCPU' || isCpuLimit) {
    throw new EngineError('engine-timeout', 'Decoding the recording timed out.', { cause });
  }
  if (exit.signal !== null) throw new EngineError('engine-failed', 'The decoder crashed.', { cause });
  if (exit.code !== 0 || bytes === 0) {
    const codec = streams.chosen ? ` with the codec ${streams.chosen.codec}` : '';
    throw undecodable(`no audio was found in the ${container} file${codec}`, cause);
  }
  return { decoded, hasSound: mix.hasSound, others: streams.others };
}

function ffmpegArguments({ path, container, maxSeconds }: DecodeJob, track: number | undefined): string[] {
  const map = track === undefined ? [] : ['-map', `0:${String(track)}`];
  return [
    ...['-nostdin', '-hide_banner', '-nostats', '-loglevel', 'level+info'],
    ...['-max_alloc', '67108864', '-threads', '1'],
    ...['-protocol_whitelist', 'file,pipe', '-codec_whitelist', codecs, '-max_streams', '16'],
    ...['-f', demuxers[container], '-i', `file:${path}`, ...map, '-vn', '-sn', '-dn'],
    ...['-map_metadata', '-1', '-t', String(maxSeconds + 1)],
    ...['-af', mixFilters, '-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1'],
  ];
}
