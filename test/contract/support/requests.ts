/** Requests by the contract: valid ones, broken ones, and how either is written for the wire. */
import fc, { type Arbitrary } from '../../support/fast-check.ts';
import { multipart, multipartType, wavHead } from '../../api/support/forms.ts';
import type { Call } from '../../support/http.ts';
import { breaksOf, validOf, type Break, type Wire } from './arbitraries.ts';
import { parts, type Operation, type Part } from './document.ts';

/** The parts of a request, each as an object. */
export type Parts = Readonly<Partial<Record<Part, Readonly<Record<string, unknown>>>>>;

export interface BrokenRequest {
  readonly parts: Parts;
  /** The place that is broken. */
  readonly in: Part;
  readonly pointer: string;
}

export interface RequestBreak extends Omit<Break, 'arbitrary'> {
  readonly arbitrary: Arbitrary<BrokenRequest>;
}

export const isForm = ({ mediaType }: Operation) => mediaType === 'multipart/form-data';

function styleOf(operation: Operation, part: Part) {
  const wires = {
    path: 'segment',
    query: 'text',
    header: 'header',
    body: isForm(operation) ? 'text' : 'json',
  } as const;
  return { wire: wires[part] satisfies Wire, recording: wavHead };
}

/** With the other parts of the request. */
export function validRequests(operation: Operation): Arbitrary<Parts> {
  const own = parts.flatMap((part) => {
    const schema = operation.schemas[part];
    return schema ? [[part, validOf(schema, styleOf(operation, part))] as const] : [];
  });
  return fc.record(Object.fromEntries(own)) as Arbitrary<Parts>;
}

/** One for each rule that the contract has for the request. */
export function requestBreaks(operation: Operation): RequestBreak[] {
  const valid = validRequests(operation);
  return parts.flatMap((part) => {
    const schema = operation.schemas[part];
    if (!schema) return [];
    const breaks = breaksOf(schema, styleOf(operation, part)).filter(({ rule }) => !isOfWhole(rule, part, operation));
    return breaks.map(({ rule, arbitrary, ...more }) => ({
      ...more,
      rule: `${part} ${rule.trim()}`,
      arbitrary: fc.tuple(valid, arbitrary).map(([others, { value, pointer }]) => ({
        parts: { ...others, [part]: value as Parts['body'] },
        in: part,
        pointer,
      })),
    }));
  });
}

/** Only JSON can be of another type as a whole. */
const isOfWhole = (rule: string, part: Part, operation: Operation) =>
  rule === ' type' && (part !== 'body' || isForm(operation));

const hello = { messages: [{ role: 'user', content: 'Hello' }] };

/** For each operation that needs one. */
const smallRequests: Readonly<Record<string, Parts>> = {
  createChat: { body: hello },
  streamChat: { body: hello },
  createSpeech: { body: { text: 'Hello' } },
  createTranscription: { body: { file: wavHead } },
  streamTranscription: { body: { file: wavHead } },
  createTranscriptionJob: { body: { file: wavHead } },
  getTranscriptionJob: { path: { id: 'Vb1yPz4mQ0iYxkq3o9TtWw' } },
  streamTranscriptionJob: { path: { id: 'Vb1yPz4mQ0iYxkq3o9TtWw' } },
  getTranscriptionJobTranscript: { path: { id: 'Vb1yPz4mQ0iYxkq3o9TtWw' } },
  deleteTranscriptionJob: { path: { id: 'Vb1yPz4mQ0iYxkq3o9TtWw' } },
  createSpeechClip: { body: { text: 'Hello' } },
  getSpeechClip: { path: { id: 'Vb1yPz4mQ0iYxkq3o9TtWw' } },
  startPreparation: { path: { id: 'unknown' } },
  stopPreparation: { path: { id: 'unknown' } },
  deleteSpeechClip: { path: { id: 'Vb1yPz4mQ0iYxkq3o9TtWw' } },
  retrieveModel: { path: { id: 'fine' } },
};

/** A request that works, but for the clip or the job, which is not there. */
export function smallRequest({ id }: Operation): Parts {
  return smallRequests[id] ?? {};
}

/** The same for this model. */
export function requestOf(model: string, operation: Operation): Parts {
  return { body: { ...smallRequest(operation).body, model } };
}

/** The request as it is sent. */
export function encode(
  operation: Operation,
  { path = {}, query = {}, header = {}, body }: Parts,
): Call & { readonly path: string } {
  const place = operation.template.replace(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(String(path[name])),
  );
  const search = pairs(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
  );
  const type = isForm(operation) ? multipartType : body !== undefined && { 'content-type': operation.mediaType ?? '' };
  return {
    path: `${operation.root}${place}${search.length > 0 ? `?${search.join('&')}` : ''}`,
    headers: { ...(header as Record<string, string>), ...type },
    ...(body !== undefined && { body: isForm(operation) ? form(body) : Buffer.from(JSON.stringify(body)) }),
  };
}

/** A list is a name that is sent several times. */
function pairs(fields: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((one): [string, unknown] => [name, one]) : [[name, value] as [string, unknown]],
  );
}

function form(fields: Readonly<Record<string, unknown>>): Buffer {
  return multipart(
    ...pairs(fields).map(([name, value]) =>
      value instanceof Uint8Array ? { name, value, filename: 'memo' } : { name, value: String(value) },
    ),
  );
}
