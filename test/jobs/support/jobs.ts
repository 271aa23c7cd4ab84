/** Requests about jobs. */
import type { Schemas } from '../../../src/contract/operations.ts';

export type JobView = Schemas['TranscriptionJob'];

export interface JobApi {
  readonly url: string;
}

const root = '/api/v1/transcriptions';

export function formOf(recording: Uint8Array, fields: Readonly<Record<string, string>> = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new File([new Uint8Array(recording)], 'lecture.wav'));
  return form;
}

export async function create(
  { url }: JobApi,
  recording: Uint8Array,
  fields?: Readonly<Record<string, string>>,
  headers: Record<string, string> = {},
): Promise<JobView> {
  const answer = await fetch(`${url}${root}`, { method: 'POST', headers, body: formOf(recording, fields) });
  if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()) as JobView;
}

export async function read({ url }: JobApi, id: string, headers: Record<string, string> = {}): Promise<JobView> {
  const answer = await fetch(`${url}${root}/${id}`, { headers });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()) as JobView;
}

/** Waits for its end. */
export async function end(api: JobApi, id: string, headers: Record<string, string> = {}): Promise<JobView> {
  for (;;) {
    const view = await read(api, id, { ...headers, prefer: 'wait=30' });
    if (view.status === 'completed' || view.status === 'failed') return view;
  }
}

export interface SentEvent {
  readonly type: string;
  readonly seq: number;
  readonly [field: string]: unknown;
}

/** All events from the one after `last`, until the stream ends. */
export async function eventsOf({ url }: JobApi, id: string, last?: number): Promise<SentEvent[]> {
  const headers = last === undefined ? {} : { 'last-event-id': String(last) };
  return readEvents(await fetch(`${url}${root}/${id}/events`, { headers }));
}

/** Until the stream ends. */
export async function readEvents(answer: Response): Promise<SentEvent[]> {
  const text = await answer.text();
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as SentEvent);
}

export const transcript = ({ url }: JobApi, id: string, format?: string) =>
  fetch(`${url}${root}/${id}/transcript${format === undefined ? '' : `?format=${format}`}`);

export const remove = ({ url }: JobApi, id: string, headers: Record<string, string> = {}) =>
  fetch(`${url}${root}/${id}`, { method: 'DELETE', headers });
