/** Hears a session: its sound goes in, its turns and their transcripts come out. It knows no protocol. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Recording, Span, TranscriptionEngine } from '../../engines/contract/index.ts';
import { linkedSignal, startTimeout, type LinkedSignal } from '../../lib/abort.ts';
import { ignore } from '../../lib/errors.ts';
import { nextTurn } from '../../lib/event-loop.ts';
import { createRateLimit, type Rate } from '../../lib/rate-limit.ts';
import type { ServedModel } from '../engine-host/models/served-models.ts';
import { currentScope, runInScope, type RequestScope } from '../request-scope.ts';
import type { AccountedDirectory, Workspace } from '../system/workspace.ts';
import {
  chooseTranscriptionModel,
  warmUp,
  type TranscriptionRequest,
  type TranscriptionServices,
} from '../transcription/run.ts';
import { FrameCutter, type Frame, type SoundFormat } from './frames.ts';
import { RecentSound } from './recent-sound.ts';
import {
  newTurnState,
  next,
  windowMs,
  type TurnDetection,
  type TurnEffect,
  type TurnEvent,
  type TurnState,
} from './turn-detector.ts';
import { TurnRecording } from './turn-recording.ts';
import { lastRunMs, startTurnRun, type TurnRun } from './turn-run.ts';

export type { SoundFormat, TurnDetection };

/** `model` is the id of an entry, by default the default model. The others are hints that the model supports. */
export type Hints = { readonly model?: string | undefined } & Pick<
  TranscriptionRequest,
  'language' | 'languages' | 'prompt' | 'keywords'
>;

export interface HearingOptions {
  readonly format: SoundFormat;
  /** null: the client commits the turns. */
  readonly detection: TurnDetection | null;
  readonly hints: Hints;
}

export interface HearingServices extends TranscriptionServices {
  readonly workspace: Pick<Workspace, 'accountedDirectory'>;
  /** Counts a turn. Throws `rate-limited` or `quota-exceeded` if a limit of the current API key permits no further one. */
  readonly allowTurn?: (() => Promise<void>) | undefined;
  /** Throws `quota-exceeded` if the current API key has used up its budget of audio. */
  readonly requireAudioBudget?: (() => Promise<void>) | undefined;
  /** In milliseconds of sound. Sound beyond it waits. */
  readonly soundRate?: Rate | undefined;
}

/** Times are milliseconds of sound since the start of the session. */
export type HeardEvent = { readonly turn: string } & (
  | { readonly type: 'started' | 'stopped'; readonly ms: number }
  /** `voice`: the first one in a turn that the client commits. `forgotten`: the turn has no further events. */
  | { readonly type: 'voice' | 'committed' | 'forgotten' }
  | { readonly type: 'delta'; readonly text: string }
  | Completed
  | { readonly type: 'failed'; readonly error: unknown }
);

interface Completed {
  readonly type: 'completed';
  readonly transcript: string;
  readonly seconds: number;
  readonly languages?: readonly string[];
}

/** Calls take effect one after the other. After the end they do nothing. */
export interface Hearing {
  /** For the sound that follows; the first call also for all sound that has arrived in the last second. */
  configure(options: HearingOptions): void;
  /**
   * Resolves when the bytes have been judged and, inside a turn, written. Resolves with false for the first bytes that
   * exceed the longest turn of a client that commits.
   */
  append(sound: Uint8Array): Promise<boolean>;
  /** Resolves with false if there are less than 100 ms to commit. */
  commit(): Promise<boolean>;
  clear(): void;
  /** Ends all work. Resolves when every transcription has ended and the files are gone. */
  end(): Promise<void>;
}

/** Throws `storage-full`. The signal aborts all work; the caller must still call `end`. */
export async function openHearing(
  options: HearingOptions,
  services: HearingServices,
  emit: (event: HeardEvent) => void,
  signal: AbortSignal,
): Promise<Hearing> {
  const directory = await services.workspace.accountedDirectory('realtime');
  const models = services.registry.of('transcription').all;
  const detector = models.map(({ engine }) => engine).find((engine) => 'findSpeech' in engine);
  return new LiveHearing(options, { ...services, directory, detector, emit }, signal);
}

interface Parts extends HearingServices {
  readonly directory: AccountedDirectory;
  readonly detector: Pick<TranscriptionEngine, 'findSpeech'> | undefined;
  readonly emit: (event: HeardEvent) => void;
}

interface OpenTurn {
  readonly id: string;
  readonly recording: TurnRecording;
  /** A transcription of the turn so far, as long as nothing more has been said. */
  early?: EarlyRun | undefined;
  /** Sound of early transcriptions that were discarded. */
  discardedMs: number;
  /** What of it has been charged. */
  chargedMs: number;
}

interface EarlyRun {
  readonly run: TurnRun;
  /** Sound that it transcribes. */
  readonly ms: number;
}

/** A model whose last transcription took longer does not begin before the end of a turn. */
const maxEarlyMs = 800;
/** While this many transcriptions are running, further sound waits. */
const maxRunning = 16;
/** If the detector takes longer to answer, the level decides. */
const maxAnswerMs = 300;
/** A turn ends when no sound arrives for this time after the silence that ends a turn. */
const stallMs = 1_000;
/** Sound that arrives before the first options waits for them. */
const held = { ms: 1_000, bytes: 1_048_576 } as const;
/** A minute at once, then 20 times as fast as it is spoken. */
const defaultSoundRate: Rate = { burst: 60_000, perSecond: 20_000 };
/** Sound that is handled before other work has its turn: half a millisecond of processor time. */
const pieceMs = 1_000;

/** Performs the effects of the turn detector. */
class LiveHearing implements Hearing {
  readonly #parts: Parts;
  readonly #scope: RequestScope = currentScope() ?? { caller: '' };
  /** Aborts all work. */
  readonly #life: LinkedSignal;
  readonly #recent = new RecentSound();
  readonly #running = new Set<Promise<void>>();
  readonly #waitForRate: ReturnType<typeof createRateLimit>;
  #options: HearingOptions;
  #cutter: FrameCutter;
  #state: TurnState;
  #turn: OpenTurn | undefined;
  #files = 0;
  #held: Uint8Array[] | undefined = [];
  #holding: NodeJS.Timeout | undefined;
  #stalling: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #ended: Promise<void> | undefined;
  /** The model that sound has loaded since the last commit. */
  #warmedUp: string | undefined;

  constructor(options: HearingOptions, parts: Parts, signal: AbortSignal) {
    this.#parts = parts;
    this.#options = options;
    this.#cutter = new FrameCutter(options.format);
    this.#state = newTurnState(options.detection, { hasDetector: parts.detector !== undefined });
    this.#life = linkedSignal(signal);
    this.#waitForRate = createRateLimit(parts.soundRate ?? defaultSoundRate);
  }

  configure(options: HearingOptions): void {
    void this.#inOrder(async () => {
      const { format, hints } = this.#options;
      this.#options = options;
      if (!isDeepStrictEqual(format, options.format)) this.#cutter = new FrameCutter(options.format);
      if (this.#turn && !isDeepStrictEqual(hints, options.hints)) this.#discardEarly(this.#turn);
      await this.#apply({ type: 'configure', detection: options.detection });
      await this.#release();
    });
  }

  append(sound: Uint8Array): Promise<boolean> {
    return this.#inOrder(async () => {
      if (!this.#held) return this.#hear(this.#cutter.push(sound));
      this.#held.push(sound);
      this.#holding ??= setTimeout(() => void this.#inOrder(() => this.#release()), held.ms);
      const bytes = this.#held.reduce((sum, { length }) => sum + length, 0);
      return bytes < held.bytes || this.#release();
    }, true);
  }

  commit(): Promise<boolean> {
    return this.#inOrder(async () => {
      await this.#release();
      await this.#hear(this.#cutter.flush());
      return (await this.#apply({ type: 'commit' })).some(({ type }) => type === 'commit');
    }, false);
  }

  clear(): void {
    void this.#inOrder(async () => {
      await this.#release();
      await this.#hear(this.#cutter.flush());
      await this.#apply({ type: 'clear' });
    });
  }

  end(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    this.#life.end(new Error('the session has ended'));
    await this.#last;
    clearTimeout(this.#holding);
    clearTimeout(this.#stalling);
    await Promise.all(this.#running);
    if (this.#turn) await this.#forget(this.#turn);
    await this.#parts.directory[Symbol.asyncDispose]();
  }

  /** Resolves with `afterEnd` once the session has ended. */
  #inOrder<T>(work: () => Promise<T>, afterEnd?: T): Promise<T> {
    const result = this.#last.then(async () => {
      clearTimeout(this.#stalling);
      if (this.#life.signal.aborted) return afterEnd as T;
      const done = await runInScope(this.#scope, work);
      const { detection } = this.#options;
      const stall = () => void this.#inOrder(() => this.#apply({ type: 'stall' }));
      if (this.#turn && detection) this.#stalling = setTimeout(stall, detection.silenceMs + stallMs);
      return done;
    });
    this.#last = result.catch(ignore);
    return result;
  }

  /** Hears the sound that has waited for options. */
  async #release(): Promise<boolean> {
    clearTimeout(this.#holding);
    const sound = Buffer.concat(this.#held ?? []);
    this.#held = undefined;
    return this.#hear(this.#cutter.push(sound));
  }

  async #hear(frames: Iterable<Frame>): Promise<boolean> {
    let fits = true;
    let unwrittenMs = 0;
    const { signal } = this.#life;
    const keptMs = windowMs + (this.#options.detection?.prefixMs ?? 0);
    for (const frame of frames) {
      if (signal.aborted) break;
      this.#warmUp();
      this.#recent.push(frame, this.#state.gate.now + frame.ms, keptMs);
      if (this.#state.turn?.isFull === false) this.#turn?.recording.push(frame);
      const effects = await this.#apply({ type: 'frame', db: frame.db, ms: frame.ms });
      fits &&= !effects.some(({ type }) => type === 'full');
      unwrittenMs += frame.ms;
      if (unwrittenMs < pieceMs) continue;
      await this.#turn?.recording.flush();
      await this.#waitForRate(unwrittenMs, signal).catch(ignore);
      await nextTurn();
      unwrittenMs = 0;
    }
    await this.#turn?.recording.flush();
    await this.#waitForRate(unwrittenMs, signal).catch(ignore);
    return fits;
  }

  async #apply(event: TurnEvent): Promise<readonly TurnEffect[]> {
    const { state, effects } = next(this.#state, event);
    this.#state = state;
    for (const effect of effects) await this.#perform(effect);
    return effects;
  }

  async #perform(effect: TurnEffect): Promise<void> {
    if (effect.type === 'record') {
      const id = `item_${randomBytes(16).toString('base64url')}`;
      this.#turn = { id, recording: this.#record(effect.fromMs), discardedMs: 0, chargedMs: 0 };
    } else if (effect.type === 'ask') {
      const speech = await this.#findSpeech().catch(() => undefined);
      await this.#apply({ type: 'answer', speech });
    } else if (this.#turn) await this.#performOn(this.#turn, effect);
  }

  async #performOn(turn: OpenTurn, effect: Exclude<TurnEffect, { type: 'record' | 'ask' }>): Promise<void> {
    switch (effect.type) {
      case 'started':
      case 'stopped':
        if (effect.type === 'started') this.#warmUp({ isAgain: true });
        return this.#emit({ turn: turn.id, type: effect.type, ms: Math.round(effect.ms) });
      case 'voice':
        return this.#emit({ turn: turn.id, type: 'voice' });
      case 'pause':
        return this.#beginEarly(turn).catch(ignore); // it is transcribed after its end
      case 'resume':
        return this.#discardEarly(turn);
      case 'commit':
        this.#commit(turn, effect.hasSpeech);
        while (this.#running.size >= maxRunning) await Promise.race(this.#running);
        return;
      case 'forget':
        this.#emit({ turn: turn.id, type: 'forgotten' });
        return this.#forget(turn);
      case 'full': // `append` says so
    }
  }

  /** Early transcriptions are charged, also if the client leaves instead of clearing the turn. */
  async #forget(turn: OpenTurn): Promise<void> {
    this.#turn = undefined;
    this.#discardEarly(turn);
    this.#chargeDiscarded(turn, 0);
    await turn.recording.discard();
  }

  /** Returns the speech of the last moments, if the detector answers in time. */
  async #findSpeech(): Promise<readonly Span[] | undefined> {
    const { now } = this.#state.gate;
    const recording = this.#record(now - windowMs);
    await using file = await recording.finish();
    using timeout = startTimeout(maxAnswerMs, () => new Error('the detector is late'), this.#life.signal);
    const ms = Math.floor(recording.ms);
    const speech = await this.#parts.detector?.findSpeech?.(file.recording.path, ms, timeout);
    return speech?.map(({ startMs, endMs }) => ({ startMs: now - ms + startMs, endMs: now - ms + endMs }));
  }

  #commit(turn: OpenTurn, hasSpeech: boolean): void {
    this.#turn = undefined;
    this.#warmedUp = undefined;
    this.#emit({ turn: turn.id, type: 'committed' });
    this.#begin(this.#complete(turn, this.#options.hints, hasSpeech));
  }

  /** Ends a committed turn with exactly one event. */
  async #complete({ id: turn, recording, early }: OpenTurn, hints: Hints, hasSpeech: boolean): Promise<void> {
    try {
      await using file = await recording.finish();
      const { text, language } = hasSpeech ? await this.#transcribe(turn, file.recording, hints, early) : silence;
      const languages = language === null ? {} : { languages: [language] };
      const seconds = Math.round(recording.ms) / 1000;
      this.#emit({ turn, type: 'completed', transcript: text, seconds, ...languages });
    } catch (error) {
      this.#emit({ turn, type: 'failed', error });
    }
  }

  async #transcribe(turn: string, recording: Recording, hints: Hints, { run: early }: Partial<EarlyRun> = {}) {
    if (early) this.#parts.metrics?.earlyEnded(early.hasFailed ? 'failed' : 'used');
    await this.#parts.allowTurn?.();
    const run = early?.hasFailed === false ? early : this.#startRun(recording, hints, this.#chooseModel(hints));
    run.publish((text) => this.#emit({ turn, type: 'delta', text }));
    const { text, result } = await run.transcript;
    return { text, language: result.language };
  }

  /** Transcribes what has been said so far, if that is quick and no other transcription of the session is running. */
  async #beginEarly(turn: OpenTurn): Promise<void> {
    if (this.#running.size > 0) return;
    const { hints } = this.#options;
    const model = this.#chooseModel(hints);
    if (!model.entry.local || lastRunMs(model) > maxEarlyMs) return;
    await this.#parts.requireAudioBudget?.();
    const file = await turn.recording.copy(this.#newPath());
    const run = this.#startRun(file.recording, hints, model);
    turn.early = { run, ms: turn.recording.ms };
    this.#begin(run.transcript.then(ignore, ignore).then(() => file[Symbol.asyncDispose]()));
  }

  /** The speech goes on. The run is not aborted: a loaded model that does not stop at once is killed. */
  #discardEarly(turn: OpenTurn): void {
    if (!turn.early) return;
    const { run, ms } = turn.early;
    turn.early = undefined;
    this.#parts.metrics?.earlyEnded(run.hasFailed ? 'failed' : 'discarded');
    turn.discardedMs += ms;
    this.#chargeDiscarded(turn, turn.recording.ms);
  }

  /** Charges what early transcriptions have taken beyond the length of the turn, which is charged for its transcript. */
  #chargeDiscarded(turn: OpenTurn, lengthMs: number): void {
    const audioMs = Math.round(turn.discardedMs - lengthMs - turn.chargedMs);
    if (audioMs <= 0) return;
    turn.chargedMs += audioMs;
    this.#scope.charge?.({ audioMs });
  }

  #startRun(recording: Recording, hints: Hints, model: ServedModel<'transcription'>): TurnRun {
    const { model: _named, ...others } = hints;
    const request = { recording, ...others };
    return startTurnRun({ model, request, scope: this.#scope, signal: this.#life.signal, services: this.#parts });
  }

  /** Throws the errors of `chooseTranscriptionModel`. */
  #chooseModel({ model }: Hints): ServedModel<'transcription'> {
    return chooseTranscriptionModel(this.#parts, model);
  }

  /**
   * Loads the model for sound, not for a setting: between two commits a session loads one model. `isAgain`: also if it has
   * been loaded, because it may have been unloaded since.
   */
  #warmUp({ isAgain = false } = {}): void {
    const { model = '' } = this.#options.hints;
    if (isAgain ? this.#warmedUp !== model : this.#warmedUp !== undefined) return;
    this.#warmedUp = model;
    try {
      warmUp(this.#chooseModel(this.#options.hints));
    } catch {
      // A turn reports the error.
    }
  }

  #begin(work: Promise<void>): void {
    const running = work.finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Begins a recording with the recent sound. */
  #record(fromMs: number): TurnRecording {
    const recording = new TurnRecording(this.#newPath(), this.#parts.directory.account);
    for (const frame of this.#recent.since(fromMs)) recording.push(frame);
    return recording;
  }

  #newPath(): string {
    this.#files += 1;
    return join(this.#parts.directory.path, `${String(this.#files)}.wav`);
  }

  #emit(event: HeardEvent): void {
    if (!this.#life.signal.aborted) this.#parts.emit(event);
  }
}

const silence = { text: '', language: null };
