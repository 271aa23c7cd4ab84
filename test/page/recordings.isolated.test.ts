/** Recordings and their transcripts: kept, opened again and deleted, on one IndexedDB and without a browser or service. */
import 'fake-indexeddb/auto';
import { join } from 'node:path';
import { signal, type Signal } from '@preact/signals';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Entry, Whole } from '../../page/library/entry.ts';
import type { Recording } from '../../page/reader/recording.ts';

const page = join(import.meta.dirname, '../../page');

/** Of fake-indexeddb, which has no types without those of a browser. */
const { IDBFactory } = globalThis as unknown as { readonly IDBFactory: new () => object };

interface Modules {
  readonly library: {
    readonly entries: Signal<readonly Entry[] | undefined>;
    watchLibrary(): void;
    read(id: string): Promise<Whole | undefined>;
    undoRemoval(): Promise<Entry | undefined>;
  };
  readonly reader: {
    readonly recordings: Signal<readonly Recording[]>;
    readonly opened: Signal<Recording | undefined>;
    watchRecordings(): void;
    addRecording(file: File, done: object): void;
    openRecording(id: string): Promise<void>;
    closeRecording(): void;
    deleteRecording(id: string): Promise<void>;
    renameSpeaker(id: string, speaker: string, name: string): Promise<unknown>;
  };
}

/** The jobs of the service. */
interface Job {
  readonly segments: readonly string[];
  readonly end: Promise<object>;
}
let jobs: Map<string, Job>;
let deleted: string[];
let items: Map<string, string>;
/** What is sent about speakers. */
let speakerFields: object;

const timed = (text: string, index: number) => ({ start_ms: 1_000 * index, end_ms: 1_000 * index + 900, text });
const resultOf = (...texts: readonly string[]) => ({
  ...{ text: texts.join(' '), language: 'en', model: 'm', duration_ms: 1_000 * texts.length },
  segments: texts.map(timed),
});

async function* events(id: string) {
  const job = jobs.get(id);
  const { ParlanceError } = await import('../../src/client/index.ts'); // of this page
  if (!job) throw new ParlanceError('transcription-not-found', 'No such transcription.');
  for (const [seq, text] of job.segments.entries()) yield { type: 'segment.created', seq, segment: timed(text, seq) };
  yield { type: 'transcription.progress', seq: 99, processed_ms: 400, duration_ms: 1_000 };
  yield await job.end;
}

beforeEach(() => {
  jobs = new Map();
  deleted = [];
  items = new Map();
  speakerFields = {};
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('BroadcastChannel', class { postMessage(): void {} }); // prettier-ignore
  vi.stubGlobal('addEventListener', vi.fn());
  vi.stubGlobal('document', { addEventListener: vi.fn() });
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, value: string) => items.set(name, value),
  });
});

const load = async <T>(path: string): Promise<T> => (await import(/* @vite-ignore */ join(page, `${path}.ts`))) as T;

/** The page, after a reload if it was open before. */
async function openPage() {
  vi.resetModules();
  const transcriptions = { events, delete: async (id: string) => void deleted.push(id) }; // eslint-disable-line @typescript-eslint/require-await
  vi.doMock('../../page/service.ts', () => ({ client: signal({ transcriptions }) }));
  vi.doMock('../../page/listings.ts', () => ({ speakerFields: signal(speakerFields), timestamps: signal({}) }));
  const library = await load<Modules['library']>('library/library');
  const reader = await load<Modules['reader']>('reader/recordings');
  const { key } = await import('../../page/key.ts');
  library.watchLibrary();
  reader.watchRecordings();
  await expect.poll(() => library.entries.value).toBeDefined();
  return {
    ...{ library, reader, key },
    get titles() {
      return library.entries.value?.map(({ title, kind }) => `${kind} ${title}`);
    },
    textOf: () => reader.opened.value?.transcript.segments.map(({ text }) => text).join(' '),
    /** The library has it, with the text. */
    isKept: async (id: string, text: string) => {
      await expect.poll(async () => (await library.read(id))?.content.transcript?.text).toBe(text);
      await expect.poll(async () => (await library.read(id))?.file?.name).toBe(file.name);
    },
  };
}

const file = new File(['sound'], '<b>memo</b>.wav', { type: 'audio/wav' });
const running = () => Promise.withResolvers<object>();
const completed = (...texts: readonly string[]) => ({
  ...{ type: 'transcription.completed', seq: 100, result: resultOf(...texts) },
});

describe('a recording', () => {
  test('is opened, kept with its file, closed, and opened again', async () => {
    const { reader, textOf, isKept, ...tab } = await openPage();
    reader.addRecording(file, { result: resultOf('Good', 'morning') });
    const { id } = reader.opened.value!;
    expect(textOf()).toBe('Good morning');
    await isKept(id, 'Good morning');
    expect(tab.library.entries.value).toMatchObject([{ kind: 'transcript', title: file.name }]);
    await reader.openRecording(id); // it is open already
    expect(textOf()).toBe('Good morning');
    reader.closeRecording();
    expect([reader.opened.value, reader.recordings.value]).toEqual([undefined, []]);
    await reader.openRecording(id);
    expect(textOf()).toBe('Good morning');
    expect(reader.opened.value!.file?.name).toBe(file.name);
  });

  test('that was open is open after a reload', async () => {
    const { reader, isKept } = await openPage();
    reader.addRecording(file, { result: resultOf('Good') });
    await isKept(reader.opened.value!.id, 'Good');
    const again = await openPage();
    await expect.poll(again.textOf).toBe('Good');
  });

  test('is deleted with its file, and comes back with it', async () => {
    const { reader, library, isKept, textOf } = await openPage();
    reader.addRecording(file, { result: resultOf('Good') });
    const { id } = reader.opened.value!;
    await isKept(id, 'Good');
    await reader.deleteRecording(id);
    expect([reader.opened.value, library.entries.value, await library.read(id)]).toEqual([undefined, [], undefined]);
    expect(await library.undoRemoval()).toMatchObject({ id });
    await reader.openRecording(id);
    expect([textOf(), reader.opened.value!.file?.name]).toEqual(['Good', file.name]);
  });

  test('belongs to its key', async () => {
    const { reader, library, key, isKept } = await openPage();
    reader.addRecording(file, { result: resultOf('Good') });
    const { id } = reader.opened.value!;
    await isKept(id, 'Good');
    key.value = 'second';
    expect([reader.opened.value, reader.recordings.value]).toEqual([undefined, []]);
    await reader.openRecording(id);
    expect(reader.opened.value).toBeUndefined();
    await expect.poll(() => library.entries.value).toEqual([]);
  });

  test('stays in memory where the browser keeps nothing', async () => {
    vi.stubGlobal('indexedDB', { open: () => { throw new DOMException('', 'SecurityError'); } }); // prettier-ignore
    const { reader, textOf } = await openPage();
    reader.addRecording(file, { result: resultOf('Good') });
    const { id } = reader.opened.value!;
    reader.closeRecording();
    expect(reader.recordings.value).toMatchObject([{ id, title: file.name }]);
    await reader.openRecording(id);
    expect(textOf()).toBe('Good');
  });
});

describe('the names of speakers', () => {
  const speakers = ['A', 'B'].map((speaker) => ({ speaker, speech_ms: 900 }));
  const result = { ...resultOf('Good', 'morning'), turns: [], speakers };
  const open = async (id?: string) => {
    const { reader, library, isKept } = await openPage();
    if (id === undefined) reader.addRecording(file, { result });
    else await reader.openRecording(id);
    const opened = reader.opened.value!.id;
    await isKept(opened, 'Good morning');
    return {
      ...{ reader, library, id: opened, rename: (speaker: string, name: string) => reader.renameSpeaker(opened, speaker, name) }, // prettier-ignore
      names: () => reader.opened.value?.transcript.speakers?.map(({ speaker, name = speaker }) => name),
    };
  };

  test('are kept with the transcript, and removed', async () => {
    const { id, rename, names, library } = await open();
    await rename('B', 'Ada');
    expect(names()).toEqual(['A', 'Ada']);
    const again = await open(id);
    expect(again.names()).toEqual(['A', 'Ada']);
    await again.rename('B', '');
    expect(again.names()).toEqual(['A', 'B']);
    expect((await library.read(id))?.content.transcript?.speakers).toEqual(speakers);
  });

  test('are kept if the transcript is closed at once', async () => {
    const { id, reader, rename, library } = await open();
    const renamed = rename('B', 'Ada');
    reader.closeRecording();
    await renamed;
    expect((await library.read(id))?.content.transcript?.speakers).toMatchObject([{}, { name: 'Ada' }]);
  });

  test('of two tabs are all kept', async () => {
    const first = await open();
    const second = await open(first.id);
    await second.rename('A', 'Grace');
    await first.rename('B', 'Ada');
    expect(first.names()).toEqual(['Grace', 'Ada']);
    expect((await open(first.id)).names()).toEqual(['Grace', 'Ada']);
  });
});

describe('a long recording', () => {
  test('grows, continues after a reload, and is kept at its end', async () => {
    const { promise: end, resolve } = running();
    jobs.set('j', { segments: ['Good', 'morning'], end });
    const { reader, textOf } = await openPage();
    reader.addRecording(file, { job: 'j' });
    const { id } = reader.opened.value!;
    await expect.poll(textOf).toBe('Good morning');
    expect(reader.opened.value).toMatchObject({ job: 'j', progress: { done: 0.4 } });
    reader.closeRecording();
    expect(reader.recordings.value).toHaveLength(1);

    const again = await openPage();
    await expect.poll(() => again.reader.recordings.value).toMatchObject([{ id, job: 'j' }]);
    resolve(completed('Good', 'morning', 'everybody'));
    await again.isKept(id, 'Good morning everybody');
    expect((await again.library.read(id))?.entry).not.toHaveProperty('job');
    expect(deleted).toEqual([]);
  });

  test('that fails keeps its text and its file, and says why', async () => {
    const problem = { type: 'about:blank', title: 'Busy', status: 503, code: 'overloaded', detail: 'Too busy.' };
    jobs.set('j', { segments: ['Good'], end: Promise.resolve({ type: 'transcription.failed', seq: 100, problem }) });
    const { reader, isKept } = await openPage();
    reader.addRecording(file, { job: 'j' });
    await isKept(reader.opened.value!.id, 'Good');
    expect(reader.opened.value!.transcript.failure).toMatchObject({ text: 'Too busy.' });
  });

  test.each([
    ['parameter-not-supported', {}, 'It has one channel. Choose another way to distinguish speakers'],
    ['recording-too-long', { diarize: 'true' }, 'It has one channel. Without speakers, longer recordings'],
    ['recording-too-long', {}, 'It has one channel.'],
  ])('whose speakers cannot be found says what to do: %s, %j', async (code, fields, text) => {
    speakerFields = fields;
    const problem = { type: 'about:blank', title: 'No', status: 422, code, detail: 'It has one channel.' };
    jobs.set('j', { segments: [], end: Promise.resolve({ type: 'transcription.failed', seq: 100, problem }) });
    const { reader } = await openPage();
    reader.addRecording(file, { job: 'j' });
    await expect.poll(() => reader.opened.value?.transcript.failure?.text).toMatch(text);
    if (text.endsWith('channel.')) expect(reader.opened.value?.transcript.failure?.text).toBe(text);
  });

  test('that the service no longer has says so', async () => {
    const { reader } = await openPage();
    reader.addRecording(file, { job: 'gone' });
    await expect
      .poll(() => reader.opened.value?.transcript.failure?.text)
      .toBe('The service no longer has this transcription.');
  });

  test('is deleted from the service, too, while it is being transcribed', async () => {
    jobs.set('j', { segments: ['Good'], end: running().promise });
    const { reader, library } = await openPage();
    reader.addRecording(file, { job: 'j' });
    await expect.poll(() => library.entries.value).toHaveLength(1);
    await reader.deleteRecording(reader.opened.value!.id);
    expect(deleted).toEqual(['j']);
    expect([reader.recordings.value, library.entries.value]).toEqual([[], []]);
  });
});
