/** Reads the length that a file states, so that a recording that is too long can be refused before it is decoded. */
import { open } from 'node:fs/promises';
import { EngineError, type Recording } from '../../engines/contract/index.ts';
import { findWavSamples } from '../../lib/wav.ts';

/**
 * Returns milliseconds; undefined if the file states no length, or is damaged, which decoding reports. Of a joined file,
 * it may be the length of the first recording.
 */
export async function statedMs(
  { path, container }: Pick<Recording, 'path' | 'container'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (container === 'wav') return statedWavMs(path);
  const { readStatedSeconds } = await import('./wasm/index.ts');
  try {
    const seconds = await readStatedSeconds({ path, container }, { signal });
    return seconds === undefined ? undefined : 1000 * seconds;
  } catch (error) {
    if (EngineError.is(error) && error.code === 'recording-undecodable') return undefined;
    throw error;
  }
}

async function statedWavMs(path: string): Promise<number | undefined> {
  await using file = await open(path);
  const { layout, bytes = 0 } = (await findWavSamples(file)) ?? {};
  return layout && (1000 * bytes) / (layout.sampleRate * layout.channels * layout.format.bytes);
}
