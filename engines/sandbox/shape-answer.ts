/** The answer in the form that the caller asks for: as JSON (`response_format`), or up to a `stop` sequence. */
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { ChatCall } from '../contract/index.ts';
import { sampleOf } from './schema-sample.ts';

export function shapeAnswer(text: string, { provider = {} }: ChatCall): string {
  const { response_format: format, stop } = provider;
  const answer = isObject(format) ? formatted(text, format) : text;
  const stops = [stop].flat().filter((one) => typeof one === 'string' && one !== '') as string[];
  const ends = stops.map((one) => answer.indexOf(one)).filter((at) => at >= 0);
  return answer.slice(0, Math.min(answer.length, ...ends));
}

function formatted(text: string, { type, json_schema: given }: JsonObject): string {
  if (type === 'json_object') return JSON.stringify({ answer: text });
  if (type !== 'json_schema') return text;
  return sampleOf(isObject(given) && isObject(given.schema) ? given.schema : {}, text);
}
