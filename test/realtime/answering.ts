/** An answer with a chat and a voice of the test's own. */
import { onTestFinished } from 'vitest';
import type { AgentEvent, ChatResult, Logger, SpeechCall, Tool, Voice } from '../../engines/contract/index.ts';
import type { Registry } from '../../src/engine-host/registry/registry.ts';
import { answer, type AnswerPart, type SpeechPlan } from '../../src/realtime/answer.ts';
import { createSpeechModelSelector } from '../../src/speech/speech-models.ts';

type Chat = (signal: AbortSignal, tools: readonly Tool[]) => AsyncIterable<AgentEvent>;
type Speak = (call: SpeechCall, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;

export interface Stage {
  readonly chat?: Chat;
  readonly speak?: Speak;
  /** Of the sound of the voice. */
  readonly mediaType?: string;
  readonly voices?: readonly Voice[];
  /** null if the answer is text. */
  readonly speech?: Partial<SpeechPlan> | null;
  readonly toolsFor?: () => Promise<readonly Tool[]>;
  readonly signal?: AbortSignal;
  readonly released?: Promise<unknown>;
  readonly limits?: { readonly firstBytesMs: number; readonly silenceMs: number };
}

/** Milliseconds of sound for each character. */
export const msPerCharacter = 10;

export const soundOfText = (text: string) => new Uint8Array(48 * msPerCharacter * text.length).fill(1);

export async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** A promise that never settles. */
export const never = <T>() => new Promise<T>(() => undefined);

/** The events of a chat of one step with these deltas. */
export async function* written(
  deltas: readonly string[],
  result: Partial<ChatResult> = {},
): AsyncGenerator<AgentEvent> {
  yield await Promise.resolve({ type: 'step-started', step: 0 } as const);
  for (const delta of deltas) yield { type: 'content-delta', step: 0, delta };
  yield { type: 'completed', result: { content: deltas.join(''), finishReason: 'stop', reasoning: null, usage: null, ...result } }; // prettier-ignore
}

export async function* chunksOf(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk);
}

/** Unless the stage says otherwise, the chat says nothing, and the voice speaks the text at once. */
export function begin({
  chat = () => written([]),
  speak = ({ text }) => Promise.resolve(chunksOf(soundOfText(text))),
  mediaType = 'audio/pcm',
  voices,
  speech = {},
  toolsFor = () => Promise.resolve([]),
  signal = new AbortController().signal,
  released,
  limits,
}: Stage) {
  const seen = {
    calls: [] as SpeechCall[],
    signals: [] as AbortSignal[],
    chatSignal: undefined as AbortSignal | undefined,
  };
  const model = (engine: object) => ({
    ...{ id: 'one', engineId: 'one', entry: { id: 'one', local: true, voices }, instance: 'one', engine },
    availability: { available: true, code: 'ready', reason: 'Ready.' },
  });
  const models = {
    chat: model({
      complete: (_call: object, options: { signal: AbortSignal; tools: readonly Tool[] }) => {
        seen.chatSignal = options.signal;
        return chat(options.signal, options.tools);
      },
    }),
    speech: model({
      async synthesize(call: SpeechCall, { signal: ended }: { signal: AbortSignal }) {
        seen.calls.push(call);
        seen.signals.push(ended);
        return { mediaType, audio: await speak(call, ended) };
      },
    }),
  };
  const registry = {
    of: (capability: keyof typeof models) => {
      const one = models[capability];
      return { all: [one], find: () => one, default: one, failures: [], isNamed: false, knowsAll: true };
    },
  } as unknown as Registry;
  const encode = () => {
    throw new Error('nothing is encoded');
  };
  const speakers = createSpeechModelSelector({ registry, defaultVoice: undefined, encode, ...(limits && { limits }) });
  const ignoring = () => undefined;
  const log: Logger = { debug: ignoring, info: ignoring, warn: ignoring, error: ignoring };
  const tools = { toolsFor, [Symbol.asyncDispose]: () => Promise.resolve() };
  const selection = { model: null, voice: null, pointers: { model: '/model', voice: '/voice' } };
  const plan = {
    id: 'an-id',
    chat: { model: models.chat as never, call: { messages: [{ role: 'user', content: 'Hello' }] } as const, tools: {} },
    speech: speech && { selection, encoding: 'pcm' as const, ...speech },
    released,
  };
  const parts = answer(plan, { registry, tools, speakers, log }, signal);
  onTestFinished(async () => {
    await parts.return?.();
  });
  return { parts, seen };
}

/** Shortens the parts: `piece Hello.`, `sound 60`, `spoken`. Consecutive sounds are one. */
export function told(parts: readonly AnswerPart[]): string[] {
  const lines: string[] = [];
  let ms = 0;
  for (const part of parts) {
    if (part.type === 'sound') {
      ms += part.ms;
      continue;
    }
    if (ms > 0) lines.push(`sound ${ms}`);
    ms = 0;
    const facts = part as { text?: string; finishReason?: string; calls?: readonly { name: string }[] };
    const rest = facts.text ?? facts.finishReason ?? facts.calls?.map(({ name }) => name).join(' ');
    lines.push(rest === undefined ? part.type : `${part.type} ${rest}`);
  }
  return lines;
}
