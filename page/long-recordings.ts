/**
 * Long recordings are transcribed as jobs of the service, which continue when the page is closed. The browser keeps
 * their ids.
 */
import { signal, untracked } from '@preact/signals';
import { ParlanceError, type TranscriptFormat } from '../src/client/index.ts';
import { announce } from './announcements.ts';
import { failureOf, isKeyRefused, isNotAllowed, type Failure } from './failure.ts';
import { recordingFields } from './listings.ts';
import { saveFile } from './save-file.ts';
import { client } from './service.ts';

export interface LongRecording {
  readonly id: string;
  /** File name. */
  readonly name: string;
  /** Share that has been transcribed, 0 to 1; undefined until the length is known. */
  readonly done?: number;
  readonly hasText: boolean;
  readonly isOver: boolean;
  readonly failure?: Failure;
}

export const longRecordings = signal<readonly LongRecording[]>([]);

/** The limit of an ordinary transcription. */
const largestBytes = 26_214_400;
const longestSeconds = 600;

/** For people who choose a file. The operator may have set other limits for jobs. */
export const acceptedFiles =
  'Audio or video, such as mp3, m4a, wav, ogg, webm or mp4. ' +
  'Over 10 minutes or 25 MB it is transcribed in the background, usually up to 4 hours and 500 MB.';

const storageName = 'parlance-jobs';
const mostKept = 8;

const streams = new Map<string, AbortController>();

export async function isLong(file: File): Promise<boolean> {
  return file.size > largestBytes || (await secondsOf(file)) > longestSeconds;
}

/** 0 if the browser cannot read the length. */
function secondsOf(file: File): Promise<number> {
  const url = URL.createObjectURL(file);
  const audio = new Audio();
  const length = new Promise<number>((resolve) => {
    audio.onloadedmetadata = () => resolve(Number.isFinite(audio.duration) ? audio.duration : 0);
    audio.onerror = () => resolve(0);
    setTimeout(resolve, 3_000, 0);
    audio.preload = 'metadata';
    audio.src = url;
  });
  return length.finally(() => {
    audio.removeAttribute('src');
    URL.revokeObjectURL(url);
  });
}

/** Returns false if the service takes no jobs, but may accept an ordinary upload. */
export async function createJob(
  file: File,
  options: { readonly signal: AbortSignal; readonly onUploadProgress: (sent: number) => void },
): Promise<boolean> {
  try {
    const { id } = await client.value.transcriptions.create(file, { ...options, ...recordingFields.value });
    add({ id, name: file.name, hasText: false, isOver: false });
    announce('Recording uploaded. You can close this page; the transcription continues.');
    return true;
  } catch (error) {
    if (isWithoutJobs(error) && file.size <= largestBytes) return false;
    throw error;
  }
}

function isWithoutJobs(error: unknown): boolean {
  const codes = ['transcription-disabled', 'not-ready', 'not-found'];
  return isNotAllowed(error) || (error instanceof ParlanceError && codes.includes(error.code));
}

/** Includes recordings of earlier visits. Starts again whenever the key changes. */
export function watchLongRecordings(): void {
  longRecordings.value = readStored().map((one) => ({ ...one, hasText: false, isOver: false }));
  client.subscribe(() => untracked(streamAll));
}

function streamAll(): void {
  for (const one of longRecordings.value) if (!one.isOver && !streams.has(one.id)) void streamEvents(one);
}

function add(recording: LongRecording): void {
  longRecordings.value = [...longRecordings.value, recording];
  store();
  void streamEvents(recording);
}

async function streamEvents({ id, name }: LongRecording): Promise<void> {
  const controller = new AbortController();
  streams.set(id, controller);
  try {
    for await (const event of client.value.transcriptions.events(id, { signal: controller.signal })) {
      if (event.type === 'segment.created') change(id, { hasText: true });
      if (event.type === 'transcription.progress') {
        const { processed_ms: processed, duration_ms: duration = 0 } = event;
        if (duration > 0) change(id, { done: Math.min(1, processed / duration) });
      }
      if (event.type === 'transcription.completed') {
        change(id, { done: 1, isOver: true, hasText: true });
        announce(`${name}: transcribed.`);
      }
      if (event.type === 'transcription.failed') throw ParlanceError.fromProblem(event.problem);
    }
  } catch (error) {
    if (controller.signal.aborted || isKeyRefused(error)) return; // the page asks for a key
    if (error instanceof ParlanceError && error.code === 'transcription-not-found') return forget(id);
    change(id, { isOver: true, failure: failureOf(error) });
  } finally {
    streams.delete(id);
  }
}

export async function saveTranscript({ id, name }: LongRecording, format: TranscriptFormat): Promise<void> {
  try {
    const text = await client.value.transcriptions.transcript(id, { format });
    const extension = format === 'text' ? 'txt' : format;
    saveFile(new File([text], `${name.replace(/\.\w{1,5}$/, '')}.${extension}`, { type: 'text/plain' }));
  } catch (error) {
    change(id, { failure: failureOf(error) });
  }
}

/** Deletes it from the page and from the service. */
export async function deleteJob({ id }: LongRecording): Promise<void> {
  streams.get(id)?.abort();
  forget(id);
  await client.value.transcriptions.delete(id).catch(() => undefined); // it expires
}

/** Deletes them from the page; those of the service expire. */
export function forgetJobs(): void {
  for (const { id } of longRecordings.value) streams.get(id)?.abort();
  longRecordings.value = [];
  store();
}

function change(id: string, changes: Partial<LongRecording>): void {
  longRecordings.value = longRecordings.value.map((one) => (one.id === id ? { ...one, ...changes } : one));
}

function forget(id: string): void {
  longRecordings.value = longRecordings.value.filter((one) => one.id !== id);
  store();
}

/** A browser that blocks storage throws: the ids then last as long as the page. */
function store(): void {
  const kept = longRecordings.value.slice(-mostKept).map(({ id, name }) => ({ id, name }));
  try {
    if (kept.length === 0) localStorage.removeItem(storageName);
    else localStorage.setItem(storageName, JSON.stringify(kept));
  } catch {
    // Blocked or full.
  }
}

function readStored(): readonly { readonly id: string; readonly name: string }[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageName) ?? '[]');
    if (!Array.isArray(stored)) return [];
    return (stored as readonly unknown[]).filter(isStored).slice(-mostKept);
  } catch {
    return [];
  }
}

function isStored(value: unknown): value is { readonly id: string; readonly name: string } {
  const { id, name } = (value ?? {}) as Record<string, unknown>;
  return typeof id === 'string' && /^[\w.-]{1,128}$/.test(id) && typeof name === 'string';
}
