/** The service that serves this page. All addresses are relative to the page: it may be served below a sub-path. */
import { computed } from '@preact/signals';
import { createClient } from '../src/client/index.ts';
import { key } from './key.ts';

const base = new URL('.', document.baseURI);

export const client = computed(() =>
  createClient({ baseUrl: base, ...(key.value !== undefined && { apiKey: key.value }) }),
);

/** The `url` of an event starts at the origin and would miss the sub-path. */
export function clipUrl(id: string): string {
  return new URL(`api/v1/tts/clips/${encodeURIComponent(id)}`, base).href;
}

/** The URL of live transcription. */
export const realtimeUrl = new URL('v1/realtime?intent=transcription', base.href.replace(/^http/, 'ws')).href;
