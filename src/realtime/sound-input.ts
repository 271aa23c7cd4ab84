/**
 * The audio of a session, in order: held until the first options arrive, then cut into frames of 20 ms, limited to the
 * rate.
 */
import { ignore } from '../../lib/errors.ts';
import { nextTurn } from '../../lib/event-loop.ts';
import { afterMs } from '../../lib/process-timer.ts';
import { createRateLimit, type Rate } from '../../lib/rate-limit.ts';
import { deinterleave, sampleFormats, toSamples16, viewSamples16 } from '../../lib/samples.ts';
import { levelOf } from '../../lib/voice-gate.ts';
import { currentScope, runInScope } from '../request-scope.ts';

/** Mono audio: signed 16-bit little-endian samples, or G.711 at 8,000 Hz. */
export type SoundFormat = { readonly encoding: 'pcm'; readonly rate: number } | { readonly encoding: 'pcmu' | 'pcma' };

/** 20 ms of audio, or the remainder before a commit. */
export interface Frame {
  readonly samples: Int16Array;
  /** In Hz. */
  readonly rate: number;
  readonly ms: number;
  /** Level in decibels relative to full scale. */
  readonly db: number;
}

export interface SoundInputOptions {
  readonly format: SoundFormat;
  /**
   * Rate limit in milliseconds of audio; audio beyond it is delayed. Default: a burst of one minute, then 20 times real
   * time.
   */
  readonly rate: Rate | undefined;
  /** Aborts when the session ends. */
  readonly signal: AbortSignal;
}

export interface FrameHandlers {
  /** Resolves with false for the first frame that does not fit into the turn. */
  readonly onFrame: (frame: Frame) => Promise<boolean> | boolean;
  /** Called after each second of audio, and after each call of `append` and `flush`. Never rejects. */
  readonly onPiece: () => Promise<void> | undefined;
}

export interface SoundHandlers extends FrameHandlers {
  /** Called if no audio has arrived for `stallMs()`. */
  readonly onStall: () => Promise<unknown>;
  /** Called after each call. If it returns undefined, the stall timer is disabled. */
  readonly stallMs: () => number | undefined;
}

/** Limits for holding audio that arrives before the first options. */
const held = { ms: 1_000, bytes: 1_048_576 } as const;
const defaultRate: Rate = { burst: 60_000, perSecond: 20_000 };
/** Milliseconds of audio to process before yielding to other work; this takes half a millisecond of CPU time. */
const pieceMs = 1_000;

export class SoundInput {
  readonly #handlers: SoundHandlers;
  readonly #signal: AbortSignal;
  readonly #scope = currentScope() ?? { caller: '' };
  readonly #waitForRate: ReturnType<typeof createRateLimit>;
  #cutter: FrameCutter;
  #held: Uint8Array[] | undefined = [];
  #holding: Disposable | undefined;
  #stalling: Disposable | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ format, rate = defaultRate, signal }: SoundInputOptions, handlers: SoundHandlers) {
    this.#handlers = handlers;
    this.#signal = signal;
    this.#waitForRate = createRateLimit(rate);
    this.#cutter = new FrameCutter(format);
  }

  /**
   * Runs `work` after all earlier calls have finished. Once the session has ended, resolves with undefined without
   * calling `work`.
   */
  inOrder<T>(work: () => Promise<T>): Promise<T | undefined> {
    const result = this.#last.then(async () => {
      this.#stalling?.[Symbol.dispose]();
      if (this.#signal.aborted) return undefined;
      const done = await runInScope(this.#scope, work);
      const stallMs = this.#handlers.stallMs();
      const stall = () => void this.inOrder(this.#handlers.onStall);
      if (stallMs !== undefined) this.#stalling = afterMs(stallMs, stall);
      return done;
    });
    this.#last = result.catch(ignore);
    return result;
  }

  /** Resolves once the audio has been handled or is held; resolves with false if it does not fit into the turn. */
  append(sound: Uint8Array): Promise<boolean | undefined> {
    return this.inOrder(async () => {
      if (!this.#held) return this.#handle(this.#cutter.push(sound));
      this.#held.push(sound);
      this.#holding ??= afterMs(held.ms, () => void this.inOrder(() => this.release()));
      const bytes = this.#held.reduce((sum, { length }) => sum + length, 0);
      return bytes < held.bytes || this.release();
    });
  }

  /** Sets the format of held and later audio. Call this, `release` and `flush` only within `inOrder`. */
  setFormat(format: SoundFormat): void {
    this.#cutter = new FrameCutter(format);
  }

  /** Handles the held audio. From then on, audio is no longer held. */
  async release(): Promise<boolean> {
    this.#holding?.[Symbol.dispose]();
    const sound = Buffer.concat(this.#held ?? []);
    this.#held = undefined;
    return this.#handle(this.#cutter.push(sound));
  }

  /** Handles all audio so far, up to the last sample. */
  async flush(): Promise<void> {
    await this.release();
    await this.#handle(this.#cutter.flush());
  }

  /** Cuts a sound that is not part of the audio, at the same rate. Call this only within `inOrder`. */
  async cut(sound: Uint8Array, format: SoundFormat, handlers: FrameHandlers): Promise<void> {
    const cutter = new FrameCutter(format);
    await this.#handle(cutter.push(sound), handlers);
    await this.#handle(cutter.flush(), handlers);
  }

  /** Call this after the signal has aborted. Resolves when the last call has ended. */
  async end(): Promise<void> {
    await this.#last;
    this.#holding?.[Symbol.dispose]();
    this.#stalling?.[Symbol.dispose]();
  }

  async #handle(frames: Iterable<Frame>, handlers: FrameHandlers = this.#handlers): Promise<boolean> {
    let fits = true;
    let ms = 0;
    for (const frame of frames) {
      if (this.#signal.aborted) break;
      if (!(await handlers.onFrame(frame))) fits = false;
      ms += frame.ms;
      if (ms < pieceMs) continue;
      await this.#endPiece(ms, handlers);
      await nextTurn();
      ms = 0;
    }
    await this.#endPiece(ms, handlers);
    return fits;
  }

  async #endPiece(ms: number, { onPiece }: FrameHandlers): Promise<void> {
    await onPiece();
    await this.#waitForRate(ms, this.#signal).catch(ignore);
  }
}

const fullScale = 32_768;
const frameSeconds = 0.02;

/**
 * Cuts audio into frames. The frames do not depend on the pieces in which the audio arrives, which may end in the
 * middle of a sample.
 */
export class FrameCutter {
  readonly #encoding: SoundFormat['encoding'];
  readonly #rate: number;
  readonly #sampleBytes: number;
  #rest: Uint8Array = new Uint8Array();

  constructor(format: SoundFormat) {
    this.#encoding = format.encoding;
    this.#rate = format.encoding === 'pcm' ? format.rate : 8_000;
    this.#sampleBytes = format.encoding === 'pcm' ? 2 : 1;
  }

  *push(sound: Uint8Array): Generator<Frame> {
    yield* this.#cut(sound, this.#sampleBytes * Math.round(this.#rate * frameSeconds));
  }

  /** Yields the audio after the last frame as a shorter frame. An incomplete sample is kept. */
  *flush(): Generator<Frame> {
    const samples = Math.floor(this.#rest.length / this.#sampleBytes);
    if (samples > 0) yield* this.#cut(new Uint8Array(), samples * this.#sampleBytes);
  }

  *#cut(sound: Uint8Array, frameBytes: number): Generator<Frame> {
    const all = this.#rest.length === 0 ? sound : Buffer.concat([this.#rest, sound]);
    const end = all.length - (all.length % frameBytes);
    this.#rest = new Uint8Array(all.subarray(end)); // a view would keep the whole message
    for (let at = 0; at < end; at += frameBytes) yield this.#frame(all.subarray(at, at + frameBytes));
  }

  #frame(bytes: Uint8Array): Frame {
    const samples = this.#decode(bytes);
    return { samples, rate: this.#rate, ms: (1000 * samples.length) / this.#rate, db: levelOf(samples, fullScale) };
  }

  #decode(bytes: Uint8Array): Int16Array {
    if (this.#encoding === 'pcm') return viewSamples16(bytes);
    const format = this.#encoding === 'pcmu' ? sampleFormats.ulaw : sampleFormats.alaw;
    return toSamples16(deinterleave(bytes, format, 1)[0] ?? new Float32Array());
  }
}
