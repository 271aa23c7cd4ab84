/** A turn: its recording, its early transcription, and its end. */
import { randomBytes } from 'node:crypto';
import type { Recording } from '../../engines/contract/index.ts';
import { ignore } from '../../lib/errors.ts';
import type { Budget } from '../contract/operations.ts';
import type { Charge, RequestScope } from '../request-scope.ts';
import type { TranscriptionParameters } from '../transcription/parameters.ts';
import { chooseTranscriptionModel, type TranscriptionServices } from '../transcription/run.ts';
import type { TurnRecording } from './turn-recording.ts';
import { lastRunMs, startTurnRun, type TurnRun } from './turn-run.ts';

/**
 * `model` is the id of an entry; if absent, the default model is used. The other fields are hints that the model
 * supports.
 */
export type Hints = { readonly model?: string | undefined } & TranscriptionParameters;

/** Times are in milliseconds of audio since the start of the session. */
export type TurnEvent = ({ readonly turn: string } & TurnProgress) | NotTaken;

/**
 * `nothing`: there was less than 100 ms of audio to commit. `full`: the audio does not fit into the turn; sent once.
 * `cause` identifies the call.
 */
interface NotTaken {
  readonly type: 'nothing' | 'full';
  readonly cause: string | null;
}

type TurnProgress =
  | { readonly type: 'started' | 'stopped'; readonly ms: number }
  /**
   * `voice`: the first voice in a turn that the client commits. `forgotten`: the turn was discarded and has no further
   * events.
   */
  | { readonly type: 'voice' | 'committed' | 'forgotten' }
  | { readonly type: 'delta'; readonly text: string }
  | Completed
  | { readonly type: 'failed'; readonly error: unknown };

interface Completed {
  readonly type: 'completed';
  readonly transcript: string;
  readonly seconds: number;
  readonly languages?: readonly string[];
}

export interface TurnServices extends TranscriptionServices {
  /**
   * Counts a turn or a response, and resolves with the function that charges the budget. Rejects with `rate-limited` or
   * `quota-exceeded` if a limit of the current API key does not permit another one.
   */
  readonly allowTurn?: ((budget: Budget) => Promise<Charge | undefined>) | undefined;
  /** Throws `quota-exceeded` if the current API key has used up its audio budget. */
  readonly requireAudioBudget?: (() => Promise<void>) | undefined;
}

/** The context that the turns of a session share. */
export interface TurnContext {
  readonly services: TurnServices;
  readonly scope: RequestScope;
  /** Aborts all work of the session. */
  readonly signal: AbortSignal;
  readonly emit: (event: TurnEvent) => void;
  /** Adds work for which the session waits before it ends. */
  readonly track: (work: Promise<void>) => void;
}

/** A transcription of the turn so far, which is valid only until more is said. */
interface EarlyRun {
  readonly run: TurnRun;
  /** Milliseconds of audio that it transcribes. */
  readonly ms: number;
}

/** Early transcription is skipped for a model whose last run took longer than this. */
const maxEarlyMs = 800;

/** A turn in progress. It ends with `commit` or `forget`. */
export class OpenTurn {
  readonly recording: TurnRecording;
  readonly #id: string;
  readonly #context: TurnContext;
  #early: EarlyRun | undefined;
  /** Milliseconds of audio in discarded early transcriptions. */
  #discardedMs = 0;
  /** The part of `#discardedMs` that has been charged. */
  #chargedMs = 0;

  constructor(recording: TurnRecording, context: TurnContext, id = `item_${randomBytes(16).toString('base64url')}`) {
    this.#id = id;
    this.recording = recording;
    this.#context = context;
  }

  report(progress: TurnProgress): void {
    this.#context.emit({ turn: this.#id, ...progress });
  }

  /** Starts transcribing the turn so far if the model is local and fast enough. */
  async beginEarly(hints: Hints): Promise<void> {
    const { services, track } = this.#context;
    const { model } = chooseTranscriptionModel(services, hints.model);
    if (!model.entry.local || lastRunMs(model) > maxEarlyMs) return;
    await services.requireAudioBudget?.();
    const file = await this.recording.copy();
    const run = this.#startRun(file.recording, hints, model);
    this.#early = { run, ms: this.recording.ms };
    track(run.transcript.then(ignore, ignore).then(() => file[Symbol.asyncDispose]()));
  }

  /**
   * Discards the early run. It is not aborted, because a loaded model that does not stop immediately would be killed.
   */
  discardEarly(): void {
    if (!this.#early) return;
    const { run, ms } = this.#early;
    this.#early = undefined;
    this.#context.services.metrics?.earlyEnded(run.hasFailed ? 'failed' : 'discarded');
    this.#discardedMs += ms;
    this.#chargeDiscarded(this.recording.ms);
  }

  /** Discards the turn. Early transcriptions are charged even if the client disconnects without clearing the turn. */
  async forget(): Promise<void> {
    this.report({ type: 'forgotten' });
    this.discardEarly();
    this.#chargeDiscarded(0);
    await this.recording.discard();
  }

  /** Commits the turn, which then ends with `completed` or `failed`. Without speech, the transcript is empty. */
  async commit(hints: Hints, hasSpeech: boolean): Promise<void> {
    this.report({ type: 'committed' });
    await this.transcribe(hints, hasSpeech);
  }

  /** Ends the turn without an event `committed`. */
  async transcribe(hints: Hints, hasSpeech: boolean): Promise<void> {
    try {
      await using file = await this.recording.finish();
      const { text, language } = hasSpeech ? await this.#textOf(file.recording, hints) : silence;
      const languages = language === null ? {} : { languages: [language] };
      const seconds = Math.round(this.recording.ms) / 1000;
      this.report({ type: 'completed', transcript: text, seconds, ...languages });
    } catch (error) {
      this.report({ type: 'failed', error });
    }
  }

  async #textOf(recording: Recording, hints: Hints) {
    const { services } = this.#context;
    const early = this.#early?.run;
    if (early) services.metrics?.earlyEnded(early.hasFailed ? 'failed' : 'used');
    await services.allowTurn?.('audio');
    const run = early?.hasFailed === false ? early : this.#startRun(recording, hints);
    run.publish((text) => this.report({ type: 'delta', text }));
    const { text, result } = await run.transcript;
    return { text, language: result.language };
  }

  /** Throws the errors of `chooseTranscriptionModel`. */
  #startRun(
    recording: Recording,
    { model: named, ...hints }: Hints,
    model = chooseTranscriptionModel(this.#context.services, named).model,
  ): TurnRun {
    const { scope, signal, services } = this.#context;
    return startTurnRun({ model, request: { recording, ...hints }, scope, signal, services });
  }

  /**
   * Charges for audio of discarded early transcriptions beyond `lengthMs`, because the final transcript is charged for
   * `lengthMs`.
   */
  #chargeDiscarded(lengthMs: number): void {
    const audioMs = Math.round(this.#discardedMs - lengthMs - this.#chargedMs);
    if (audioMs <= 0) return;
    this.#chargedMs += audioMs;
    this.#context.scope.charge?.({ audioMs });
  }
}

const silence = { text: '', language: null };
