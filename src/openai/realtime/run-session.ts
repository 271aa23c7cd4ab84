/** Runs a session on a socket. This is the only place that performs the effects of the state machine. */
import { linkedSignal, onAbort, raceAbort, type LinkedSignal } from '../../../lib/abort.ts';
import { ignore } from '../../../lib/errors.ts';
import { createRateLimit } from '../../../lib/rate-limit.ts';
import { openaiContract } from '../../contract/document.ts';
import { checkSentEvent } from '../../contract/event-check.ts';
import { problemAnswer } from '../../contract/problems.ts';
import type { Connecting, SessionPlace, TextSocket } from '../../contract/session.ts';
import type { Services } from '../../handlers/dependencies.ts';
import { AnswerWait } from '../../realtime/answer-wait.ts';
import { isPlaying, levelOfAnswer, notPlaying } from '../../realtime/playing.ts';
import type { openSpeechSession, SpeechSession, TurnEvent } from '../../realtime/speech-session.ts';
import { answerScopes, type InAnswerScope } from '../../realtime/answer-scope.ts';
import { readClientEvent, type ReadEvent } from './client-events.ts';
import { sizeOf } from './conversation.ts';
import { failure } from './errors.ts';
import { toSpeechOptions } from './input-config.ts';
import type { Run } from './response-plan.ts';
import type { ResponseEvent, ResponsePart } from './response.ts';
import { warmUpResponse, runResponse } from './run-response.ts';
import type { ServerEvent } from './server-events.ts';
import { operationsOf, updateConfig, type SessionConfig } from './session-config.ts';
import { isIdle, next, type Effect, type SessionEvent, type SessionState } from './session.ts';

export interface SessionOptions extends Connecting {
  readonly place: SessionPlace;
  readonly services: Services;
  readonly openSpeechSession: typeof openSpeechSession;
  /** Milliseconds until the session expires. */
  readonly lifeMs: number;
}

/** Rate limit for client events other than audio. Events beyond it are delayed. */
const eventRate = { burst: 200, perSecond: 100 };
/**
 * A longer message counts as several events. For an append, only the part that is not audio counts. An event that reads
 * the conversation counts as if it contained it.
 */
const eventLength = 16_384;
const readers: ReadonlySet<string> = new Set(['response.create', 'conversation.item.retrieve']);
/**
 * Rate limit for appends, as if each contained 10 ms. Audio has its own rate limit, but appends with almost no audio
 * also cost work.
 */
const appendRate = { burst: 6_000, perSecond: 2_000 };
/** No more events are read from a client that has this many unread bytes. */
const maxUnsentBytes = 2 * 1024 * 1024;
/** An answer waits for a client that has this many unread bytes. Its events are still read, so that it can interrupt. */
const maxUnsentSound = 512 * 1024;

export class Session {
  readonly #socket: TextSocket;
  readonly #options: SessionOptions;
  readonly #waitForEvents = createRateLimit(eventRate);
  readonly #waitForAppends = createRateLimit(appendRate);
  #state: SessionState;
  readonly #wait = new AnswerWait();
  #speech: SpeechSession | undefined;
  #events = 0;
  readonly #inScope: InAnswerScope;
  /** The responses that are being made. */
  readonly #runs = new Map<string, { readonly life: LinkedSignal; readonly release: () => void }>();
  #warming: LinkedSignal | undefined;
  readonly #work = new Set<Promise<void>>();

  constructor(socket: TextSocket, opening: SessionState, options: SessionOptions) {
    this.#socket = socket;
    this.#state = opening;
    this.#options = options;
    this.#inScope = answerScopes(options.services);
  }

  /** Resolves when the socket has closed and all work of the session has ended. */
  async run(): Promise<void> {
    const { session, lifeMs, place } = this.#options;
    const expiry = setTimeout(() => void this.#apply({ type: 'expired' }), lifeMs);
    try {
      await this.#apply({ type: 'opened', isConfigured: session !== undefined });
      using _closing = { [Symbol.dispose]: onAbort(place.closing, () => void this.#apply({ type: 'draining' })) };
      using _concluding = {
        [Symbol.dispose]: onAbort(place.concluding, () => void this.#apply({ type: 'concluding' })),
      };
      for await (const { text } of this.#socket.messages) {
        const read = readClientEvent(text, this.#state.config.type);
        await this.#waitForRate(read, text).catch(ignore);
        await this.#apply(read);
        await this.#socket.drained(maxUnsentBytes);
      }
    } finally {
      clearTimeout(expiry);
      await Promise.all([this.#speech?.end(), ...this.#work]);
    }
  }

  async #waitForRate(read: ReadEvent, text = ''): Promise<void> {
    const { signal } = this.#socket;
    const sound = read.type === 'received' && read.event.type === 'input_audio_buffer.append' ? read.event.sound : null;
    if (sound) await this.#waitForAppends(1, signal);
    const isReader = read.type === 'received' && readers.has(read.event.type);
    const conversation = isReader ? sizeOf(this.#state.talk.conversation) : 0;
    const besideSound = text.length - (sound ? toBase64Length(sound) : 0) + conversation;
    const events = sound ? Math.floor(besideSound / eventLength) : Math.ceil(besideSound / eventLength);
    if (events > 0) await this.#waitForEvents(events, signal);
  }

  #report(state: SessionState): void {
    const { config } = state;
    const { id } = config.type === 'realtime' ? config.models.chat : config.input.model;
    this.#options.place.report({ isIdle: isIdle(state), model: id, operations: operationsOf[config.type] });
  }

  /** Never rejects. */
  async #apply(event: SessionEvent): Promise<void> {
    try {
      const { state, effects } = next(this.#state, event, performance.now());
      this.#state = state;
      this.#report(state);
      for (const effect of effects) {
        const work = this.#perform(effect);
        if (work) await work; // consecutive events are sent without anything in between
      }
    } catch (error) {
      if (this.#socket.signal.aborted) return; // the work of the session was aborted as well
      this.#log(error, 'a live session failed');
      if (event.type === 'failed' || this.#state.isOver) return this.#socket.close(1011);
      await this.#apply({ type: 'failed', error });
    }
  }

  #perform(effect: Effect): Promise<void> | undefined {
    switch (effect.type) {
      case 'send':
        return this.#send(effect.event);
      case 'open':
        return this.#open(effect.config);
      case 'configure':
        return this.#configure(effect.config);
      case 'update':
        return this.#apply(this.#updated(effect));
      case 'run':
      case 'prepare':
        return this.#run(effect);
      case 'warm-up':
        return this.#warmUp(effect.run);
      case 'release':
        this.#wait.begin(effect.response);
        return this.#runs.get(effect.response)?.release() as undefined;
      case 'stop':
        return this.#runs.get(effect.response)?.life.end(new Error('the response was canceled')) as undefined;
      case 'append':
        return this.#speech?.append(effect.sound, effect.eventId);
      case 'commit':
        return this.#speech?.commit(effect.eventId);
      case 'transcribe':
        return this.#speech?.transcribe(effect.item, effect.sound);
      case 'clear':
        return this.#speech?.clear();
      case 'close':
        return this.#socket.close(effect.code, effect.reason) as undefined;
    }
  }

  #send(event: ServerEvent): undefined {
    this.#events += 1;
    if (event.type === 'response.created') this.#options.place.responseBegan();
    const numbered = { event_id: `event_${String(this.#events)}`, ...event };
    if (this.#options.checkAnswers) checkSentEvent(openaiContract, unions[this.#state.config.type], numbered);
    this.#socket.send(JSON.stringify(numbered));
  }

  async #open({ input }: SessionConfig): Promise<void> {
    if (!input) return;
    const { openSpeechSession: open, services } = this.#options;
    const emit = (event: TurnEvent) => this.#followTurn(event);
    const answerDb = () => levelOfAnswer(this.#state.talk.playing, performance.now());
    this.#speech = await open(toSpeechOptions(input), { ...services, answerDb }, emit, this.#socket.signal);
  }

  #configure({ input }: SessionConfig): undefined {
    if (input) this.#speech?.configure(toSpeechOptions(input));
  }

  #followTurn(event: TurnEvent): void {
    const now = performance.now();
    this.#wait.follow(event, now);
    if (event.type === 'early' && !this.#wait.isShort) return;
    if (event.type === 'started' && this.#isInterruptible(now)) this.#options.place.answerInterrupted();
    if (event.type === 'failed') this.#log(event.error, 'a turn could not be transcribed');
    if (event.type === 'completed' || event.type === 'failed') {
      this.#options.place.turnEnded(event.type === 'completed' ? event.seconds * 1000 : 0);
    }
    void this.#apply({ type: 'turn', event });
  }

  #isInterruptible(now: number): boolean {
    const { config, talk } = this.#state;
    return config.type === 'realtime' && config.interruptsResponse && isPlaying(talk.spoken ?? notPlaying, now);
  }

  /** Runs a response in the background. */
  #run({ type, response, run }: Extract<Effect, { type: 'run' | 'prepare' }>): undefined {
    const { id, log, place, services } = this.#options;
    const life = linkedSignal(this.#socket.signal);
    const { signal } = life;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const release = type === 'prepare' ? raceAbort(promise, signal) : undefined;
    const made = { life, release: () => resolve(undefined) };
    this.#runs.set(response, made);
    if (type === 'run') this.#wait.begin(response);
    const emit = async (event: ResponseEvent) => {
      if (event.type === 'broken') this.#log(event.error, 'a response failed');
      await this.#apply({ ...event, response });
      if (event.type === 'part' && event.part.type === 'sound') place.spoke(event.part.ms);
      if (event.type === 'part') this.#measureWait(response, event.part);
      await this.#socket.drained(maxUnsentSound);
    };
    const work = runResponse({ id, run, log, services, inScope: this.#inScope, signal, release }, emit);
    this.#work.add(work);
    void work.finally(() => {
      life[Symbol.dispose]();
      this.#work.delete(work);
      if (this.#runs.get(response) === made) this.#runs.delete(response); // otherwise, it runs again
    });
  }

  /** Ends the previous warm-up. Nothing waits for a warm-up. */
  #warmUp(run: Run): undefined {
    const { id, services } = this.#options;
    this.#warming?.end(new Error('another warm-up has begun'));
    this.#warming = linkedSignal(this.#socket.signal);
    void warmUpResponse({ id, run, services, signal: this.#warming.signal });
  }

  #measureWait(response: string, { type }: ResponsePart): void {
    if (type !== 'sound' && type !== 'text') return;
    const waitMs = this.#wait.part(response, performance.now());
    if (waitMs && type === 'sound') this.#options.services.metrics?.answerBegan(waitMs);
  }

  #updated({ session, eventId }: Extract<Effect, { type: 'update' }>): SessionEvent {
    try {
      return { type: 'updated', config: updateConfig(this.#state.config, session, this.#options.services) };
    } catch (error) {
      return { type: 'refused', error: failure(error), eventId };
    }
  }

  #log(error: unknown, message: string): void {
    const { status, body } = problemAnswer(error, '');
    const { id, log } = this.#options;
    log[status >= 500 ? 'error' : 'debug']({ id, code: body.code, err: error }, message);
  }
}

/** The schema of the events that a session of the type sends. */
const unions = { transcription: 'RealtimeTranscriptionServerEvent', realtime: 'RealtimeServerEvent' } as const;

const toBase64Length = ({ length }: Uint8Array): number => Math.ceil((length * 4) / 3);
