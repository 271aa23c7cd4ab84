/** Server-sent events from a provider, as they arrive. */
import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import { EngineError } from '../../contract/index.ts';

export interface StreamEvent {
  /** `event:` of the stream; "" when it has none. */
  readonly name: string;
  readonly data: string;
  /** The body is no stream but one JSON object: some servers take no notice of `stream: true`. */
  readonly whole: boolean;
}

export interface StreamLimits {
  /** Of the whole body. */
  readonly bytes: number;
  /** Milliseconds that may pass until the next bytes come. */
  readonly idleMs: number;
  /** Whether nothing follows that matters. */
  readonly isComplete: () => boolean;
  /** Whether what has come is worth something, should the connection break now. */
  readonly isEnough: () => boolean;
}

/** What still follows an answer that is enough, its usage, follows at once: some providers never end their streams. */
const afterwordMs = 2_000;
/** A complete stream may take so long to end: a connection that is read to its end can be used again. */
const lingerMs = 100;

/**
 * The events in batches, one for what arrives at once. Half an event at the end is none. Throws `provider-timeout`,
 * and `provider-bad-response` when the body is too long or breaks off. The body is ended in any case.
 */
export async function* readEvents(
  body: Readable,
  { bytes: limit, idleMs, isComplete, isEnough }: StreamLimits,
): AsyncGenerator<readonly StreamEvent[]> {
  const decoder = new TextDecoder();
  const collector = createCollector();
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  let bytes = 0;
  let isWaiting = false;
  let idle = setTimeout(silent, idleMs);
  let isAfterword = false;
  let hasEvents = false;
  function silent(): void {
    if (isWaiting) body.destroy(new EngineError('provider-timeout', 'The provider fell silent in its answer.'));
  }
  body.on('error', () => {}); // the iterator tells of it, as long as somebody listens
  try {
    while (!isComplete()) {
      if (isEnough() && !isAfterword) {
        isAfterword = true;
        clearTimeout(idle);
        idle = setTimeout(silent, Math.min(idleMs, afterwordMs));
      }
      isWaiting = true;
      // A reader of ours that takes its time does not count. Comments do: the provider is alive, but has no afterword.
      if (hasEvents || !isAfterword) idle.refresh();
      const { done, value } = await chunks.next();
      isWaiting = false;
      bytes += value?.length ?? 0;
      if (bytes > limit) throw new EngineError('provider-bad-response', 'The answer of the provider is too long.');
      const batch = collector.take(decoder.decode(value, { stream: done !== true }), done === true);
      hasEvents = batch.length > 0;
      if (hasEvents) yield batch;
      if (done) return;
    }
    await readToEnd(body, chunks);
  } catch (error) {
    if (isEnough()) return;
    if (EngineError.is(error)) throw error;
    throw new EngineError('provider-bad-response', 'The answer of the provider broke off.', { cause: error });
  } finally {
    clearTimeout(idle);
    body.destroy();
  }
}

async function readToEnd(body: Readable, chunks: AsyncIterator<Buffer, undefined>): Promise<void> {
  const timer = setTimeout(() => body.destroy(), lingerMs);
  try {
    while (!(await chunks.next()).done);
  } finally {
    clearTimeout(timer);
  }
}

/** Tells a stream from a whole answer by its first character. */
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
