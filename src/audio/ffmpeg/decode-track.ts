/** Runs ffmpeg for one track of a recording. */
import { type FileHandle, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EngineError, type ProgramExit } from '../../../engines/contract/index.ts';
import { findExecutable } from '../../../lib/find-executable.ts';
import { lastLine } from '../../../lib/text.ts';
import { readLines, startProgram } from '../../system/child-process/child.ts';
import { nameOf } from '../container-name.ts';
import {
  maxFailuresAtStart,
  notStereo,
  type DecodedRecording,
  type DecodeOptions,
  type DecodeRequest,
} from '../decode-request.ts';
import { JoinedRecording, undecodable } from '../failures.ts';
import { Timeline } from '../timeline.ts';
import { createWav, decodedOf, writeSamples } from '../wav-file.ts';
import { ffmpegArguments } from './arguments.ts';
import { checkMp3 } from './check-mp3.ts';
import { Mix } from './mix.ts';
import { errorsIn, FfmpegReport } from './report.ts';

/** Limits of the sandbox: no core dump, no output files, limited CPU time, 2 GB of memory. */
const limits = (cpuSeconds: number) =>
  `ulimit -c 0; ulimit -f 0; ulimit -t ${String(cpuSeconds)}; ulimit -v 2000000; exec "$@"`;
const shell = findExecutable('/bin/sh');

export interface FfmpegOptions extends DecodeOptions {
  readonly timeoutMs?: number;
  readonly cpuSeconds?: number;
}

export interface TrackOptions extends FfmpegOptions {
  /** The index of a stream. By default, ffmpeg chooses. */
  readonly track?: number;
  readonly report: FfmpegReport;
  /**
   * Returns the number of recordings in the file. Throws `recording-undecodable` if the file is damaged before its end.
   */
  readonly countSections: () => Promise<number>;
}

export interface DecodedTrack {
  readonly decoded: DecodedRecording;
  readonly hasSound: boolean;
}

/**
 * Creates the file `wavPath`, and removes it on failure. Throws `JoinedRecording` if ffmpeg did not read every
 * recording in the file.
 */
export async function decodeTrack(
  ffmpeg: string,
  request: DecodeRequest,
  options: TrackOptions,
): Promise<DecodedTrack> {
  // Open the file before starting the program: Node discards output that is still unread when a program exits.
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
    report,
    countSections,
  }: TrackOptions,
): Promise<DecodedTrack> {
  const { path, container, wavPath, maxSeconds, channel } = request;
  const args = ffmpegArguments(request, track);
  const [program, ...rest] = shell ? [shell, '-c', limits(cpuSeconds), 'sh', ffmpeg, ...args] : [ffmpeg, ...args];
  const timeline = new Timeline({ container, bytes: (await stat(path)).size });
  const started = performance.now();
  const decoder = startProgram(program, rest, { signal, timeoutMs, cwd: dirname(wavPath), name: 'ffmpeg' });
  const lacksChannel = () => channel !== undefined && (report.chosen?.channels ?? 2) !== 2;
  const onLine = (line: string) => {
    report.read(line);
    if (report.excess !== undefined || lacksChannel()) decoder.kill();
  };
  readLines(decoder.stderr, onLine, decoder.kill);
  const mix = new Mix(decoder.stdout, timeline);
  const [bytes, exit] = await Promise.all([
    writeSamples(mix, wav, { maxSeconds, account, stop: decoder.kill }),
    decoder.exit,
  ]).finally(decoder.kill);
  if (report.excess !== undefined) throw undecodable(report.excess);
  if (lacksChannel()) throw notStereo(report.chosen?.channels ?? 0);
  const decoded = decodedOf(bytes, { wavPath, maxSeconds, gaps: timeline.gaps });
  const cause = causeOf(exit);
  // Linux sends SIGKILL at the CPU limit, but also when out of memory; only reaching the CPU limit takes that long. The
  // kernel counts CPU time in ticks, so the limit may apply slightly early.
  const isCpuLimit = exit.signal === 'SIGKILL' && performance.now() - started >= cpuSeconds * 900;
  if (exit.timedOut || exit.signal === 'SIGXCPU' || isCpuLimit) {
    throw new EngineError('engine-timeout', 'Decoding the recording timed out.', { cause });
  }
  if (exit.signal !== null) throw new EngineError('engine-failed', 'The decoder crashed.', { cause });
  if (exit.code !== 0 || bytes === 0) {
    throw undecodable(`no audio was found in the ${nameOf(path, container)} file${codecsIn(report)}`, cause);
  }
  if (container === 'mp3') await checkMp3(path, signal);
  else if (report.hasErrors) {
    if ((await countSections()) > 1) throw new JoinedRecording();
    const isHoleAtStart = timeline.gaps[0]?.startMs === 0 && report.failures > maxFailuresAtStart;
    if (isHoleAtStart || (timeline.hasHoles && report.failures > 0)) throw damagedFile(request, cause);
  }
  // In mp4, only the packets themselves show where they end.
  if (container === 'mp4' && timeline.isShortened) throw damagedFile(request, cause);
  return { decoded, hasSound: mix.hasSound };
}

function damagedFile({ path, container }: DecodeRequest, cause: Error): EngineError {
  return undecodable(`the ${nameOf(path, container)} file is damaged before its end`, cause);
}

function causeOf({ code, signal, stderr }: Pick<ProgramExit, 'code' | 'signal' | 'stderr'>): Error {
  return new Error(`ffmpeg: exit ${String(code ?? signal)}: ${lastLine(errorsIn(stderr))}`);
}

function codecsIn({ streams }: FfmpegReport): string {
  const names = streams.map(({ codec }) => codec).join(', ');
  return names === '' ? '' : ` with the ${streams.length === 1 ? 'codec' : 'codecs'} ${names}`;
}
