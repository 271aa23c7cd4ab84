/**
 * Decodes with a sandboxed ffmpeg: forced demuxer, no network protocols, no other input file, no output file, limits on
 * memory, time and duration. (A plain `ffmpeg -i` follows playlists to local files and the network.)
 */
import { type FileHandle, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { type Container, type Decoded, EngineError } from '../../engines/contract/index.ts';
import { createByteReader } from '../../lib/byte-reader.ts';
import { findExecutable } from '../../lib/find-executable.ts';
import { lastLine } from '../../lib/text.ts';
import { restoreCanceled, sampleFormats, viewSamples16 } from '../../lib/samples.ts';
import { framesOf, sampleRate, type WavLayout } from '../../lib/wav.ts';
import { undecodable } from './failures.ts';
import { type DecodeRequest, type DecodeOptions, maxSampleRate, maxChannels } from './decode-request.ts';
import { createWav, decodedOf, writeSamples } from './wav-file.ts';
import { readLines, startProgram } from '../system/child-process/child.ts';

const demuxers: Readonly<Record<Container, string>> = {
  webm: 'matroska',
  mp4: 'mov',
  ogg: 'ogg',
  mp3: 'mp3',
  wav: 'wav',
  flac: 'flac',
};

/** Audio decoders for the files of recorders, phones, cameras and telephone systems; there are none for video. */
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
 * Creates the file `wavPath`, and removes it on failure. If the default track is silent, decodes the first track that
 * is not: screen recorders write a track for each source.
 */
export async function decodeWithFfmpeg(
  ffmpeg: string,
  request: DecodeRequest,
  options: FfmpegOptions,
): Promise<Decoded> {
  const main = await decodeTrack(ffmpeg, request, options);
  if (main.hasSound) return main.decoded;
  try {
    for (const { index } of main.others) {
      const other = await replaceBy(ffmpeg, request, { ...options, track: index });
      if (other) return other;
    }
    return main.decoded;
  } catch (error) {
    await rm(request.wavPath, { force: true });
    throw error;
  }
}

/** Returns undefined, and leaves `wavPath` unchanged, if the track is silent or cannot be decoded. */
async function replaceBy(ffmpeg: string, request: DecodeRequest, options: TrackOptions): Promise<Decoded | undefined> {
  const wavPath = `${request.wavPath}.track`;
  try {
    const { decoded, hasSound } = await decodeTrack(ffmpeg, { ...request, wavPath }, options);
    if (!hasSound) return undefined;
    await rename(wavPath, request.wavPath);
    return { ...decoded, wavPath: request.wavPath };
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

async function decodeTrack(ffmpeg: string, request: DecodeRequest, options: TrackOptions): Promise<DecodedTrack> {
  // Open the file before starting the program: Node discards the output of a program that exits before it is read.
  return createWav(request.wavPath, (wav) => decodeInto(wav, ffmpeg, request, options));
}

async function decodeInto(
  wav: FileHandle,
  ffmpeg: string,
  request: DecodeRequest,
  {
    signal,
    account,
    deadlineFactor = 1,
    timeoutMs = 180_000 * deadlineFactor,
    cpuSeconds = 120 * deadlineFactor,
    track,
  }: TrackOptions,
): Promise<DecodedTrack> {
  const { container, wavPath, maxSeconds } = request;
  const args = ffmpegArguments(request, track);
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

function ffmpegArguments({ path, container, maxSeconds }: DecodeRequest, track: number | undefined): string[] {
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

/** An audio stream of the input. */
interface AudioStream {
  readonly index: number;
  /** ffmpeg's name of the codec. */
  readonly codec: string;
  /** Hz. */
  readonly sampleRate: number;
  readonly channels: number;
}

const streamLine = /^\[info\] +Stream #0:(\d+).*?: Audio: (\w+).*, (\d+) Hz, ([^,]+)/;
const choiceLine = /^\[info\] +Stream #0:(\d+) -> #0:0 /;

class StreamReport {
  readonly #streams = new Map<number, AudioStream>();
  /** The stream that is decoded; ffmpeg reports it before decoding. */
  chosen: AudioStream | undefined;

  read(line: string): void {
    if (this.chosen !== undefined) return; // the streams of the output follow
    const [, index, codec = '', rate, layout = ''] = streamLine.exec(line) ?? [];
    if (index !== undefined) {
      const stream = { index: Number(index), codec, sampleRate: Number(rate), channels: channelsOf(layout) };
      this.#streams.set(stream.index, stream);
    }
    const [, choice] = choiceLine.exec(line) ?? [];
    if (choice !== undefined) this.chosen = this.#streams.get(Number(choice));
  }

  /** Returns why the stream cannot be decoded. */
  get excess(): string | undefined {
    const { channels = 0, sampleRate = 0 } = this.chosen ?? {};
    if (channels > maxChannels) return `it has ${String(channels)} channels, and the limit is ${String(maxChannels)}`;
    if (sampleRate <= maxSampleRate) return undefined;
    return `its sample rate is ${String(sampleRate)} Hz, and the limit is ${String(maxSampleRate)} Hz`;
  }

  /** The other audio streams, in order. */
  get others(): readonly AudioStream[] {
    return [...this.#streams.values()].filter((stream) => stream !== this.chosen);
  }
}

/**
 * Number of channels of a layout such as `mono`, `5.1(side)`, `7.1.4` or `9 channels`. All other layouts have at most
 * eight.
 */
function channelsOf(layout: string): number {
  const [count] = /^\d+(?= channels)/.exec(layout) ?? [];
  if (count !== undefined) return Number(count);
  const [counts] = /^\d+(\.\d+)+/.exec(layout) ?? [];
  if (counts !== undefined) return counts.split('.').reduce((sum, some) => sum + Number(some), 0);
  return layout.startsWith('hexadecagonal') ? 16 : layout === 'mono' ? 1 : 2;
}

/** The error lines, without details of the recording such as its title. */
function errorsIn(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !/^(\[info\]| |$)/.test(line))
    .join('\n');
}

/**
 * Filters of ffmpeg. Their output has two channels: the mix of a mono or stereo input, and its first channel. With `<`,
 * the shares of the channels that exist add up to 1.
 */
export const mixFilters = `aformat=sample_fmts=s16:sample_rates=${String(sampleRate)}:channel_layouts=mono|stereo,pan=stereo|c0<c0+c1|c1=c0`;

const layout: WavLayout = { sampleRate, channels: 2, format: sampleFormats['pcm-s16'], bytes: Infinity };

/** A track below -60 dB of full scale is silent; codecs do not always return zeros. */
const silence = 32;

/** The output of the filters as mono. */
class Mix {
  hasSound = false;
  readonly #output: Readable;

  constructor(output: Readable) {
    this.#output = output;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for await (const frames of framesOf(createByteReader(this.#output), layout)) {
      const [mix, first] = split(viewSamples16(frames));
      restoreCanceled(mix, [first], 2);
      this.hasSound ||= mix.some((sample) => Math.abs(sample) > silence);
      yield Buffer.from(mix.buffer);
    }
  }
}

function split(pairs: Int16Array): [Int16Array, Int16Array] {
  const [even, odd] = [new Int16Array(pairs.length / 2), new Int16Array(pairs.length / 2)];
  for (let i = 0; i < even.length; i++) {
    even[i] = pairs[2 * i] ?? 0;
    odd[i] = pairs[2 * i + 1] ?? 0;
  }
  return [even, odd];
}
