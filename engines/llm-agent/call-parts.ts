/** Puts tool calls together from the parts in which they stream, whatever of index and id the provider gives them. */
import { isObject, parseObject, textOf, type JsonObject } from '../lib/json.ts';
import type { CallRequest } from '../lib/tool-calls.ts';
import { distinctIds } from './call-ids.ts';
import { argumentsOf, argumentText, longestArguments, mostCalls } from './dialect.ts';
import { badResponse } from './failures.ts';

interface Parts {
  readonly index: number | undefined;
  id: string;
  name: string;
  json: string;
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
  const all: Parts[] = [];

  /** The call that a part goes on with; undefined: it begins another one. */
  function continued({ index, id, name, json }: Parts): Parts | undefined {
    const latest =
      index !== undefined
        ? all.findLast((one) => one.index === index)
        : id !== ''
          ? all.findLast((one) => one.id === id)
          : all.at(-1);
    if (latest === undefined || name === '') return latest;
    // Whole calls that come one after the other, all of them at index 0, or under one id, or without either.
    const isAnother = index !== undefined ? id !== '' && id !== latest.id : id === '';
    return isAnother || (json !== '' && isWhole(latest.json)) ? undefined : latest;
  }

  return {
    add(part) {
      const fn = isObject(part.function) ? part.function : {};
      const given: Parts = {
        index: typeof part.index === 'number' ? part.index : undefined,
        id: textOf(part.id),
        name: textOf(fn.name),
        json: argumentText(fn.arguments),
        extra: isObject(part.extra_content) ? part.extra_content : undefined,
      };
      const call = continued(given) ?? given;
      if (call === given) {
        all.push(call);
      } else {
        if (call.id === '') call.id = given.id;
        if (call.name === '') call.name = given.name; // some repeat it with every part
        call.json += given.json;
        call.extra ??= given.extra;
      }
      if (call.json.length > longestArguments || all.length > mostCalls) {
        throw badResponse('The model calls tools without end.', `${all.length} calls, ${call.json.length} characters`);
      }
    },
    calls() {
      const ids = distinctIds(
        all.map(({ id }) => id),
        nextId,
      );
      return all.map(({ name, json }, index) => ({ id: ids[index] ?? '', name, arguments: argumentsOf(json) }));
    },
    extras: () => all.map(({ extra }) => (extra ? { extra_content: extra } : {})),
  };
}

function isWhole(json: string): boolean {
  return json.endsWith('}') && parseObject(json) !== undefined;
}
