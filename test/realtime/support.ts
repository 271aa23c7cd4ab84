/** A speech session, with an engine of the test's own. */
import { readdir } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import type { ModelEntry, TranscriptionEngine } from '../../engines/contract/index.ts';
import { Registry } from '../../src/engine-host/registry/registry.ts';
import type { ServedModel } from '../../src/engine-host/models/served-models.ts';
import {
  openSpeechSession,
  type TurnEvent,
  type SpeechOptions,
  type SpeechServices,
} from '../../src/realtime/speech-session.ts';
import { runInScope, type RequestScope } from '../../src/request-scope.ts';
import { createWorkspace } from '../../src/system/workspace.ts';
import { temporaryDirectory } from '../support/temporary.ts';

export type Engine = Partial<TranscriptionEngine> & { readonly entry?: Partial<ModelEntry> };

export const usual: SpeechOptions = {
  format: { encoding: 'pcm', rate: 24_000 },
  detection: { threshold: 0.5, prefixMs: 300, silenceMs: 500 },
  hints: {},
};

export const byHand: SpeechOptions = { ...usual, detection: null };

export type EventOfTurn = Extract<TurnEvent, { turn: string }>;

export interface OpenOptions {
  readonly options?: SpeechOptions;
  readonly scope?: RequestScope;
  readonly services?: Partial<SpeechServices>;
  readonly diskBytes?: number;
  /** Whether the session gets no options before its sound. */
  readonly isNew?: boolean;
  readonly session?: AbortController;
}

export type OpenedSpeech = Awaited<ReturnType<typeof openSpeech>>['speech'];

/** Unless the engine says otherwise, it is remote, and the transcript of each turn is its length in milliseconds. */
export async function openSpeech(
  engine: Engine | Registry = {},
  {
    options = usual,
    scope = { caller: 'a' },
    services,
    diskBytes,
    isNew = false,
    session = new AbortController(),
  }: OpenOptions = {},
) {
  const workspace = await createWorkspace(await temporaryDirectory(), diskBytes);
  onTestFinished(() => workspace[Symbol.dispose]());
  const events: EventOfTurn[] = [];
  let refusals = 0;
  const waiting: { isThere: () => boolean; resolve: () => void }[] = [];
  const emit = (event: TurnEvent) => {
    if ('turn' in event) events.push(event);
    else refusals += 1;
    for (const { isThere, resolve } of waiting) if (isThere()) resolve();
  };
  const all = {
    workspace,
    registry: engine instanceof Registry ? engine : registryOf(engine),
    transcribeTimeout: 60,
    soundRate: { burst: Infinity, perSecond: 1 },
    ...services,
  };
  const opened = await runInScope(scope, () => openSpeechSession(options, all, emit, session.signal));
  onTestFinished(() => opened.end());
  if (!isNew) opened.configure(options);
  const isTaken = async (call: Promise<void>) => {
    const before = refusals;
    await call;
    return refusals === before;
  };
  const speech = {
    /** Resolves with false for a call that was refused. */
    append: (sound: Uint8Array) => isTaken(opened.append(sound)),
    commit: () => isTaken(opened.commit()),
    configure: (changed: SpeechOptions) => opened.configure(changed),
    transcribe: (id: string, bytes: Uint8Array) => opened.transcribe(id, bytes),
    clear: () => opened.clear(),
    end: () => opened.end(),
  };
  const until = (isThere: () => boolean) =>
    new Promise<void>((resolve) => {
      waiting.push({ isThere, resolve });
      if (isThere()) resolve();
    });
  return {
    speech,
    events,
    session,
    workspace,
    /** Until so many turns are over. */
    ended: (count: number) =>
      until(() => events.filter(({ type }) => type === 'completed' || type === 'failed').length >= count),
    /** In bytes. 0 once nothing is running: a file is gone a moment before its work is over. */
    diskUse: () => workspace.disk.used,
    files: async () => (await readdir(workspace.path, { recursive: true })).filter((name) => name.endsWith('.wav')),
  };
}

/** The events without their ids: `1 started 700`, `1 completed 2500`. Turns are numbered as they begin. */
export function told(events: readonly EventOfTurn[]): string[] {
  const turns = [...new Set(events.map(({ turn }) => turn))];
  return events.map((event) => {
    const facts = event as { ms?: number; text?: string; transcript?: string };
    return [turns.indexOf(event.turn) + 1, event.type, facts.ms ?? facts.text ?? facts.transcript].filter((part) => part !== undefined).join(' '); // prettier-ignore
  });
}

export function registryOf({ entry, ...engine }: Engine): Registry {
  const whole = {
    transcribe: ({ recording }: { recording: { slice?: { endMs: number } } }) =>
      Promise.resolve({ text: String(recording.slice?.endMs), language: 'en' }),
    ...engine,
  } as unknown as TranscriptionEngine;
  const model: ServedModel<'transcription'> = {
    id: 'ears',
    engineId: 'ears',
    entry: { id: 'ears', local: false, ...entry },
    instance: 'ears',
    engine: whole,
    availability: { available: true, code: 'ready', reason: 'Ready.' },
  };
  const find = (id: string) => (id === model.id ? model : undefined);
  const served = { all: [model], find, default: model, failures: [], instances: ['ears'] };
  return { of: () => served } as unknown as Registry;
}

/** Parts of sound in 16-bit samples: a tone of this level for a voice, faint noise for a room. */
export function sound(rate: number, ...parts: readonly (readonly [db: number, ms: number])[]): Buffer {
  const total = parts.reduce((sum, [, ms]) => sum + (rate * ms) / 1000, 0);
  const samples = new Int16Array(total);
  let at = 0;
  for (const [db, ms] of parts) {
    const peak = 32_767 * Math.SQRT2 * 10 ** (db / 20);
    for (const end = at + (rate * ms) / 1000; at < end; at++)
      samples[at] = peak * Math.sin((2 * Math.PI * 440 * at) / rate);
  }
  return Buffer.from(samples.buffer);
}

export const [quiet, voice] = [-60, -15];
