/**
 * Decodes with a sandboxed ffmpeg: forced demuxer, no network protocols, no other input file, no output file, limits on
 * memory, time and duration. (A plain `ffmpeg -i` follows playlists to local files and the network.)
 */
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EngineError, type Container, type Decoded } from '../../engines/contract/index.ts';
import { findExecutable } from '../../lib/find-executable.ts';
import { startProgram } from '../system/child-process/run-program.ts';
import { sampleRate } from '../../lib/wav.ts';
import type { DecodeJob, DecodeOptions } from './job.ts';
import { createWav, decodedOf, writeSamples } from './wav-file.ts';

const demuxers: Readonly<Record<Container, string>> = {
  webm: 'matroska',
  mp4: 'mov',
  ogg: 'ogg',
  mp3: 'mp3',
  wav: 'wav',
  flac: 'flac',
};

const codecs =
  'opus,vorbis,aac,mp3float,mp3,flac,pcm_s16le,pcm_s24le,pcm_s32le,pcm_u8,pcm_f32le,pcm_f64le,pcm_mulaw,pcm_alaw';

/** No core dump, no output files, CPU time limit, 2 GB of memory. */
const limits = (cpuSeconds: number) =>
  `ulimit -c 0; ulimit -f 0; ulimit -t ${String(cpuSeconds)}; ulimit -v 2000000; exec "$@"`;
const shell = findExecutable('/bin/sh');

export interface FfmpegOptions extends DecodeOptions {
  readonly timeoutMs?: number;
  readonly cpuSeconds?: number;
}

/** Creates the file `wavPath`, and removes it on failure. */
export async function decodeWithFfmpeg(ffmpeg: string, job: DecodeJob, options: FfmpegOptions): Promise<Decoded> {
  // Open the file before starting the program: Node discards the output of a program that exits before it is read.
  return createWav(job.wavPath, (wav) => decodeInto(wav, ffmpeg, job, options));
}

async function decodeInto(
  wav: FileHandle,
  ffmpeg: string,
  { path, container, wavPath, maxSeconds }: DecodeJob,
  { signal, account, patience = 1, timeoutMs = 180_000 * patience, cpuSeconds = 120 * patience }: FfmpegOptions,
): Promise<Decoded> {
  const args = ffmpegArguments(path, container, maxSeconds);
  const [program, ...rest] = shell ? [shell, '-c', limits(cpuSeconds), 'sh', ffmpeg, ...args] : [ffmpeg, ...args];
  const started = performance.now();
  const decoder = startProgram(program, rest, { signal, timeoutMs, cwd: dirname(wavPath), name: 'ffmpeg' });
  const [bytes, exit] = await Promise.all([
    writeSamples(decoder.stdout, wav, { maxSeconds, account, stop: decoder.kill }),
    decoder.exit,
  ]).finally(decoder.kill);
  const decoded = decodedOf(bytes, { wavPath, maxSeconds });
  const cause = new Error(`ffmpeg: exit ${String(exit.code ?? exit.signal)}: ${exit.stderr.trim().slice(-2000)}`);
  // Linux sends SIGKILL at the CPU limit, but also when out of memory; only the former takes that long. The kernel counts
  // CPU time in ticks, so that the limit may come a little before its time by the clock.
  const isCpuLimit = exit.signal === 'SIGKILL' && performance.now() - started >= cpuSeconds * 900;
  if (exit.timedOut || exit.signal === 'SIGXCPU' || isCpuLimit) {
    throw new EngineError('engine-timeout', 'Decoding the recording timed out.', { cause });
  }
  if (exit.signal !== null) throw new EngineError('engine-failed', 'The decoder crashed.', { cause });
  if (exit.code !== 0 || bytes === 0) {
    throw new EngineError('recording-undecodable', `No audio could be decoded from the ${container} recording.`, {
      cause,
    });
  }
  return decoded;
}

function ffmpegArguments(path: string, container: Container, maxSeconds: number): string[] {
  return [
    ...['-nostdin', '-hide_banner', '-nostats', '-loglevel', 'error', '-max_alloc', '67108864', '-threads', '1'],
    ...['-protocol_whitelist', 'file,pipe', '-codec_whitelist', codecs, '-max_streams', '16'],
    ...['-f', demuxers[container], '-i', `file:${path}`],
    ...['-map', '0:a:0', '-vn', '-sn', '-dn', '-map_metadata', '-1', '-t', String(maxSeconds + 1)],
    ...['-ac', '1', '-ar', String(sampleRate), '-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1'],
  ];
}
