/** What the browser keeps: two tabs of the page on one IndexedDB, without a browser. */
import 'fake-indexeddb/auto';
import { join } from 'node:path';
import type { Signal } from '@preact/signals';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Turn } from '../../page/conversation-state.ts';
import type { Entry, Whole } from '../../page/library/entry.ts';

const page = join(import.meta.dirname, '../../page');

/** Of fake-indexeddb, which has no types without those of a browser. */
const { IDBFactory, IDBObjectStore, IDBDatabase } = globalThis as unknown as {
  readonly IDBFactory: new () => object;
  readonly IDBObjectStore: { readonly prototype: { put(...put: readonly unknown[]): EventTarget } };
  readonly IDBDatabase: { readonly prototype: { transaction(): void; close(): void } };
};

/** The database of all tabs. */
const deleteDatabase = () =>
  new Promise((resolve) => {
    const { indexedDB } = globalThis as unknown as {
      readonly indexedDB: { deleteDatabase(name: string): { onsuccess: unknown } };
    };
    indexedDB.deleteDatabase('parlance').onsuccess = resolve;
  });

/** The runs of a tab, without a service. */
async function newRuns() {
  const { computed, signal } = await import('@preact/signals');
  const turns = signal<readonly Turn[]>([]);
  const isRunning = (turn: Turn) => turn.role === 'assistant' && turn.state === 'running';
  const stop = (turn: Turn): Turn =>
    turn.role === 'assistant' && isRunning(turn) ? { ...turn, state: 'stopped' } : turn;
  let lastId = 0;
  return {
    turns,
    isAnswering: computed(() => turns.value.some(isRunning)),
    newTurnId: () => ++lastId,
    restore: (all: readonly Turn[]) => (turns.value = all),
    startOver: () => (turns.value = []),
    stopAnswer: () => {
      if (turns.value.some(isRunning)) turns.value = turns.value.map(stop);
    },
  };
}

const Channel = globalThis.BroadcastChannel as unknown as new (
  name: string,
) => NodeJS.RefCounted & { onmessage: unknown };
let channels: InstanceType<typeof Channel>[] = [];
let items: Map<string, string>;

beforeEach(() => {
  items = new Map();
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('addEventListener', vi.fn());
  vi.stubGlobal('document', { addEventListener: vi.fn() });
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, value: string) => items.set(name, value),
  });
  vi.stubGlobal(
    'BroadcastChannel',
    class extends Channel {
      constructor(name: string) {
        super(name);
        this.unref();
        channels.push(this);
      }
    },
  );
});

afterEach(() => {
  for (const channel of channels) channel.onmessage = null;
  channels = [];
  vi.restoreAllMocks();
});

/** The modules of a tab, which this program cannot type: it knows no browser. */
interface Modules {
  readonly library: {
    readonly entries: Signal<readonly Entry[] | undefined>;
    readonly refusal: Signal<string | undefined>;
    watchLibrary(): void;
    read(id: string): Promise<Whole | undefined>;
    readAll(): Promise<readonly Whole[]>;
    undoRemoval(): Promise<Entry | undefined>;
  };
  readonly search: { readonly query: Signal<string>; readonly found: Signal<ReadonlySet<string> | undefined> };
  readonly open: {
    readonly openId: Signal<string>;
    readonly surprise: Signal<string | undefined>;
    keepConversation(): void;
    startNewConversation(): void;
    openConversation(id: string): Promise<void>;
    deleteConversation(id: string): Promise<void>;
    deleteConversations(): Promise<void>;
  };
}

const load = async <T>(path: string): Promise<T> => (await import(/* @vite-ignore */ join(page, `${path}.ts`))) as T;

/** A tab. A second one shares IndexedDB with the first, and begins with the sessionStorage of the test. */
async function openTab() {
  vi.resetModules();
  const run = await newRuns();
  vi.doMock('../../page/run.ts', () => run);
  const library = await load<Modules['library']>('library/library');
  const { query, found } = await load<Modules['search']>('library/search');
  const open = await load<Modules['open']>('open-conversation');
  const { key } = await import('../../page/key.ts');
  library.watchLibrary();
  open.keepConversation();
  await expect.poll(() => library.entries.value).toBeDefined();
  const tab = {
    ...{ library, query, found, run, open, key },
    get texts() {
      return run.turns.value.map((turn) => (turn.role === 'user' ? turn.text : `(${turn.state})`)).join(' ');
    },
    get titles() {
      return library.entries.value?.map(({ title }) => title);
    },
    ask(text: string): void {
      run.turns.value = [
        ...run.turns.value,
        { role: 'user', id: run.newTurnId(), text },
        { role: 'assistant', id: run.newTurnId(), state: 'running', parts: [] },
      ];
    },
    end(): void {
      run.turns.value = run.turns.value.map((turn) => (turn.role === 'user' ? turn : { ...turn, state: 'done' }));
    },
    /** Asks and is answered; resolves when that is kept. */
    async talk(text: string): Promise<void> {
      tab.ask(text);
      tab.end();
      await tab.isKept();
    },
    isKept: () =>
      expect
        .poll(async () => (await library.read(open.openId.value))?.content.turns.map((turn) => turn.text))
        .toEqual(run.turns.value.map((turn) => (turn.role === 'user' ? turn.text : ''))),
  };
  return tab;
}

describe('a conversation', () => {
  test('is kept from its first question on, and opened again', async () => {
    const tab = await openTab();
    tab.ask('Good morning');
    await tab.isKept(); // while the answer is running
    tab.end();
    await expect.poll(async () => (await tab.library.read(tab.open.openId.value))?.content.turns[1]).toMatchObject({ state: 'done' }); // prettier-ignore
    tab.open.startNewConversation();
    expect(tab.texts).toBe('');
    await tab.talk('Good night');
    expect(tab.titles).toEqual(['Good night', 'Good morning']);
    await tab.open.openConversation(tab.library.entries.value![1]!.id);
    expect(tab.texts).toBe('Good morning (done)');
    await tab.talk('And now?');
    expect(tab.titles).toEqual(['Good morning', 'Good night']);
  });

  test('of 1,000 turns is kept whole', async () => {
    const tab = await openTab();
    const answer = (id: number) => ({ role: 'assistant', id, state: 'done', parts: [] }) as const;
    tab.run.turns.value = Array.from({ length: 1_000 }, (_, id) =>
      id % 2 === 0 ? { role: 'user', id, text: `Question ${id}` } : answer(id),
    );
    await tab.isKept();
  });

  test('is there again after a reload, which stops its answer', async () => {
    const tab = await openTab();
    tab.ask('Good morning');
    await tab.isKept();
    const again = await openTab();
    await expect.poll(() => again.texts).toBe('Good morning (stopped)');
    expect(again.open.openId.value).toBe(tab.open.openId.value);
  });

  test('that is left is stopped, and kept as far as it came', async () => {
    const tab = await openTab();
    tab.ask('Good morning');
    const id = tab.open.openId.value;
    tab.open.startNewConversation();
    await expect.poll(async () => (await tab.library.read(id))?.content.turns[1]).toMatchObject({ state: 'stopped' });
  });

  test('belongs to its key', async () => {
    const tab = await openTab();
    await tab.talk('Good morning');
    const id = tab.open.openId.value;
    tab.key.value = 'second';
    expect(tab.texts).toBe('');
    await expect.poll(() => tab.titles).toEqual([]);
    expect(await tab.library.read(id)).toBeUndefined();
    tab.query.value = 'morning';
    tab.key.value = undefined;
    await expect.poll(() => tab.titles).toEqual(['Good morning']);
  });

  test('whose answer is running belongs to its key as well, once another one is in use', async () => {
    const tab = await openTab();
    tab.ask('Good morning');
    await tab.isKept();
    const id = tab.open.openId.value;
    tab.key.value = 'second';
    await tab.talk('Good night'); // is stored after what was still to be written
    expect(tab.titles).toEqual(['Good night']);
    tab.key.value = undefined;
    await expect.poll(() => tab.titles).toEqual(['Good morning']);
    expect((await tab.library.read(id))?.content.turns[1]).toMatchObject({ state: 'stopped' });
  });

  test('whose answer is running is gone once everything is deleted', async () => {
    const tab = await openTab();
    tab.ask('Good morning');
    await tab.isKept();
    await tab.open.deleteConversations();
    await tab.talk('Good night'); // is stored after what was still to be written
    expect(tab.titles).toEqual(['Good night']);
  });

  test('is deleted, and comes back with Undo', async () => {
    const tab = await openTab();
    await tab.talk('Good morning');
    const id = tab.open.openId.value;
    await tab.open.deleteConversation(id);
    expect([tab.texts, tab.titles]).toEqual(['', []]);
    expect(await tab.library.undoRemoval()).toMatchObject({ id });
    await tab.open.openConversation(id);
    expect([tab.texts, tab.titles]).toEqual(['Good morning (done)', ['Good morning']]);
    expect(await tab.library.undoRemoval()).toBeUndefined();
  });

  test('is found by all of its words, without case and accents', async () => {
    const tab = await openTab();
    await tab.talk('Où est la Gare ?');
    tab.open.startNewConversation();
    await tab.talk('Where is the station?');
    for (const [query, titles] of [
      ['gare OU', ['Où est la Gare ?']],
      ['station gare', []],
      ['st', ['Where is the station?', 'Où est la Gare ?']],
    ] as const) {
      tab.query.value = query;
      const named = () =>
        tab.library.entries.value!.filter(({ id }) => tab.found.value?.has(id)).map((one) => one.title);
      await expect.poll(named).toEqual(titles);
    }
  });
});

describe('two tabs', () => {
  async function openTwo() {
    const first = await openTab();
    await first.talk('Good morning');
    const second = await openTab();
    await expect.poll(() => second.texts).toBe('Good morning (done)');
    return { first, second };
  }

  test('see what the other one has asked', async () => {
    const { first, second } = await openTwo();
    const ids = second.run.turns.value.map(({ id }) => id);
    await first.talk('And now?');
    await expect.poll(() => second.texts).toBe('Good morning (done) And now? (done)');
    expect(second.run.turns.value.slice(0, 2).map(({ id }) => id)).toEqual(ids); // nothing is drawn again
    await second.talk('And then?');
    await expect.poll(() => first.texts).toBe('Good morning (done) And now? (done) And then? (done)');
    expect(first.titles).toEqual(['Good morning']);
  });

  test('that answer at once lose nothing: one continues as a copy, and says so', async () => {
    const { first, second } = await openTwo();
    first.ask('First');
    second.ask('Second');
    first.end();
    second.end();
    await expect.poll(() => second.titles).toEqual(['Good morning', 'Good morning']);
    await expect.poll(() => first.titles).toEqual(['Good morning', 'Good morning']);
    const all = await first.library.readAll();
    const kept = all.map(({ content }) => content.turns.map(({ text }) => text).join(' ').trim()).sort(); // prettier-ignore
    expect(kept).toEqual(['Good morning  First', 'Good morning  Second']);
    expect(first.open.openId.value).not.toBe(second.open.openId.value);
    const surprises = [first, second].map(({ open }) => open.surprise.value).filter(Boolean);
    expect(surprises).toEqual([expect.stringContaining('continues as a copy')]);
  });

  test('of which one deletes the conversation: the other says so, and keeps it with its next message', async () => {
    const { first, second } = await openTwo();
    await first.open.deleteConversation(first.open.openId.value);
    await expect.poll(() => second.open.surprise.value).toMatch(/deleted in another tab/);
    expect(second.texts).toBe('Good morning (done)');
    await expect.poll(() => second.titles).toEqual([]);
    await second.talk('Still here?');
    await expect.poll(() => first.titles).toEqual(['Good morning']);
  });

  test('of which one deletes everything', async () => {
    const { first, second } = await openTwo();
    await first.open.deleteConversations();
    await expect.poll(() => second.open.surprise.value).toMatch(/deleted in another tab/);
    await expect.poll(() => [first.titles, second.titles]).toEqual([[], []]);
  });
});

describe('without room', () => {
  test.each([
    ['refused', () => vi.stubGlobal('indexedDB', { open: () => { throw new DOMException('', 'SecurityError'); } })], // prettier-ignore
    ['full', () => vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => { throw new DOMException('', 'QuotaExceededError'); })], // prettier-ignore
  ])('the conversation continues: %s', async (why, refuse) => {
    refuse();
    const tab = await openTab();
    tab.ask('Good morning');
    await expect.poll(() => tab.library.refusal.value).toBe(why);
    tab.end();
    tab.ask('And now?');
    expect(tab.texts).toBe('Good morning (done) And now? (running)');
    expect(tab.titles).toEqual([]);
    vi.restoreAllMocks();
    vi.stubGlobal('indexedDB', new IDBFactory());
    tab.end();
    await tab.isKept();
    expect(tab.library.refusal.value).toBeUndefined();
  });

  test('nothing counts as kept whose transaction fails at its end', async () => {
    const tab = await openTab();
    const { put } = IDBObjectStore.prototype;
    interface Store {
      readonly name: string;
      readonly transaction: { abort(): void };
    }
    vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (this: Store, ...args) {
      const request = put.apply(this, args);
      if (this.name === 'texts') request.addEventListener('success', () => this.transaction.abort()); // the last one
      return request;
    });
    tab.ask('Good morning');
    await expect.poll(() => tab.library.refusal.value).toBe('refused');
    expect(tab.titles).toEqual([]);
  });

  test('the conversation is kept again after the storage was deleted', async () => {
    const tab = await openTab();
    await tab.talk('Good morning');
    await deleteDatabase();
    tab.open.startNewConversation();
    await tab.talk('Good night');
    expect(tab.library.refusal.value).toBeUndefined();
    expect(await tab.library.readAll()).toHaveLength(1);
  });

  test('the conversation is kept again after a connection was lost', async () => {
    const tab = await openTab();
    const lost = vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: { close(): void }) {
      this.close();
      throw new DOMException('', 'InvalidStateError');
    });
    tab.ask('Good morning');
    await expect.poll(() => tab.library.refusal.value).toBe('refused');
    lost.mockRestore();
    tab.end();
    await tab.isKept();
    expect(tab.library.refusal.value).toBeUndefined();
  });
});
