/** Writes bare samples at the rate of the format, as they come. */
import { pcmFormat, type Pcm } from '../../../engines/contract/index.ts';
import { blocksOf } from './blocks.ts';
import { encodeInThread } from './encode-in-thread.ts';

/** A tenth of a second, or what has arrived by then: voice apps play pcm as it comes. */
export const pcmBlock = { least: 2_400, most: 98_304 };

export function encodePcm(pcm: Pcm, signal: AbortSignal): AsyncIterable<Uint8Array> {
  return pcm.sampleRate === pcmFormat.sampleRate ? bytesOf(pcm.samples) : encodeInThread(pcm, 'pcm', signal, pcmBlock);
}

async function* bytesOf(samples: Pcm['samples']): AsyncGenerator<Uint8Array> {
  for await (const { buffer } of blocksOf(samples, pcmBlock)) yield new Uint8Array(buffer);
}
