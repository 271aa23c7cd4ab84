/** Puts tool calls together from the parts in which they stream, whatever of index and id the provider gives them. */
import { isObject, textOf, type JsonObject } from '../../lib/json.ts';
import type { CallRequest } from '../lib/agent/tool-calls.ts';
import { distinctIds } from './call-ids.ts';
import { argumentsOf, argumentText, longestArguments, mostCalls, mostParts } from './dialect.ts';
import { badResponse } from './failures.ts';
import { createJsonText, type JsonText } from './json-text.ts';

interface Part {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  /** A piece of the arguments. */
  readonly piece: string;
  readonly extra: JsonObject | undefined;
}

/** A call, as far as it has come. */
interface Parts {
  readonly index: number | undefined;
  id: string;
  name: string;
  readonly json: JsonText;
  extra: JsonObject | undefined;
}

export interface CallParts {
  /** Throws `provider-bad-response` when there is no end to it. */
  add(part: JsonObject): void;
  calls(): readonly CallRequest[];
  /** For each call, what else it carries and wants to have back: a signature of Gemini's, without which it is refused. */
  extras(): readonly JsonObject[];
}

/** `nextId` makes the ids that the provider leaves out or gives twice. */
export function createCallParts(nextId: () => string): CallParts {
  const all: Parts[] = []; // at most `mostCalls`, so that a search of all of them costs the same for every part
  let count = 0;

  /** The call that a part goes on with; undefined: it begins another one. */
  function continued({ index, id, name, piece }: Part): Parts | undefined {
    const latest =
      index !== undefined
        ? all.findLast((one) => one.index === index)
        : id !== ''
          ? all.findLast((one) => one.id === id)
          : all.at(-1);
    if (latest === undefined || name === '') return latest;
    // Whole calls that come one after the other, all of them at index 0, or under one id, or without either.
    const isAnother = index !== undefined ? id !== '' && id !== latest.id : id === '';
    return isAnother || (piece !== '' && latest.json.isWholeObject()) ? undefined : latest;
  }

  return {
    add(part) {
      count += 1;
      const given = readPart(part);
      const { index, id, name, piece, extra } = given;
      let call = continued(given);
      if (call === undefined) {
        call = { index, id, name, json: createJsonText(), extra };
        all.push(call);
      }
      if (call.id === '') call.id = id;
      if (call.name === '') call.name = name; // some repeat it with every part
      call.json.append(piece);
      call.extra ??= extra;
      if (call.json.length > longestArguments || all.length > mostCalls || count > mostParts) {
        const why = `${all.length} calls, ${call.json.length} characters, ${count} parts`;
        throw badResponse('The model calls tools without end.', why);
      }
    },
    calls() {
      const ids = distinctIds(
        all.map(({ id }) => id),
        nextId,
      );
      return all.map(({ name, json }, index) => ({ id: ids[index] ?? '', name, arguments: argumentsOf(json.text()) }));
    },
    extras: () => all.map(({ extra }) => (extra ? { extra_content: extra } : {})),
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
