/** A session without network and engines: a socket in memory, and a speech session that the test controls. */
import { afterEach, expect } from 'vitest';
import type { Feature, Logger } from '../../../engines/contract/index.ts';
import { onAbort } from '../../../lib/abort.ts';
import type { TextSocket } from '../../../src/contract/session.ts';
import type { Services } from '../../../src/handlers/dependencies.ts';
import { Session, type SessionOptions } from '../../../src/openai/realtime/run-session.ts';
import { openConfig, type SessionConfig } from '../../../src/openai/realtime/session-config.ts';
import { beginSession } from '../../../src/openai/realtime/session.ts';
import type { SpeechOptions, SpeechSession, TurnEvent } from '../../../src/realtime/speech-session.ts';
import { breachesOf, type WireEvent } from '../../support/realtime-laws.ts';

type Message = { readonly text: string | undefined };

/** The client's side has `say`, `events` and `leave`. */
export class MemorySocket implements TextSocket {
  readonly events: WireEvent[] = [];
  readonly sentIds: string[] = [];
  closed: { readonly code: number; readonly reason: string | undefined } | undefined;
  readonly #gone = new AbortController();
  readonly #queue: Message[] = [];
  /** Resumes the reader of the messages. */
  #wake: (nothing: undefined) => void = () => undefined;

  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  get messages(): AsyncIterable<Message> {
    return this.#read();
  }

  send(text: string): void {
    if (!this.signal.aborted) this.events.push(JSON.parse(text) as WireEvent);
  }

  /** Whether the client reads what is sent. */
  isRead = true;

  /** A client that does not read has more unread than an answer may have, but less than the session. */
  drained(maxUnsent: number): Promise<void> {
    if (this.isRead || maxUnsent > 1_000_000) return Promise.resolve();
    return new Promise((resolve) => onAbort(this.signal, () => resolve()));
  }

  close(code: number, reason?: string): void {
    if (this.signal.aborted) return;
    this.closed = { code, reason };
    this.#end();
  }

  say(message: object | string | undefined): void {
    const { event_id: id } = (typeof message === 'object' ? message : {}) as { readonly event_id?: unknown };
    if (typeof id === 'string') this.sentIds.push(id);
    this.#queue.push({ text: typeof message === 'object' ? JSON.stringify(message) : message });
    this.#wake(undefined);
  }

  leave(): void {
    this.#end();
  }

  #end(): void {
    this.#gone.abort(new Error('the socket has closed'));
    this.#wake(undefined);
  }

  async *#read(): AsyncGenerator<Message> {
    while (!this.#isOver()) {
      const message = this.#queue.shift();
      if (message) yield message;
      else await new Promise<undefined>((resolve) => (this.#wake = resolve));
    }
  }

  #isOver(): boolean {
    return this.signal.aborted;
  }
}

export class ScriptedSpeech implements SpeechSession {
  readonly calls: (readonly [name: string, value?: unknown])[] = [];
  /** The next results; by default everything is accepted. */
  readonly appends: boolean[] = [];
  readonly commits: boolean[] = [];
  emit: (event: TurnEvent) => void = () => undefined;
  fails: Error | undefined;

  configure(options: SpeechOptions): void {
    this.calls.push(['configure', options]);
  }

  append(sound: Uint8Array, cause: string | null = null): Promise<void> {
    this.calls.push(['append', Buffer.from(sound).toString()]);
    if (this.fails) return Promise.reject(this.fails);
    if (this.appends.shift() === false) this.emit({ type: 'full', cause });
    return Promise.resolve();
  }

  commit(cause: string | null = null): Promise<void> {
    this.calls.push(['commit']);
    if (this.commits.shift() === false) this.emit({ type: 'nothing', cause });
    return Promise.resolve();
  }

  transcribe(id: string, sound: Uint8Array): Promise<void> {
    this.calls.push(['transcribe', [id, Buffer.from(sound).toString()]]);
    return Promise.resolve();
  }

  clear(): Promise<void> {
    this.calls.push(['clear']);
    return Promise.resolve();
  }

  end(): Promise<void> {
    this.calls.push(['end']);
    return Promise.resolve();
  }
}

interface FakeModel {
  readonly id: string;
  readonly supports?: readonly Feature[];
  readonly isBroken?: boolean;
}

const models: readonly FakeModel[] = [
  { id: 'plain' },
  { id: 'full', supports: ['prompt', 'keywords', 'languages'] },
  { id: 'prompts', supports: ['prompt'] },
  { id: 'broken', isBroken: true },
];

const chatModels: readonly FakeModel[] = [
  { id: 'talker', supports: ['tools', 'json'] },
  { id: 'simple' },
  { id: 'tired', isBroken: true },
];

const voices = [{ id: 'anna', name: 'Anna', language: 'de' }];

const serve = (list: readonly FakeModel[], more: object = {}, engine: object = {}) =>
  list.map(({ id, supports = [], isBroken = false }) => {
    const availability = { available: !isBroken, code: isBroken ? 'engine-failed' : 'ready', reason: 'It is so.' };
    return {
      id,
      engineId: id,
      entry: { id, local: true, supports, ...more },
      instance: 'ears',
      engine,
      availability,
    };
  });

/** The first model of each list is the default. */
export function servicesWith(
  list: readonly FakeModel[] = models,
  { chat = chatModels, speech = [] as readonly FakeModel[], engine = {} } = {},
): Services {
  const served: Record<string, ReturnType<typeof serve>> = {
    transcription: serve(list),
    chat: serve(chat, {}, engine),
    speech: serve(speech, { voices }, engine),
  };
  const of = (capability: string) => {
    const all = served[capability] ?? [];
    const find = (id: string) => all.find((model) => model.id === id);
    return { all, find, default: all[0], candidates: all, instances: ['ears'], failures: [] };
  };
  const services = {
    registry: { of },
    compatAliases: new Map([['mine', 'full']]),
    transcribeEnabled: true,
    allowTurn: () => Promise.resolve(),
    requireBudget: () => Promise.resolve(undefined),
  };
  return services as unknown as Services;
}

export interface OpenSession {
  readonly socket: MemorySocket;
  readonly speech: ScriptedSpeech;
  readonly draining: AbortController;
  readonly concluding: AbortController;
  readonly logged: (readonly [level: string, message: string])[];
  readonly turns: number[];
  /** The counts that the session reports for its log line. */
  readonly counted: { responses: number };
  /** What the session has said of itself. */
  readonly idle: readonly boolean[];
  readonly ended: Promise<void>;
  /** Sends messages, and returns the events that have come since, once they have been handled. */
  exchange(...messages: readonly (object | string | undefined)[]): Promise<readonly WireEvent[]>;
}

const opened: OpenSession[] = [];

/** Ends every session of the test and holds it against the laws. */
export function checkSessions(): void {
  afterEach(async () => {
    for (const { socket, ended } of opened.splice(0)) {
      socket.leave();
      await ended;
      expect(breachesOf(socket.events, { isWhole: false, sentIds: socket.sentIds })).toEqual([]);
    }
  });
}

export function openSession(options: Partial<SessionOptions> = {}, config?: SessionConfig): OpenSession {
  const socket = new MemorySocket();
  const speech = new ScriptedSpeech();
  const [draining, concluding] = [new AbortController(), new AbortController()];
  const idle: boolean[] = [];
  const logged: (readonly [string, string])[] = [];
  const turns: number[] = [];
  const counted = { responses: 0 };
  const interruptions: number[] = [];
  const services = servicesWith();
  const write = (level: string) => (_facts: object, message: string) => void logged.push([level, message]);
  const log = Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) => [level, write(level)]));
  const opening = beginSession({ id: 'sess_1', expires_at: 1_800_000_000 }, config ?? openConfig(services, undefined));
  const ended = new Session(socket, opening, {
    id: 'request-1',
    query: {},
    session: undefined,
    place: {
      closing: draining.signal,
      concluding: concluding.signal,
      report: ({ isIdle }) => void idle.push(isIdle),
      turnEnded: (ms) => void turns.push(ms),
      responseBegan: () => void (counted.responses += 1),
      spoke: () => undefined,
      answerInterrupted: () => void interruptions.push(turns.length),
    },
    log: log as unknown as Logger,
    checkAnswers: true,
    services,
    openSpeechSession: (_options, _services, emit) => {
      speech.emit = emit;
      return Promise.resolve(speech);
    },
    lifeMs: 3_600_000,
    ...options,
  }).run();
  let read = 0;
  const session: OpenSession = {
    ...{ socket, speech, draining, concluding, logged, turns, counted, idle, ended },
    async exchange(...messages) {
      messages.forEach((message) => socket.say(message));
      for (let turn = 0; turn < settlingTurns; turn += 1) await new Promise(setImmediate);
      const events = socket.events.slice(read);
      read = socket.events.length;
      return events;
    },
  };
  opened.push(session);
  return session;
}

/** Nothing here waits for anything but promises, so that a few turns of the event loop settle all. */
const settlingTurns = 20;

export const update = (input: object, more: object = {}) => ({
  type: 'session.update',
  session: { type: 'transcription', audio: { input } },
  ...more,
});

export const append = (text: string, more: object = {}) => ({
  type: 'input_audio_buffer.append',
  audio: Buffer.from(text).toString('base64'),
  ...more,
});

export const commit = { type: 'input_audio_buffer.commit' };
export const clear = { type: 'input_audio_buffer.clear' };
