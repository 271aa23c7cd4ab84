/** Cuts utterances out of a stream of frames. Pure. */
import { closeGate, levelOf, newGate, pushLevel, type GateOptions } from '../lib/voice-gate.ts';

/** Audio kept from before the first sound: it may contain quiet consonants, and gives the model a lead-in. */
const preRollMs = 500;
/** Longer than the pre-roll, because the gate opens some time after the first sound. */
const keptMs = preRollMs + 500;
const maxUtteranceMs = 60_000;

export class UtteranceCutter {
  readonly rate: number;
  readonly #options: () => GateOptions;
  #gate = newGate;
  #frames: Float32Array[] = [];

  /** `options` is read for each frame, because the options may change. */
  constructor(rate: number, options: () => GateOptions) {
    this.rate = rate;
    this.#options = options;
  }

  get isRecording(): boolean {
    return this.#gate.isOpen;
  }

  /** Returns the samples of an utterance that ended with this frame. */
  push(frame: Float32Array): Float32Array | undefined {
    this.#frames.push(frame);
    const before = this.#gate;
    const gate = pushLevel(before, levelOf(frame), this.#msOf(frame.length), this.#options());
    this.#gate = gate;
    const age = gate.now - gate.onset;
    if (gate.isOpen && !before.isOpen) this.#keep(age + preRollMs);
    if (before.isOpen && (!gate.isOpen || age >= maxUtteranceMs)) return this.take();
    if (!this.isRecording) this.#keep(keptMs);
    return undefined;
  }

  /** Returns the utterance so far, and begins a new one. */
  take(): Float32Array {
    const utterance = joined(this.#frames);
    this.#frames = [];
    this.#gate = closeGate(this.#gate);
    return utterance;
  }

  #keep(ms: number): void {
    let rest = this.#frames.reduce((sum, frame) => sum + this.#msOf(frame.length), 0);
    while (this.#frames[0] && rest - this.#msOf(this.#frames[0].length) >= ms) {
      rest -= this.#msOf(this.#frames[0].length);
      this.#frames.shift();
    }
  }

  #msOf(samples: number): number {
    return (samples / this.rate) * 1_000;
  }
}

function joined(frames: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(frames.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const frame of frames) {
    all.set(frame, at);
    at += frame.length;
  }
  return all;
}
