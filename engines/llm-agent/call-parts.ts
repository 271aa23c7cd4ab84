/**
 * Assembles streamed tool calls from their parts. Providers differ in whether parts have an index, an id, both or
 * neither.
 */
import { isObject, textOf, type JsonObject } from '../../lib/json.ts';
import type { CallRequest } from '../lib/agent/tool-calls.ts';
import { distinctIds } from './call-ids.ts';
import { argumentsOf, argumentText, maxArgumentsLength, maxCalls, maxParts } from './dialect.ts';
import { badResponse } from '../lib/provider/failures.ts';
import { JsonText } from './json-text.ts';

interface Part {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  /** A fragment of the arguments. */
  readonly piece: string;
  readonly extra: JsonObject | undefined;
}

/** A partially received call. */
interface PartialCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  readonly json: JsonText;
  extra: JsonObject | undefined;
}

export type CallParts = ReturnType<typeof createCallParts>;

/**
 * `nextId` generates ids in place of missing and duplicate ones. `toolNames`: names of the tools that the model may
 * call.
 */
export function createCallParts(nextId: () => string, toolNames: ReadonlySet<string>) {
  const all: PartialCall[] = []; // at most `maxCalls`, so a linear search per part is cheap
  let count = 0;

  /**
   * Returns the call that a part continues, or undefined if it starts a new one. If a call has an id, its id and index
   * identify it, never its arguments: some providers repeat a whole call. Different calls may have the same index, or
   * the same id with different indexes.
   */
  function continued({ index, id, name, piece }: Part): PartialCall | undefined {
    const latest = index === undefined ? all.at(-1) : all.findLast((one) => one.index === index);
    if (latest === undefined || (latest.id === '' && latest.name === '')) return latest;
    if (id !== '') {
      const same = all.findLast((one) => one.id === id && (index === undefined || one.index === index));
      return same ?? (name === '' && index !== undefined ? latest : undefined);
    }
    const isIdentified = index !== undefined && latest.id !== '';
    if (isIdentified || name === '' || latest.name === '') return latest;
    if (isPieceOfName(latest, name)) return latest;
    // Without ids, complete calls follow each other: Gemini sends them all with index 0.
    const isAnother = name !== latest.name || (latest.json.isWholeObject() && piece.trimStart().startsWith('{'));
    return isAnother ? undefined : latest;
  }

  /** Some providers also stream the name in pieces; others repeat it with every part. */
  function isPieceOfName({ name, json }: PartialCall, piece: string): boolean {
    if (piece === '' || piece === name || (name !== '' && json.length > 0)) return false;
    return !toolNames.has(name) || toolNames.has(name + piece);
  }

  function checkLimits(length = 0): void {
    if (length <= maxArgumentsLength && all.length <= maxCalls && count <= maxParts) return;
    const why = `${all.length} calls, ${length} characters, ${count} parts`;
    throw badResponse('The tool calls of the model exceed the limits.', why);
  }

  return {
    /** Throws `provider-bad-response` when a limit is exceeded. */
    add(part: JsonObject): void {
      count += 1;
      const given = readPart(part);
      const { index, id, name, piece, extra } = given;
      if (id === '' && name === '' && piece === '' && extra === undefined) return checkLimits();
      let call = continued(given);
      if (call === undefined) {
        call = { index, id, name, json: new JsonText(), extra };
        all.push(call);
      } else if (isPieceOfName(call, name)) {
        call.name += name;
      }
      if (call.id === '') call.id = id;
      call.json.append(piece);
      call.extra ??= extra;
      checkLimits(call.json.length);
    },
    calls(): readonly CallRequest[] {
      const ids = distinctIds(
        all.map(({ id }) => id),
        nextId,
      );
      return all.map(({ name, json }, index) => ({ id: ids[index] ?? '', name, arguments: argumentsOf(json.text()) }));
    },
    /** Per call, extra fields to send back: Gemini rejects a call without its signature. */
    extras: (): readonly JsonObject[] => all.map(({ extra }) => (extra ? { extra_content: extra } : {})),
  };
}

function readPart({ index, id, function: fn, extra_content: extra }: JsonObject): Part {
  const { name, arguments: given } = isObject(fn) ? fn : {};
  return {
    index: typeof index === 'number' ? index : undefined,
    id: textOf(id),
    name: textOf(name),
    piece: argumentText(given),
    extra: isObject(extra) ? extra : undefined,
  };
}
