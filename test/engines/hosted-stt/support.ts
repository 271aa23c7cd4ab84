/** A service whose only engine is hosted-stt, with a test provider behind it. */
import { onTestFinished } from 'vitest';
import { createApi, type Answer } from '../../support/http.ts';
import { answers, type Behavior } from '../../support/provider.ts';
import { toneWav } from '../../support/tone-model.ts';
import { openHosted as openService, type Hosted as HostedService, type HostedOptions } from '../providers/support.ts';

export { key } from '../providers/support.ts';

/** A recording that can be made without ffmpeg. */
export const recording = toneWav({ words: ['alpha', 'bravo'], rate: 16_000 });
/** Duration from its samples. */
export const recordingMs = Math.round((recording.length - 44) / 32);

export const fineAnswer = { text: 'alpha bravo', language: 'german', duration: 1.5 };

export interface Hosted extends HostedService {
  /** POSTs the recording and validates every response against the contract. */
  transcribe(fields?: Readonly<Record<string, string>>, bytes?: Uint8Array): Promise<Answer>;
  probe(model?: string): Promise<unknown>;
}

/** Disposed at the end of the test. */
export async function startHosted(
  behavior: Behavior = answers(200, fineAnswer),
  options?: HostedOptions,
): Promise<Hosted> {
  const hosted = await openHosted(options);
  onTestFinished(() => hosted[Symbol.asyncDispose]());
  hosted.provider.behave(behavior);
  return hosted;
}

/** The caller disposes of it. */
export async function openHosted(options?: HostedOptions): Promise<Hosted & AsyncDisposable> {
  const hosted = await openService('hosted-stt', options);
  return { ...hosted, ...callsOf(hosted.service) };
}

export function callsOf({ url }: { readonly url: string }): Pick<Hosted, 'transcribe' | 'probe'> {
  const api = createApi(url);
  return {
    transcribe: (fields = {}, bytes = recording) => {
      const body = new FormData();
      body.set('file', new File([new Uint8Array(bytes)], 'recording'));
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      return api.send('POST', '/api/v1/transcribe', { body });
    },
    probe: async (model) => {
      const query = model === undefined ? '' : `?model=${encodeURIComponent(model)}`;
      return (await api.get(`/api/v1/transcribe${query}`)).body;
    },
  };
}
