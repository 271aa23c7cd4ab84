/** Follows a transcription across restarts of the service and broken connections. */
import type { Transcription, TranscriptionEvent, TranscriptionJob } from './contract.ts';
import { ParlanceError } from './errors.ts';
import { readEvents } from './events.ts';
import { transcriptionEvents } from './shapes.ts';

/** Retries end after this time without an answer. */
const giveUpAfterMs = 300_000;
const defaultPauseMs = 1_000;
const maxPauseMs = 10_000;

/**
 * Each `get` waits for the end of the transcription, up to the service's limit. Rejects with the problem of a
 * transcription that failed.
 */
export async function waitForJob(
  get: () => Promise<TranscriptionJob>,
  signal: AbortSignal | undefined,
): Promise<Transcription> {
  const retries = createRetries(signal);
  for (;;) {
    const askedAt = performance.now();
    const job = await get().catch(retries.pauseAfter);
    if (!job) continue;
    if (job.result) return job.result;
    if (job.problem) throw ParlanceError.fromProblem(job.problem);
    retries.renew();
    // Pauses only if the service did not wait, because a proxy may have removed the `Prefer` header.
    await pause(defaultPauseMs - (performance.now() - askedAt), signal);
  }
}

/** `open` requests the events that follow the given `seq`; -1 requests all. */
export async function* followJob(
  open: (after: number) => Promise<ReadableStream<Uint8Array>>,
  after: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<TranscriptionEvent, void, undefined> {
  const retries = createRetries(signal);
  for (let last = after; ;) {
    try {
      const events = readEvents<TranscriptionEvent>(await open(last), transcriptionEvents, signal, last + 1);
      for await (const event of events) {
        last = event.seq;
        retries.renew();
        yield event;
      }
      return;
    } catch (error) {
      await retries.pauseAfter(error);
    }
  }
}

function createRetries(signal: AbortSignal | undefined) {
  let since = Date.now();
  return {
    renew: () => void (since = Date.now()),
    /** Throws the error if it is not temporary, or after `giveUpAfterMs`. */
    pauseAfter: async (error: unknown): Promise<undefined> => {
      signal?.throwIfAborted();
      if (!isTemporary(error) || Date.now() - since > giveUpAfterMs) throw error;
      const { retryAfter } = error as ParlanceError;
      await pause(Math.min(maxPauseMs, (retryAfter ?? 0) * 1000 || defaultPauseMs), signal);
      return undefined;
    },
  };
}

function isTemporary(error: unknown): boolean {
  if (!(error instanceof ParlanceError)) return false;
  return ['unreachable', 'stream-broken'].includes(error.code) || [429, 502, 503, 504].includes(error.status ?? 0);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
