/** Sandbox: an hour of speech that is made up, at the pace that the request asks for. */
import { pause } from '../../lib/abort.ts';
import { sampleRate } from '../../lib/wav.ts';
import type { Job } from './job.ts';

const parts = 12;
const partSeconds = 300;

export async function madeUpParts(job: Job, paceSeconds: number, signal: AbortSignal): Promise<void> {
  await job.update({ durationMs: parts * partSeconds * 1000 });
  while (job.parts < parts) {
    await pause(paceSeconds * 1000, signal);
    const from = job.parts * partSeconds;
    const text = `This is part ${job.parts + 1} of ${parts}.`;
    const segment = { startMs: from * 1000, endMs: (from + partSeconds) * 1000, text };
    const [start, end] = [from * sampleRate, (from + partSeconds) * sampleRate];
    await job.addPart({ start, end, text, language: 'en', segments: [segment], words: [] });
  }
}
