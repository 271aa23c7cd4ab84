/** Worker thread: posts 'reading' once it starts, then the duration in seconds (undefined if unknown), and exits. */
import { open } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { ALL_FORMATS, FilePathSource, Input, type Source } from 'mediabunny';
import { DamagedRecording } from '../../lib/recording/damage.ts';
import { viewedSource, type FileView } from '../../lib/recording/file-view.ts';
import { sectionsOf } from '../../lib/recording/sections.ts';
import { findWavSamples } from '../../lib/wav.ts';
import type { Recording } from '../contract/index.ts';

export type MeasuredFile = Pick<Recording, 'path' | 'container'>;

const { path, container } = workerData as MeasuredFile;
console.error = console.warn = () => {}; // the demuxer logs to the console

parentPort?.postMessage('reading');
parentPort?.postMessage(await measure().catch(() => undefined));

/** The demuxer reads only the first of several joined recordings. */
async function measure(): Promise<number | undefined> {
  const sections = findSections();
  if (sections.length <= 1) return (await wavSeconds()) ?? (await trackSeconds(new FilePathSource(path)));
  let sum = 0;
  for (const section of sections) {
    const seconds = (await wavSeconds(section)) ?? (await trackSeconds(viewedSource(path, section)));
    if (seconds === undefined) return undefined;
    sum += seconds;
  }
  return sum;
}

/** Returns no sections for a damaged file; the demuxer then reads what it can. */
function findSections(): FileView[] {
  try {
    return container === 'mp3' ? [] : sectionsOf(path, container);
  } catch (error) {
    if (error instanceof DamagedRecording) return [];
    throw error;
  }
}

/** The demuxer does not support BW64. */
async function wavSeconds(section?: FileView): Promise<number | undefined> {
  await using file = await open(path);
  const found = await findWavSamples(file, section);
  if (found === undefined) return undefined;
  const { sampleRate, channels, format } = found.layout;
  return found.bytes / (sampleRate * channels * format.bytes);
}

async function trackSeconds(source: Source): Promise<number | undefined> {
  const input = new Input({ source, formats: ALL_FORMATS });
  try {
    const [track] = await input.getAudioTracks();
    if (track === undefined) return undefined;
    // A recording that was cut out of a stream may not begin at 0. Samples before 0 are not played.
    return (await track.computeDuration()) - Math.max(0, await input.getFirstTimestamp());
  } finally {
    input.dispose();
  }
}
