/** Reads server-sent events from a provider. */
import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import { ChunkReader } from '../../../lib/chunk-reader.ts';
import { parseObject } from '../../../lib/json.ts';
import { EngineError } from '../../contract/index.ts';
import { tooLarge } from '../provider/transport.ts';

export interface StreamEvent {
  /** The `event:` field, or "". */
  readonly name: string;
  readonly data: string;
  /**
   * True if the body is a single document, not a stream: some servers ignore `stream: true`, or respond with an HTML
   * page.
   */
  readonly whole: boolean;
}

export interface StreamLimits {
  /** Maximum size of the body in bytes. */
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
/**
 * How long to wait for the end of a complete stream: a connection can be reused only if the body has been read to its
 * end.
 */
const drainMs = 100;

/**
 * Yields events in batches, one batch per chunk. An event at the end counts if its JSON is whole, even without the
 * blank line that ends events. Unless `isEnough`, throws `provider-timeout` when the stream is idle, and
 * `provider-bad-response` when the body is too large or the connection breaks. Always closes the body.
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
    const batch = collector.flush();
    if (batch.length > 0) yield batch;
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

/**
 * Some providers separate events with a single line end. Within a JSON text, a line end is never between `}` and `{` or
 * `[`.
 */
const boundary = /(?<=\})\n(?=[{[])/;

function isWhole(data: string): boolean {
  return data.trim() === '[DONE]' || parseObject(data) !== undefined;
}

/** Whether the text ends with a whole event that lacks its blank line. */
function endsWithEvent(text: string, isLineStart: boolean): boolean {
  const at = text.lastIndexOf('\n', text.length - 2) + 1;
  const [, data] = at > 0 || isLineStart ? (/^data:(.*)/.exec(text.slice(at)) ?? []) : [];
  return data !== undefined && isWhole(data);
}

/** Distinguishes a stream from a single document, JSON or HTML, by the first character. */
function createCollector() {
  let batch: StreamEvent[] = [];
  const parser = createParser({
    onEvent({ event = '', data }) {
      const parts = data.includes('\n') ? data.split(boundary) : [data];
      for (const part of parts) batch.push({ name: event, data: part, whole: false });
    },
  });
  let whole: string[] | undefined;
  let hasBegun = false;
  let isLineStart = true;

  /** Ends an event that lacks its blank line, if its JSON is whole. */
  function flush(): readonly StreamEvent[] {
    batch = [];
    parser.feed('\n\n');
    return batch.filter(({ data }) => isWhole(data));
  }

  return {
    flush,
    take(text: string, isLast: boolean): readonly StreamEvent[] {
      batch = [];
      if (!hasBegun && text.trim() !== '') {
        hasBegun = true;
        if (/^\s*[{<]/.test(text)) whole = [];
      }
      if (whole) {
        whole.push(text);
        return isLast ? [{ name: '', data: whole.join(''), whole: true }] : [];
      }
      parser.feed(text);
      const complete = batch;
      // The connection may stay open after a last event without a blank line.
      const isOpen = isLast || endsWithEvent(text, isLineStart);
      isLineStart = text.endsWith('\n');
      return isOpen ? [...complete, ...flush()] : complete;
    },
  };
}
