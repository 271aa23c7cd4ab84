/** When the page tries live transcription, without a browser or service. */
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';

interface Module {
  readonly LiveDictation: { open(): { close(): void } | undefined };
}

/** The sockets that the page has opened. */
let sockets: { onclose: (() => void) | null }[] = [];

beforeEach(() => {
  vi.resetModules();
  vi.useFakeTimers();
  sockets = [];
  vi.doMock('../../page/listings.ts', () => ({ recordingFields: { value: {} } }));
  vi.doMock('../../page/service.ts', () => ({ realtimeUrl: 'ws://127.0.0.1/v1/realtime' }));
  vi.stubGlobal(
    'WebSocket',
    class {
      static readonly OPEN = 1;
      onclose: (() => void) | null = null;
      constructor() {
        sockets.push(this);
      }
      close() {
        // Closed by the page.
      }
    },
  );
  return () => vi.useRealTimers();
});

async function openPage() {
  const path = join(import.meta.dirname, '../../page/live-dictation.ts');
  const { LiveDictation } = (await import(/* @vite-ignore */ path)) as Module;
  const { key } = await import('../../page/key.ts');
  return { LiveDictation, key };
}

test('a socket that failed is not opened again for five minutes', async () => {
  const { LiveDictation } = await openPage();
  LiveDictation.open();
  sockets[0]!.onclose!();
  expect(LiveDictation.open()).toBeUndefined();
  vi.advanceTimersByTime(299_000);
  expect(LiveDictation.open()).toBeUndefined();
  vi.advanceTimersByTime(1_000);
  expect(LiveDictation.open()).toBeDefined();
  expect(sockets).toHaveLength(2);
});

test('another key is tried at once, and fails for itself', async () => {
  const { LiveDictation, key } = await openPage();
  LiveDictation.open();
  sockets[0]!.onclose!();
  key.value = 'second';
  expect(LiveDictation.open()).toBeDefined();
  sockets[1]!.onclose!();
  expect(LiveDictation.open()).toBeUndefined();
});

test('a dictation that the user ends is no failure', async () => {
  const { LiveDictation } = await openPage();
  LiveDictation.open()?.close();
  expect(LiveDictation.open()).toBeDefined();
});
