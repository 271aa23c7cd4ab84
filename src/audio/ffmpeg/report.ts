/** Parses what ffmpeg prints about the streams of a file and about failures. */
import { maxChannels, maxSampleRate } from '../decode-request.ts';

/** An audio stream of the input. */
export interface AudioStream {
  readonly index: number;
  /** ffmpeg's name for the codec, or the name in the file if ffmpeg does not know the codec. */
  readonly codec: string;
  /** Hz. */
  readonly sampleRate: number;
  readonly channels: number;
}

const streamLine = /^\[info\] +Stream #0:(\d+).*?: Audio: (?:none \()?(\w+)(?:.*, (\d+) Hz, ([^,]+))?/;
const choiceLine = /^\[info\] +Stream #0:(\d+) -> #0:0 /;

const errorLine = /\[(error|fatal)\] /;
/** ffmpeg prints this for the video of a film, because no video decoder is allowed. */
const harmless = 'not on whitelist';
/** A packet could not be decoded, or was decoded with gaps. The messages differ between versions of ffmpeg. */
const failureLine = /Error while decoding|Error submitting packet|Decoding error|corrupt decoded frame/;
/** ffmpeg prints this for the last packet of a truncated file. */
const cut = 'corrupt input packet';

export class FfmpegReport {
  readonly #streams = new Map<number, AudioStream>();
  #failures = 0;
  #cutPackets = 0;
  /** The stream that ffmpeg decodes; undefined until ffmpeg reports it, before decoding. */
  chosen: AudioStream | undefined;
  /** Whether ffmpeg has found anything that it could not read. */
  hasErrors = false;

  read(line: string): void {
    if (this.chosen === undefined) this.#readStream(line); // the output streams follow
    if (failureLine.test(line)) this.#failures += 1;
    if (line.includes(cut)) this.#cutPackets += 1;
    if (errorLine.test(line) && !line.includes(harmless)) this.hasErrors = true;
  }

  #readStream(line: string): void {
    const [, index, codec = '', rate, layout = ''] = streamLine.exec(line) ?? [];
    if (index !== undefined) {
      const stream = { index: Number(index), codec, sampleRate: Number(rate ?? 0), channels: channelsOf(layout) };
      this.#streams.set(stream.index, stream);
    }
    const [, choice] = choiceLine.exec(line) ?? [];
    if (choice !== undefined) this.chosen = this.#streams.get(Number(choice));
  }

  /** Number of packets that could not be decoded, excluding truncated packets. */
  get failures(): number {
    return Math.max(0, this.#failures - this.#cutPackets);
  }

  /** Why the stream exceeds the limits; undefined if it does not. */
  get excess(): string | undefined {
    const { channels = 0, sampleRate = 0 } = this.chosen ?? {};
    if (channels > maxChannels) return `it has ${String(channels)} channels, and the limit is ${String(maxChannels)}`;
    if (sampleRate <= maxSampleRate) return undefined;
    return `its sample rate is ${String(sampleRate)} Hz, and the limit is ${String(maxSampleRate)} Hz`;
  }

  /** All audio streams, in order. */
  get streams(): readonly AudioStream[] {
    return [...this.#streams.values()];
  }
}

/** The layouts of ffmpeg that have a name without a number; those that are not listed have two channels. */
const namedLayouts: readonly (readonly [prefix: string, channels: number])[] = [
  ['mono', 1],
  ['quad', 4],
  ['hexagonal', 6],
  ['octagonal', 8],
  ['cube', 8],
  ['hexadecagonal', 16],
];

/** Returns the number of channels of a layout such as `mono`, `5.1(side)`, `7.1.4` or `9 channels`. */
function channelsOf(layout: string): number {
  const [count] = /^\d+(?= channels)/.exec(layout) ?? [];
  if (count !== undefined) return Number(count);
  const [counts] = /^\d+(\.\d+)+/.exec(layout) ?? [];
  if (counts !== undefined) return counts.split('.').reduce((sum, some) => sum + Number(some), 0);
  return namedLayouts.find(([prefix]) => layout.startsWith(prefix))?.[1] ?? 2;
}

/** Returns the error lines, without details of the recording such as its title. */
export function errorsIn(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !/^(\[info\]| |$)/.test(line))
    .join('\n');
}
