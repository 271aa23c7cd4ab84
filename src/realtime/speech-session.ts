/** Splits the audio of a session into turns and transcribes them. Independent of any protocol. */
import { isDeepStrictEqual } from 'node:util';
import type { Span, TranscriptionEngine } from '../../engines/contract/index.ts';
import { linkedSignal, startTimeout, type LinkedSignal } from '../../lib/abort.ts';
import { ignore } from '../../lib/errors.ts';
import type { Rate } from '../../lib/rate-limit.ts';
import { currentScope } from '../request-scope.ts';
import type { AccountedDirectory, Workspace } from '../system/workspace.ts';
import { chooseTranscriptionModel, warmUp } from '../transcription/run.ts';
import { OpenTurn, type Hints, type TurnContext, type TurnEvent, type TurnServices } from './open-turn.ts';
import { SoundInput, type Frame, type SoundFormat } from './sound-input.ts';
import {
  minCommitMs,
  newTurnState,
  next,
  windowMs,
  type DetectorEvent,
  type TurnDetection,
  type TurnEffect,
  type TurnState,
} from './turn-detector.ts';
import { RecentSound, TurnRecording } from './turn-recording.ts';

export type { SoundFormat, TurnDetection, TurnEvent };

export interface SpeechOptions {
  readonly format: SoundFormat;
  /** null if the client commits the turns. */
  readonly detection: TurnDetection | null;
  readonly hints: Hints;
}

export interface SpeechServices extends TurnServices {
  readonly workspace: Pick<Workspace, 'accountedDirectory'>;
  /** Rate limit in milliseconds of audio; audio beyond it is delayed. */
  readonly soundRate?: Rate | undefined;
  /**
   * Called for each frame. Returns the mean level of the answer that is playing (`levelOfAnswer`), so that its echo does
   * not interrupt it; undefined if none is.
   */
  readonly answerDb?: (() => number | undefined) | undefined;
}

/** Calls take effect one after the other. After `end`, they do nothing. */
export interface SpeechSession {
  /** Applies to later audio. The first call also applies to all audio that arrived within the last second. */
  configure(options: SpeechOptions): void;
  /**
   * Resolves once the bytes have been analyzed and, inside a turn, written. If the client commits turns, the first bytes
   * beyond the maximum turn length cause the event `full`.
   */
  append(sound: Uint8Array, cause?: string | null): Promise<void>;
  /** Causes the event `nothing` if there is less than 100 ms of audio to commit. */
  commit(cause?: string | null): Promise<void>;
  /**
   * Transcribes audio that is not part of the turns. It has the events of a turn with this id, after `committed`. With
   * less than 100 ms, the transcript is empty.
   */
  transcribe(id: string, sound: Uint8Array): Promise<void>;
  /** Resolves once no more events of the cleared audio can come. */
  clear(): Promise<void>;
  /** Ends all work. Resolves when every transcription has ended and the files have been removed. */
  end(): Promise<void>;
}

/** Throws `storage-full`. The signal aborts all work; the caller must still call `end`. */
export async function openSpeechSession(
  options: SpeechOptions,
  services: SpeechServices,
  emit: (event: TurnEvent) => void,
  signal: AbortSignal,
): Promise<SpeechSession> {
  const directory = await services.workspace.accountedDirectory('realtime');
  return new LiveSpeechSession(options, { services, directory, emit }, signal);
}

interface Parts {
  readonly services: SpeechServices;
  readonly directory: AccountedDirectory;
  readonly emit: (event: TurnEvent) => void;
}

/** While this many transcriptions are running, further audio waits. */
const maxRunning = 16;
/** If the speech detector takes longer to answer, the audio level decides. */
const maxAnswerMs = 300;
/** If no audio arrives, a turn ends this long after the silence that would end it. */
const stallMs = 1_000;

/** Performs the effects of the turn detector. */
class LiveSpeechSession implements SpeechSession {
  readonly #directory: AccountedDirectory;
  readonly #detector: Pick<TranscriptionEngine, 'findSpeech'> | undefined;
  readonly #answerDb: SpeechServices['answerDb'];
  readonly #context: TurnContext;
  /** Aborts all work of the session. */
  readonly #life: LinkedSignal;
  readonly #input: SoundInput;
  readonly #recent = new RecentSound();
  readonly #running = new Set<Promise<void>>();
  #options: SpeechOptions;
  #state: TurnState;
  #turn: OpenTurn | undefined;
  /** The model that has been loaded because of audio since the last commit. */
  #warmedUp: string | undefined;
  #ended: Promise<void> | undefined;

  constructor(options: SpeechOptions, { services, directory, emit }: Parts, parent: AbortSignal) {
    this.#options = options;
    this.#directory = directory;
    this.#answerDb = services.answerDb;
    this.#life = linkedSignal(parent);
    const { signal } = this.#life;
    this.#context = {
      ...{ services, signal, scope: currentScope() ?? { caller: '' } },
      emit: (event) => {
        if (!signal.aborted) emit(event);
      },
      track: (work) => this.#track(work),
    };
    const models = services.registry.of('transcription').all;
    this.#detector = models.map(({ engine }) => engine).find((engine) => 'findSpeech' in engine);
    this.#state = newTurnState(options.detection, { hasDetector: this.#detector !== undefined });
    const input = { format: options.format, rate: services.soundRate, signal };
    this.#input = new SoundInput(input, {
      onFrame: (frame) => this.#onFrame(frame),
      onPiece: () => this.#turn?.recording.flush(),
      onStall: () => this.#apply({ type: 'stall' }),
      stallMs: () => {
        const { detection } = this.#options;
        return this.#turn && detection ? detection.silenceMs + stallMs : undefined;
      },
    });
  }

  configure(options: SpeechOptions): void {
    void this.#input.inOrder(async () => {
      const { format, hints } = this.#options;
      this.#options = options;
      if (!isDeepStrictEqual(format, options.format)) this.#input.setFormat(options.format);
      if (!isDeepStrictEqual(hints, options.hints)) this.#turn?.discardEarly();
      await this.#apply({ type: 'configure', detection: options.detection });
      await this.#input.release();
    });
  }

  async append(sound: Uint8Array, cause: string | null = null): Promise<void> {
    const fits = await this.#input.append(sound);
    if (fits === false) this.#context.emit({ type: 'full', cause });
  }

  async commit(cause: string | null = null): Promise<void> {
    await this.#input.inOrder(async () => {
      await this.#input.flush();
      const effects = await this.#apply({ type: 'commit' });
      if (!effects.some(({ type }) => type === 'commit')) this.#context.emit({ type: 'nothing', cause });
    });
  }

  async transcribe(id: string, sound: Uint8Array): Promise<void> {
    await this.#input.inOrder(async () => {
      const { format, hints } = this.#options;
      const recording = new TurnRecording(this.#directory);
      let ms = 0;
      const onFrame = (frame: Frame) => {
        recording.push(frame);
        ms += frame.ms;
        return true;
      };
      await this.#input.cut(sound, format, { onFrame, onPiece: () => recording.flush() });
      await this.#runTurn(new OpenTurn(recording, this.#context, id).transcribe(hints, ms >= minCommitMs));
    });
  }

  async clear(): Promise<void> {
    await this.#input.inOrder(async () => {
      await this.#input.flush();
      await this.#apply({ type: 'clear' });
    });
  }

  end(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    this.#life.end(new Error('the session has ended'));
    await this.#input.end();
    await Promise.all(this.#running);
    await this.#turn?.forget();
    await this.#directory[Symbol.asyncDispose]();
  }

  async #onFrame(frame: Frame): Promise<boolean> {
    this.#warmUp();
    const keptMs = windowMs + (this.#options.detection?.prefixMs ?? 0);
    this.#recent.push(frame, this.#state.gate.now + frame.ms, keptMs);
    if (this.#state.turn?.isFull === false) this.#turn?.recording.push(frame);
    const answerDb = this.#answerDb?.();
    const effects = await this.#apply({ type: 'frame', db: frame.db, ms: frame.ms, answerDb });
    return !effects.some(({ type }) => type === 'full');
  }

  async #apply(event: DetectorEvent): Promise<readonly TurnEffect[]> {
    const { state, effects } = next(this.#state, event);
    this.#state = state;
    for (const effect of effects) await this.#perform(effect);
    return effects;
  }

  async #perform(effect: TurnEffect): Promise<void> {
    if (effect.type === 'record') this.#turn = new OpenTurn(this.#record(effect.fromMs), this.#context);
    else if (effect.type === 'ask') {
      const speech = await this.#findSpeech().catch(() => undefined);
      await this.#apply({ type: 'answer', speech });
    } else if (this.#turn) await this.#performOn(this.#turn, effect);
  }

  async #performOn(turn: OpenTurn, effect: Exclude<TurnEffect, { type: 'record' | 'ask' }>): Promise<void> {
    const { hints } = this.#options;
    switch (effect.type) {
      case 'started':
      case 'stopped':
        if (effect.type === 'started') this.#warmUp({ isAgain: true });
        return turn.report({ type: effect.type, ms: Math.round(effect.ms) });
      case 'voice':
        return turn.report({ type: 'voice' });
      case 'pause':
        if (this.#running.size > 0) return;
        return turn.beginEarly(hints).catch(ignore); // on failure, the turn is transcribed after its end
      case 'resume':
        return turn.discardEarly();
      case 'commit':
        this.#turn = undefined;
        this.#warmedUp = undefined;
        return this.#runTurn(turn.commit(hints, effect.hasSpeech));
      case 'forget':
        this.#turn = undefined;
        return turn.forget();
      case 'full': // `append` reports it
    }
  }

  /** Resolves with the speech in the most recent audio, if the detector answers in time. */
  async #findSpeech(): Promise<readonly Span[] | undefined> {
    const { now } = this.#state.gate;
    const recording = this.#record(now - windowMs);
    await using file = await recording.finish();
    using timeout = startTimeout(maxAnswerMs, () => new Error('the detector is late'), this.#life.signal);
    const ms = Math.floor(recording.ms);
    const speech = await this.#detector?.findSpeech?.(file.recording.path, ms, timeout);
    return speech?.map(({ startMs, endMs }) => ({ startMs: now - ms + startMs, endMs: now - ms + endMs }));
  }

  /**
   * Loads the model when audio arrives, not when the session is configured, so that a session loads at most one model
   * between two commits. With `isAgain`, only reloads the model already loaded, because it may have been unloaded
   * since.
   */
  #warmUp({ isAgain = false } = {}): void {
    const { model = '' } = this.#options.hints;
    if (isAgain ? this.#warmedUp !== model : this.#warmedUp !== undefined) return;
    this.#warmedUp = model;
    try {
      warmUp(chooseTranscriptionModel(this.#context.services, this.#options.hints.model).model);
    } catch {
      // The turn will report the error.
    }
  }

  async #runTurn(work: Promise<void>): Promise<void> {
    this.#track(work);
    while (this.#running.size >= maxRunning) await Promise.race(this.#running);
  }

  #track(work: Promise<void>): void {
    const running = work.finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Begins a recording that starts with the recent audio. */
  #record(fromMs: number): TurnRecording {
    const recording = new TurnRecording(this.#directory);
    for (const frame of this.#recent.since(fromMs)) recording.push(frame);
    return recording;
  }
}
