/**
 * Transcribed recordings: each is an entry of the library, with its file. Memory holds the recording that the reader
 * shows, those that are being transcribed, and those that have not been opened since; if the browser stores nothing,
 * all of them.
 */
import { computed, effect, signal, untracked } from '@preact/signals';
import type { Transcription } from '../../src/client/index.ts';
import { announce } from '../announcements.ts';
import { isKeyRefused } from '../failure.ts';
import { attempt, key } from '../key.ts';
import { newId } from '../library/entry.ts';
import { entries, keepFile, read, remove, save, type Outcome } from '../library/library.ts';
import { ownerOf } from '../library/owner.ts';
import { client } from '../service.ts';
import { deleteJob, failureOfRecording, followJob, isJobGone } from './jobs.ts';
import type { Recording } from './recording.ts';
import {
  emptyTranscript,
  searchTextOf,
  textOfSegments,
  toTimedTranscript,
  type Speaker,
  type TimedTranscript,
} from './timed-transcript.ts';

export const recordings = signal<readonly Recording[]>([]);

/** The id of the transcript that the reader shows instead of the conversation. */
export const openedId = signal<string | undefined>(undefined);
export const opened = computed(() => byId(openedId.value));

const tabItem = 'parlance-recording';

interface Kept {
  revision: number;
  /** False until the library has stored it, which the browser may refuse. */
  isKept: boolean;
}
const kept = new Map<string, Kept>();
const streams = new Map<string, AbortController>();

const byId = (id: string | undefined) => recordings.value.find((one) => one.id === id);

/** Follows the jobs of earlier visits and other tabs, and opens what the tab had open before a reload. */
export function watchRecordings(): void {
  const before = attempt(() => sessionStorage.getItem(tabItem));
  if (before != null) void openRecording(before);
  effect(() => attempt(() => sessionStorage.setItem(tabItem, openedId.value ?? '')));
  let owner = key.peek();
  effect(() => {
    if (key.value === owner) return;
    owner = key.value;
    untracked(forgetRecordings); // another key may mean another person
  });
  effect(() => {
    const running = (entries.value ?? []).filter(({ job }) => job !== undefined);
    untracked(() => {
      for (const { id, title, job, revision } of running) {
        if (job === undefined || byId(id)) continue;
        kept.set(id, { revision, isKept: true });
        add({ id, title, transcript: emptyTranscript, job });
      }
    });
  });
  client.subscribe(() => untracked(followAll)); // after a refused key, the user may have entered a new one
}

function add(recording: Recording): void {
  recordings.value = [...recordings.value, recording];
  followAll();
}

function change(id: string, changes: Partial<Recording>): void {
  recordings.value = recordings.value.map((one) => (one.id === id ? { ...one, ...changes } : one));
}

/** Keeps and opens a recording. `done`: its transcript, or the job that writes it. */
export function addRecording(file: File, done: { readonly result: Transcription } | { readonly job: string }): void {
  const id = newId();
  kept.set(id, { revision: 0, isKept: false });
  const transcript = 'result' in done ? toTimedTranscript(done.result) : emptyTranscript;
  add({ id, title: file.name, file, transcript, ...('job' in done && { job: done.job }) });
  show(id);
  void keep(id).then(() => byId(id) && keepFile(id, file)); // unless it was deleted in the meantime
}

/** Runs writes one after another. */
let queue: Promise<unknown> = Promise.resolve();

const keep = (id: string): Promise<unknown> => (queue = queue.then(() => write(id)));

/** Another tab that follows the same job may have written it already. */
async function write(id: string): Promise<Outcome | undefined> {
  const [recording, state] = [byId(id), kept.get(id)];
  if (!recording || !state) return undefined;
  const { title, transcript, job } = recording;
  const searchText = searchTextOf(title, transcript);
  const { revision } = state;
  const owner = ownerOf(key.peek()); // recordings of another key are dropped
  const draft = { id, owner, kind: 'transcript', title, revision, turns: [], transcript, searchText } as const;
  const outcome = await save({ ...draft, ...(job !== undefined && { job }) }, true);
  if (outcome === 'saved') state.revision += 1;
  state.isKept = outcome !== 'refused';
  return outcome;
}

/** `name`: "" restores the label. Another tab may have named other speakers in the meantime. */
export function renameSpeaker(id: string, label: string, name: string): Promise<unknown> {
  const rename = (speakers: readonly Speaker[] = []) => {
    const transcript = byId(id)?.transcript;
    if (transcript) change(id, { transcript: { ...transcript, speakers: speakers.map(renamed) } });
  };
  const renamed = (one: Speaker): Speaker => {
    const { speaker, speech_ms } = one;
    return speaker === label ? { speaker, speech_ms, ...(name !== '' && { name }) } : one;
  };
  rename(byId(id)?.transcript.speakers);
  const state = kept.get(id);
  if (state) state.isKept = false; // stays in memory until it is stored
  return (queue = queue.then(async () => {
    if ((await write(id)) !== 'changed' || !state) return;
    state.isKept = false;
    const { entry, content } = (await read(id)) ?? {};
    if (entry) state.revision = entry.revision;
    if (content?.transcript) rename(content.transcript.speakers);
    await write(id);
  }));
}

export async function openRecording(id: string): Promise<void> {
  const whole = byId(id)?.file ? undefined : await read(id);
  if (whole?.entry.kind === 'transcript') {
    const { entry, content, file } = whole;
    kept.set(id, { revision: entry.revision, isKept: true });
    if (byId(id)) change(id, { ...(file && { file }) });
    else {
      const { title, job } = entry;
      const { transcript = emptyTranscript } = content;
      add({ id, title, transcript, ...(file && { file }), ...(job !== undefined && { job }) });
    }
  }
  if (byId(id)) show(id);
}

function show(id: string): void {
  if (id === openedId.value) return;
  closeRecording();
  openedId.value = id;
}

/** Closes the recording without deleting anything. */
export function closeRecording(): void {
  const { value: recording } = opened;
  openedId.value = undefined;
  if (recording) release(recording);
}

/** Drops a complete recording that the library has. */
export function release({ id }: Recording): void {
  if (byId(id)?.job !== undefined || !kept.get(id)?.isKept) return;
  recordings.value = recordings.value.filter((one) => one.id !== id);
}

/** `undoRemoval` restores it, as far as it was transcribed. */
export async function deleteRecording(id: string): Promise<void> {
  const job = byId(id)?.job;
  drop(id);
  if (job !== undefined) void deleteJob(job);
  await remove(id);
}

/** Removes all recordings from memory. Their jobs are not deleted; they expire on the service. */
export function forgetRecordings(): void {
  for (const { id } of recordings.value) drop(id);
}

function drop(id: string): void {
  streams.get(id)?.abort();
  if (id === openedId.value) openedId.value = undefined;
  recordings.value = recordings.value.filter((one) => one.id !== id);
}

function followAll(): void {
  for (const { id, job } of recordings.value) if (job !== undefined && !streams.has(id)) void follow(id, job);
}

async function follow(id: string, job: string): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  streams.set(id, controller);
  try {
    const result = await followJob(job, signal, ({ segments, ...progress }) => {
      const before = byId(id)?.transcript ?? emptyTranscript;
      if (!signal.aborted) change(id, { progress, transcript: { ...before, segments } });
    });
    await end(id, toTimedTranscript(result));
  } catch (error) {
    if (signal.aborted || isKeyRefused(error)) return; // the page asks for a key
    const { transcript = emptyTranscript } = byId(id) ?? {};
    const failure = isJobGone(error)
      ? { text: 'The service no longer has this transcription.' }
      : failureOfRecording(error);
    await end(id, { ...transcript, text: textOfSegments(transcript.segments), failure });
  } finally {
    streams.delete(id);
  }
}

async function end(id: string, transcript: TimedTranscript): Promise<void> {
  const recording = byId(id);
  if (!recording) return;
  const { job: _, progress: __, ...rest } = recording;
  recordings.value = recordings.value.map((one) => (one.id === id ? { ...rest, transcript } : one));
  announce(`${recording.title}: ${transcript.failure ? 'transcription failed' : 'transcribed'}.`);
  await keep(id);
}
