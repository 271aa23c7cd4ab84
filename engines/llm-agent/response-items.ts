/** Assembles the output items of a streamed response. Some providers omit the event that has the whole item. */
import { isObject, parseObject, textOf, type JsonObject } from '../../lib/json.ts';
import { badResponse } from '../lib/provider/failures.ts';
import { argumentText, maxParts } from './dialect.ts';

interface Slot {
  /** The item in its latest event. */
  item: JsonObject;
  isDone: boolean;
  /** The arguments of a call, in pieces until they are complete. */
  pieces: string[];
  hasArguments: boolean;
}

export class ResponseItems {
  readonly #slots: Slot[] = [];
  readonly #byId = new Map<string, Slot>();
  readonly #latest = new Map<unknown, Slot>();
  #count = 0;

  /** Takes `response.output_item.added`. */
  add({ output_index: index, item }: JsonObject): void {
    if (!isObject(item)) return;
    const slot = this.#known(index, idsOf(item)) ?? this.#open(index, item);
    this.#remember(index, idsOf(item), slot);
  }

  /**
   * Takes `response.output_item.done`. An item is identified by its index and id: a repeated item is not added again.
   */
  finish({ output_index: index, item }: JsonObject): void {
    if (!isObject(item)) return;
    const slot = this.#known(index, idsOf(item)) ?? this.#begun(index, item.type) ?? this.#open(index, item);
    this.#remember(index, idsOf(item), slot);
    slot.item = item;
    slot.isDone = true;
  }

  /** Takes `response.function_call_arguments.delta` or `.done`, which has the whole arguments. */
  addArguments({ output_index: index, item_id, delta, arguments: whole, name }: JsonObject): void {
    const item = { type: 'function_call', id: item_id };
    const slot = this.#known(index, idsOf(item)) ?? this.#begun(index, item.type) ?? this.#open(index, item);
    this.#remember(index, idsOf(item), slot);
    if (slot.isDone || slot.hasArguments) return;
    if (typeof whole !== 'string') return void slot.pieces.push(textOf(delta));
    slot.pieces = [whole];
    slot.hasArguments = true;
    slot.item = { ...slot.item, name: textOf(slot.item.name) || name };
  }

  /** True if an item has begun and not ended. */
  get hasUnfinished(): boolean {
    return this.#slots.some(({ isDone }) => !isDone);
  }

  /**
   * Returns the streamed items, or those of the final event if it has more, or as many while a streamed item is
   * unfinished. `isCut`: a call lacks its arguments.
   */
  complete(output: readonly JsonObject[]): { readonly items: readonly JsonObject[]; readonly isCut: boolean } {
    const streamed = this.#slots.length;
    const isBetter = this.hasUnfinished ? output.length >= streamed : output.length > streamed;
    if (isBetter) return { items: output, isCut: false };
    return { items: this.#slots.map(toItem), isCut: this.#slots.some(isCut) };
  }

  #known(index: unknown, ids: readonly string[]): Slot | undefined {
    return ids.map((id) => this.#byId.get(keyOf(index, id))).find((slot) => slot !== undefined);
  }

  /** Returns the unfinished item at this index: some providers change the ids from event to event. */
  #begun(index: unknown, type: unknown): Slot | undefined {
    const latest = this.#latest.get(index);
    return latest && !latest.isDone && latest.item.type === type ? latest : undefined;
  }

  #open(index: unknown, item: JsonObject): Slot {
    const slot = { item, isDone: false, pieces: [], hasArguments: false };
    this.#slots.push(slot);
    for (const known of [index, undefined]) this.#latest.set(known, slot);
    return slot;
  }

  /** Also stores the slot without the index, which some events lack. */
  #remember(index: unknown, ids: readonly string[], slot: Slot): void {
    this.#count += 1;
    if (this.#count > maxParts) throw badResponse('The response of the provider has too many parts.', 'items');
    for (const id of ids) {
      for (const known of [index, undefined]) this.#byId.set(keyOf(known, id), slot);
    }
  }
}

function idsOf({ id, call_id }: JsonObject): readonly string[] {
  return [id, call_id].map(textOf).filter((one) => one !== '');
}

function keyOf(index: unknown, id: string): string {
  return `${String(index)} ${id}`;
}

function toItem({ item, pieces }: Slot): JsonObject {
  if (item.type !== 'function_call' || argumentText(item.arguments).trim() !== '') return item;
  return { ...item, arguments: pieces.join('') };
}

function isCut({ item, isDone, hasArguments, pieces }: Slot): boolean {
  return item.type === 'function_call' && !isDone && !hasArguments && parseObject(pieces.join('')) === undefined;
}
