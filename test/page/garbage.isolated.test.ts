/** A service that answers garbage: the page says one sentence, and works again once the service does. */
import { join } from 'node:path';
import type { ReadonlySignal, Signal } from '@preact/signals';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Turn } from '../../page/conversation-state.ts';

const page = join(import.meta.dirname, '../../page');
const load = async <T>(path: string): Promise<T> => (await import(/* @vite-ignore */ join(page, `${path}.ts`))) as T;

type Respond = () => Response;
const json =
  (value: unknown): Respond =>
  () =>
    Response.json(value);
const typed =
  (type: string, body: string): Respond =>
  () =>
    new Response(body, { headers: { 'Content-Type': type } });

const garbage: readonly (readonly [string, Respond])[] = [
  ['HTML', typed('text/html', '<html><script>alert(1)</script>')],
  ['JSON of another shape', json({ data: [{ id: 5 }], default: {}, startable: 'yes', available: null })],
  ['a list', json([])],
  ['null', json(null)],
  ['half of a JSON', typed('application/json', '{"data":[{"id":"a"')],
  ['JSON of another type', typed('text/plain', '{"data":[],"default":null}')],
  ['no body', () => new Response(null, { status: 204 })],
  ['an error that is no problem', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
  ['a problem without a code', () => Response.json({}, { status: 500, headers: { 'Content-Type': 'application/problem+json' } })], // prettier-ignore
];

/** What the service answers. */
let respond: (path: string) => Response;

const model = { id: 'm', name: 'Model', engine: 'e', local: true, available: true, code: 'available', reason: '', supports: [] }; // prettier-ignore
const healthy: Readonly<Record<string, unknown>> = {
  '/transcribe/models': { data: [model], default: 'm' },
  '/models': { data: [model], default: 'm' },
  '/tts/models': { data: [{ ...model, voices: [], default_voice: null }], default: 'm' },
  '/transcribe': { available: true, code: 'available', reason: '' },
  '/preparations': { data: [], memory_bytes: 1, startable: true, reason: '' },
};

beforeEach(() => {
  vi.resetModules();
  vi.useFakeTimers();
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  vi.stubGlobal('document', { addEventListener: vi.fn(), visibilityState: 'visible', baseURI: 'http://127.0.0.1/' });
  vi.stubGlobal('addEventListener', vi.fn());
  vi.stubGlobal(
    'Audio',
    class extends EventTarget {
      pause = vi.fn();
      load = vi.fn();
      removeAttribute = vi.fn();
    },
  );
  vi.stubGlobal('fetch', (request: Request) =>
    Promise.resolve(respond(new URL(request.url).pathname.replace('/api/v1', ''))),
  );
  respond = (path) => Response.json(healthy[path]);
});
afterEach(() => {
  expect(console.error).not.toHaveBeenCalled(); // which is for mistakes of the page
  vi.restoreAllMocks();
  vi.useRealTimers();
});

interface Listings {
  readonly listings: Signal<object | undefined>;
  readonly listingFailure: Signal<{ readonly text: string } | undefined>;
  refreshListings(): Promise<void>;
}
interface Preparations {
  readonly preparations: Signal<object | undefined>;
  refreshPreparations(): Promise<void>;
}
interface Runs {
  readonly turns: ReadonlySignal<readonly Turn[]>;
  ask(text: string): Promise<void>;
}

describe.each(garbage)('%s', (_what, answer) => {
  test.each(['/transcribe/models', '/models', '/tts/models', '/transcribe'])('from %s', async (place) => {
    const { listings, listingFailure, refreshListings } = await load<Listings>('listings');
    respond = (path) => (path === place ? answer() : Response.json(healthy[path]));
    await refreshListings();
    expect(listingFailure.value?.text).toMatch(/^Status \d{3} with .*: not a response of Parlance\.$/);
    expect(listings.value).toBeUndefined();
    respond = (path) => Response.json(healthy[path]);
    await vi.advanceTimersByTimeAsync(6_000);
    await vi.waitFor(() => expect(listings.value).toBeDefined(), { timeout: 30_000 });
    expect(listingFailure.value).toBeUndefined();
  });

  test('from /preparations: the last list stays', async () => {
    const { preparations, refreshPreparations } = await load<Preparations>('preparations');
    await refreshPreparations();
    const before = preparations.value;
    expect(before).toBeDefined();
    respond = () => answer();
    await refreshPreparations();
    expect(preparations.value).toBe(before);
  });
});

const started = 'data: {"type":"chat.started","seq":0}\n\n';
const streams: readonly (readonly [string, Respond])[] = [
  ...garbage,
  ['a stream that breaks off', typed('text/event-stream', `${started}data: {"type":"content.delta"`)],
  ['a stream without an end', typed('text/event-stream', started)],
  ['an event of another shape', typed('text/event-stream', `${started}data: {"type":"content.delta","seq":1,"delta":{}}\n\n`)], // prettier-ignore
  ['events out of order', typed('text/event-stream', 'data: {"type":"chat.started","seq":7}\n\n')],
  ['a stream of text', typed('text/event-stream', 'data: hello\n\n')],
];

test.each(streams)('an answer of %s has failed, and the next question is answered', async (_what, answer) => {
  const { turns, ask } = await load<Runs>('run');
  respond = () => answer();
  await ask('First');
  const [, failed] = turns.value;
  expect(failed).toMatchObject({ state: 'failed', failure: { text: expect.stringMatching(/^[^<{]+\.$/) as string } });
  const result = { content: 'Good.', model: 'm', finish_reason: 'stop', reasoning: null, usage: null };
  const end = `data: ${JSON.stringify({ type: 'chat.completed', seq: 1, result })}\n\n`;
  respond = () => typed('text/event-stream', started + end)();
  await ask('Second');
  expect(turns.value.at(-1)).toMatchObject({ state: 'done', result });
});
