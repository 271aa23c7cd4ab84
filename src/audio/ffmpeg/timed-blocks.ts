/** Reads the output of ffmpeg, which is Matroska: raw samples would have no timestamps. */
import { numberFrom, readHeader } from '../../../lib/recording/webm.ts';

export interface TimedBlock {
  /** Milliseconds from the beginning of the recording. */
  readonly startMs: number;
  readonly samples: Buffer;
}

const ids = { segment: 0x18538067, cluster: 0x1f43b675, timestamp: 0xe7, block: 0xa3 } as const;

/** Far above the size of ffmpeg's blocks, which is a few kilobytes. */
const maxElementBytes = 1_048_576;

/** Yields the blocks of each chunk. */
export async function* readBlocks(output: AsyncIterable<Buffer>): AsyncGenerator<TimedBlock[]> {
  let held: Buffer = Buffer.alloc(0);
  let clusterMs = 0;
  for await (const chunk of output) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const blocks: TimedBlock[] = [];
    let position = 0;
    for (;;) {
      const element = readHeader(held.subarray(position), position);
      const isParent = element?.id === ids.segment || element?.id === ids.cluster;
      const end = element && (isParent ? element.start : element.start + element.size);
      if (element === undefined || end === undefined || end > held.length) break;
      if (element.id === ids.timestamp) clusterMs = numberFrom(held.subarray(element.start, end));
      if (element.id === ids.block) blocks.push(readBlock(held.subarray(element.start, end), clusterMs));
      position = end;
    }
    held = held.subarray(position);
    if (held.length > maxElementBytes) throw new Error('ffmpeg wrote something else than Matroska');
    yield blocks;
  }
}

/** A block begins with its track number (one byte here), its time relative to the cluster, and flags. */
function readBlock(block: Buffer, clusterMs: number): TimedBlock {
  return { startMs: clusterMs + block.readInt16BE(1), samples: block.subarray(4) };
}
