/**
 * Keeps the model's messages and tool calls in memory, so that later requests can refer to them by id. Input and
 * reasoning are not kept.
 */
import type { ToolCall } from '../../engines/contract/index.ts';
import { currentCaller, currentKey } from '../request-scope.ts';

export type KeptItem =
  { readonly type: 'message'; readonly text: string } | { readonly type: 'function_call'; readonly call: ToolCall };

export interface ItemStore extends Disposable {
  /** Keeps an item for the current caller, unless the item is too large. */
  keep(id: string, item: KeptItem): void;
  /** Returns undefined if the item is unknown, has expired, or belongs to another API key. */
  find(id: string): KeptItem | undefined;
}

export interface ItemLimits {
  readonly keepMs: number;
  /** Maximum number of items per caller. */
  readonly items: number;
  readonly callerBytes: number;
  readonly bytes: number;
}

const defaultLimits: ItemLimits = { keepMs: 3_600_000, items: 1_000, callerBytes: 4_194_304, bytes: 33_554_432 };

interface Kept {
  readonly item: KeptItem;
  readonly bytes: number;
  readonly until: number;
}

/** The items of a caller, oldest first. */
interface CallerItems {
  /** Undefined in open mode, where the unguessable id grants access. */
  readonly key: string | undefined;
  readonly items: Map<string, Kept>;
  bytes: number;
}

/** Estimated overhead per item in bytes, for its id and map entries. */
const overheadBytes = 300;

const sweepMs = 60_000;

export function createItemStore(limits: ItemLimits = defaultLimits): ItemStore {
  const byCaller = new Map<string, CallerItems>();
  const callers = new Map<string, string>();
  let bytes = 0;
  const sweeping = setInterval(sweep, sweepMs).unref();

  /** Removes the oldest item of a caller. */
  function drop(caller: string, held: CallerItems): void {
    const [[id, kept] = []] = held.items;
    if (id === undefined || !kept) return;
    held.items.delete(id);
    callers.delete(id);
    held.bytes -= kept.bytes;
    bytes -= kept.bytes;
    if (held.items.size === 0) byCaller.delete(caller);
  }

  function sweep(): void {
    const now = performance.now();
    for (const [caller, held] of byCaller) {
      for (const { until } of held.items.values()) {
        if (until > now) break;
        drop(caller, held);
      }
    }
  }

  /** Removes the oldest items of the caller with the most bytes until the store is within its limit. */
  function shrink(): void {
    while (bytes > limits.bytes) {
      drop(...[...byCaller].reduce((most, one) => (one[1].bytes > most[1].bytes ? one : most)));
    }
  }

  return {
    keep(id, item) {
      const size = overheadBytes + bytesOf(item);
      if (size > limits.callerBytes) return;
      const caller = currentCaller();
      const held = byCaller.get(caller) ?? { key: currentKey()?.name, items: new Map<string, Kept>(), bytes: 0 };
      while (held.items.size >= limits.items || held.bytes + size > limits.callerBytes) drop(caller, held);
      byCaller.set(caller, held);
      held.items.set(id, { item, bytes: size, until: performance.now() + limits.keepMs });
      callers.set(id, caller);
      held.bytes += size;
      bytes += size;
      shrink();
    },
    find(id) {
      const held = byCaller.get(callers.get(id) ?? '');
      const kept = held?.items.get(id);
      if (!kept || kept.until <= performance.now() || held?.key !== currentKey()?.name) return undefined;
      return kept.item;
    },
    [Symbol.dispose]() {
      clearInterval(sweeping);
      byCaller.clear();
      callers.clear();
    },
  };
}

function bytesOf(item: KeptItem): number {
  const texts = item.type === 'message' ? [item.text] : [item.call.id, item.call.name, item.call.arguments];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
