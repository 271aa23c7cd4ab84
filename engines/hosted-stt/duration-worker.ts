/** Worker thread: posts 'reading' once it starts, then the duration in seconds (undefined if unknown), and exits. */
import { open } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { ALL_FORMATS, FilePathSource, Input } from 'mediabunny';
import { findWavSamples } from '../../lib/wav.ts';

const { path } = workerData as { readonly path: string };
console.error = console.warn = () => {}; // the demuxer logs to the console

parentPort?.postMessage('reading');
parentPort?.postMessage(await measure().catch(() => undefined));

async function measure(): Promise<number | undefined> {
  return (await wavSeconds()) ?? (await trackSeconds());
}

/** The demuxer does not support BW64. */
async function wavSeconds(): Promise<number | undefined> {
  await using file = await open(path);
  const found = await findWavSamples(file);
  if (found === undefined) return undefined;
  const { sampleRate, channels, format } = found.layout;
  return found.bytes / (sampleRate * channels * format.bytes);
}

async function trackSeconds(): Promise<number | undefined> {
  const input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  try {
    const [track] = await input.getAudioTracks();
    if (track === undefined) return undefined;
    // A recording that was cut out of a stream does not begin at 0. Samples before 0 are not played.
    return (await track.computeDuration()) - Math.max(0, await track.getFirstTimestamp());
  } finally {
    input.dispose();
  }
}
