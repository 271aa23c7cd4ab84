/** Reads what ffmpeg reports on stderr, with `-loglevel level+info`, about the streams of its input. */
import { highestSampleRate, mostChannels } from './job.ts';

/** An audio stream of the input. */
export interface AudioStream {
  readonly index: number;
  /** ffmpeg's name of the codec. */
  readonly codec: string;
  /** Hz. */
  readonly sampleRate: number;
  readonly channels: number;
}

const streamLine = /^\[info\] +Stream #0:(\d+).*?: Audio: (\w+).*, (\d+) Hz, ([^,]+)/;
const choiceLine = /^\[info\] +Stream #0:(\d+) -> #0:0 /;

export class StreamReport {
  readonly #streams = new Map<number, AudioStream>();
  /** The stream that is decoded; reported before it is. */
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

  /** Why the stream is not to be decoded. */
  get excess(): string | undefined {
    const { channels = 0, sampleRate = 0 } = this.chosen ?? {};
    if (channels > mostChannels) return `it has ${String(channels)} channels, and the limit is ${String(mostChannels)}`;
    if (sampleRate <= highestSampleRate) return undefined;
    return `its sample rate is ${String(sampleRate)} Hz, and the limit is ${String(highestSampleRate)} Hz`;
  }

  /** The audio streams beside the one that is decoded, in their order. */
  get others(): readonly AudioStream[] {
    return [...this.#streams.values()].filter((stream) => stream !== this.chosen);
  }
}

/** From names such as `mono`, `5.1(side)`, `7.1.4`, `9 channels`. The other names have eight channels at most. */
function channelsOf(layout: string): number {
  const [count] = /^\d+(?= channels)/.exec(layout) ?? [];
  if (count !== undefined) return Number(count);
  const [places] = /^\d+(\.\d+)+/.exec(layout) ?? [];
  if (places !== undefined) return places.split('.').reduce((sum, some) => sum + Number(some), 0);
  return layout.startsWith('hexadecagonal') ? 16 : layout === 'mono' ? 1 : 2;
}

/** The errors, without what is reported about the recording, such as its title. */
export function errorsIn(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !/^(\[info\]| |$)/.test(line))
    .join('\n');
}
