/**
 * What models have said and called, in memory, so that a later request can refer to it by id. No input, no reasoning.
 */
import type { ToolCall } from '../../engines/contract/index.ts';
import { currentCaller, currentKey } from '../request-scope.ts';

export type KeptItem =
  { readonly type: 'message'; readonly text: string } | { readonly type: 'function_call'; readonly call: ToolCall };

export interface ItemStore extends Disposable {
  /** Keeps an item of the current caller, unless it is too large. */
  keep(id: string, item: KeptItem): void;
  /** Undefined: never kept, expired, or kept for another API key. */
  find(id: string): KeptItem | undefined;
}

export interface ItemLimits {
  readonly keepMs: number;
  /** For each caller. */
  readonly items: number;
  readonly callerBytes: number;
  readonly bytes: number;
}

const usual: ItemLimits = { keepMs: 3_600_000, items: 1_000, callerBytes: 4_194_304, bytes: 33_554_432 };

interface Kept {
  readonly item: KeptItem;
  readonly bytes: number;
  readonly until: number;
}

/** The items of a caller, the oldest first. */
interface Holder {
  /** Undefined in open mode, where the unguessable id is the permission. */
  readonly key: string | undefined;
  readonly items: Map<string, Kept>;
  bytes: number;
}

/** Allowance for the id and the maps' own entries. */
const overheadBytes = 300;

const sweepMs = 60_000;

export function createItemStore(limits: ItemLimits = usual): ItemStore {
  const holders = new Map<string, Holder>();
  const callers = new Map<string, string>();
  let bytes = 0;
  const sweeping = setInterval(sweep, sweepMs).unref();

  /** The oldest item of a holder. */
  function drop(caller: string, holder: Holder): void {
    const [[id, kept] = []] = holder.items;
    if (id === undefined || !kept) return;
    holder.items.delete(id);
    callers.delete(id);
    holder.bytes -= kept.bytes;
    bytes -= kept.bytes;
    if (holder.items.size === 0) holders.delete(caller);
  }

  function sweep(): void {
    const now = performance.now();
    for (const [caller, holder] of holders) {
      for (const { until } of holder.items.values()) {
        if (until > now) break;
        drop(caller, holder);
      }
    }
  }

  /** The oldest item of the largest holder goes first. */
  function shrink(): void {
    while (bytes > limits.bytes) {
      drop(...[...holders].reduce((most, one) => (one[1].bytes > most[1].bytes ? one : most)));
    }
  }

  return {
    keep(id, item) {
      const size = overheadBytes + bytesOf(item);
      if (size > limits.callerBytes) return;
      const caller = currentCaller();
      const holder = holders.get(caller) ?? { key: currentKey()?.name, items: new Map<string, Kept>(), bytes: 0 };
      while (holder.items.size >= limits.items || holder.bytes + size > limits.callerBytes) drop(caller, holder);
      holders.set(caller, holder);
      holder.items.set(id, { item, bytes: size, until: performance.now() + limits.keepMs });
      callers.set(id, caller);
      holder.bytes += size;
      bytes += size;
      shrink();
    },
    find(id) {
      const holder = holders.get(callers.get(id) ?? '');
      const kept = holder?.items.get(id);
      if (!kept || kept.until <= performance.now() || holder?.key !== currentKey()?.name) return undefined;
      return kept.item;
    },
    [Symbol.dispose]() {
      clearInterval(sweeping);
      holders.clear();
      callers.clear();
    },
  };
}

function bytesOf(item: KeptItem): number {
  const texts = item.type === 'message' ? [item.text] : [item.call.id, item.call.name, item.call.arguments];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
