/** Fakes the progress of an hour of speech in the sandbox, at the pace that the request sets. */
import { pause } from '../../lib/abort.ts';
import type { Job } from './job.ts';

const parts = 12;
const partMs = 300_000;

export async function addFakeParts(job: Job, paceSeconds: number, signal: AbortSignal): Promise<void> {
  job.update({ durationMs: parts * partMs });
  for (let part = job.parts().length; part < parts; part += 1) {
    await pause(paceSeconds * 1000, signal);
    const times = { startMs: part * partMs, endMs: (part + 1) * partMs };
    const text = `This is part ${part + 1} of ${parts}.`;
    job.addPart({ ...times, text, language: 'en', segments: [{ ...times, text }], words: [] });
  }
}
