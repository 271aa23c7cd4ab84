/** A turn: its recording, its early transcription, and its end. */
import { randomBytes } from 'node:crypto';
import type { Recording } from '../../engines/contract/index.ts';
import { ignore } from '../../lib/errors.ts';
import type { Budget } from '../contract/operations.ts';
import type { Charge, RequestScope } from '../request-scope.ts';
import type { TranscriptionParameters } from '../transcription/parameters.ts';
import { chooseTranscriptionModel, type TranscriptionServices } from '../transcription/run.ts';
import type { TurnRecording } from './turn-recording.ts';
import { lastRunMs, startTurnRun, type TurnRun, type TurnTranscript } from './turn-run.ts';

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
  /** The transcript in a pause that may be the end of the turn. `resumed`: it was not, and the transcript is void. */
  | ({ readonly type: 'early' } & Transcript)
  | { readonly type: 'resumed' }
  | ({ readonly type: 'completed'; readonly seconds: number } & Transcript)
  | { readonly type: 'failed'; readonly error: unknown };

export interface Transcript {
  readonly transcript: string;
  readonly languages?: readonly string[];
}

export interface TurnServices extends TranscriptionServices {
  /**
   * Counts a turn or a response, and resolves with the function that charges the budget. Rejects with `rate-limited` or
   * `quota-exceeded` if a limit of the current API key does not permit another one.
   */
  readonly allowTurn?: ((budget: Budget) => Promise<Charge | undefined>) | undefined;
  /**
   * Like `allowTurn`, for work that begins early: counts nothing, and rejects only with `quota-exceeded`. With
   * `isRequest`, the rejection counts as one of a request.
   */
  readonly requireBudget?:
    ((budget: Budget, options?: { readonly isRequest: boolean }) => Promise<Charge | undefined>) | undefined;
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
  /** Whether its transcript has been reported. */
  isReported?: boolean;
}

/** Early transcription is skipped for a model whose last run took longer than this. */
const maxEarlyMs = 800;
/** An early transcript is reported only in a turn of this length, and this many times in a turn. */
const reported = { maxMs: 10_000, maxTimes: 3 };

/** A turn in progress. It ends with `commit` or `forget`. */
export class OpenTurn {
  readonly recording: TurnRecording;
  readonly #id: string;
  readonly #context: TurnContext;
  #early: EarlyRun | undefined;
  /** Number of early transcripts that have been reported. */
  #reports = 0;
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
    await services.requireBudget?.('audio');
    const file = await this.recording.copy();
    const early: EarlyRun = { run: this.#startRun(file.recording, hints, model), ms: this.recording.ms };
    this.#early = early;
    const transcribed = early.run.transcript.then((transcript) => this.#reportEarly(early, transcript));
    track(transcribed.catch(ignore).then(() => file[Symbol.asyncDispose]()));
  }

  #reportEarly(early: EarlyRun, transcript: TurnTranscript): void {
    if (this.#early !== early || early.ms > reported.maxMs || this.#reports >= reported.maxTimes) return;
    this.#reports += 1;
    early.isReported = true;
    this.report({ type: 'early', ...toTranscript(transcript.text, transcript.result.language) });
  }

  /**
   * Discards the early run. It is not aborted, because a loaded model that does not stop immediately would be killed.
   */
  discardEarly(): void {
    if (!this.#early) return;
    const { run, ms, isReported } = this.#early;
    this.#early = undefined;
    if (isReported) this.report({ type: 'resumed' });
    this.#context.services.metrics?.earlyEnded(run.hasFailed ? 'failed' : 'discarded');
    this.#discardedMs += ms;
    this.#chargeDiscarded(this.recording.ms);
  }

  /** Discards the turn. Early transcriptions are charged even if the client disconnects without clearing the turn. */
  async forget(): Promise<void> {
    this.discardEarly();
    this.report({ type: 'forgotten' });
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
    const early = this.#early?.run;
    this.#early = undefined;
    try {
      const { text, language } = await this.#textOf(hints, hasSpeech, early);
      const seconds = Math.round(this.recording.ms) / 1000;
      this.report({ type: 'completed', seconds, ...toTranscript(text, language) });
    } catch (error) {
      this.report({ type: 'failed', error });
    }
  }

  /** Resolves once the file has been removed: until then, a pause of the next turn would not be transcribed. */
  async #textOf(hints: Hints, hasSpeech: boolean, early: TurnRun | undefined) {
    await using file = await this.recording.finish();
    if (!hasSpeech) return silence;
    const { services } = this.#context;
    if (early) services.metrics?.earlyEnded(early.hasFailed ? 'failed' : 'used');
    await services.allowTurn?.('audio');
    const run = early?.hasFailed === false ? early : this.#startRun(file.recording, hints);
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

const toTranscript = (transcript: string, language: string | null): Transcript =>
  language === null ? { transcript } : { transcript, languages: [language] };
