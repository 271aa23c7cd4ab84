/** Reads server-sent events from a provider. */
import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import { ChunkReader } from '../../../lib/chunk-reader.ts';
import { EngineError } from '../../contract/index.ts';
import { tooLarge } from '../provider/transport.ts';

export interface StreamEvent {
  /** The `event:` field, or "". */
  readonly name: string;
  readonly data: string;
  /** True if the body is a single JSON object, not a stream: some servers ignore `stream: true`. */
  readonly whole: boolean;
}

export interface StreamLimits {
  /** Maximum size of the body. */
  readonly bytes: number;
  /** Idle timeout between two chunks, in milliseconds. */
  readonly idleMs: number;
  /** Returns true if the rest of the stream can be ignored. */
  readonly isComplete: () => boolean;
  /** Returns true if the answer is usable even if the connection breaks now. */
  readonly isEnough: () => boolean;
}

/**
 * Idle timeout once the answer is usable. Only the usage chunk follows, immediately; some providers never end their
 * streams.
 */
const trailerMs = 2_000;
/** How long to wait for the end of a complete stream: only a connection that was read to its end can be reused. */
const drainMs = 100;

/**
 * Yields events in batches, one batch per chunk. An incomplete event at the end is ignored. Throws `provider-timeout`
 * when the stream is idle, and `provider-bad-response` when the body is too large or ends early. Always closes the body.
 */
export async function* readEvents(
  body: Readable,
  { bytes: limit, idleMs, isComplete, isEnough }: StreamLimits,
): AsyncGenerator<readonly StreamEvent[]> {
  const decoder = new TextDecoder();
  const collector = createCollector();
  const chunks = new ChunkReader(body);
  let bytes = 0;
  let isWaiting = false;
  let idle = setTimeout(onIdle, idleMs);
  let isTrailer = false;
  let hasEvents = false;
  function onIdle(): void {
    if (isWaiting) body.destroy(new EngineError('provider-timeout', 'Idle timeout: the provider stopped sending.'));
  }
  try {
    while (!isComplete()) {
      if (isEnough() && !isTrailer) {
        isTrailer = true;
        clearTimeout(idle);
        idle = setTimeout(onIdle, Math.min(idleMs, trailerMs));
      }
      isWaiting = true;
      // Backpressure is not idleness. SSE comments reset the timer, except after finish_reason.
      if (hasEvents || !isTrailer) idle.refresh();
      const chunk = await chunks.next();
      isWaiting = false;
      bytes += chunk?.length ?? 0;
      if (bytes > limit) throw tooLarge(limit);
      const batch = collector.take(decoder.decode(chunk, { stream: chunk !== undefined }), chunk === undefined);
      hasEvents = batch.length > 0;
      if (hasEvents) yield batch;
      if (chunk === undefined) return;
    }
    await readToEnd(body, chunks);
  } catch (error) {
    if (isEnough()) return;
    if (EngineError.is(error)) throw error;
    throw new EngineError('provider-bad-response', 'The response of the provider ended early.', { cause: error });
  } finally {
    clearTimeout(idle);
    body.destroy();
  }
}

async function readToEnd(body: Readable, chunks: ChunkReader): Promise<void> {
  const timer = setTimeout(() => body.destroy(), drainMs);
  try {
    while ((await chunks.next()) !== undefined);
  } finally {
    clearTimeout(timer);
  }
}

/** Distinguishes a stream from a single JSON object by the first character. */
function createCollector() {
  let batch: StreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ event = '', data }) => void batch.push({ name: event, data, whole: false }),
  });
  let whole: string[] | undefined;
  let hasBegun = false;
  return {
    take(text: string, isLast: boolean): readonly StreamEvent[] {
      batch = [];
      if (!hasBegun && text.trim() !== '') {
        hasBegun = true;
        if (text.trimStart().startsWith('{')) whole = [];
      }
      if (whole === undefined) {
        parser.feed(text);
      } else {
        whole.push(text);
        if (isLast) batch.push({ name: '', data: whole.join(''), whole: true });
      }
      return batch;
    },
  };
}
