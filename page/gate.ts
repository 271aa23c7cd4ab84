/** Finds utterances in a stream of sound by its level. Pure. */

export interface GateOptions {
  /** Silence that ends an utterance, in milliseconds. May change at any time. */
  readonly pauseMs: () => number;
  /** Whether the page is speaking: the rest of its echo must not open the gate. May change at any time. */
  readonly isSpeaking?: () => boolean;
}

/** Shorter sounds are clicks. */
const openMs = 120;
/** A voice is at least this much louder than the room, in decibels. */
const marginDb = 12;
/** What interrupts is longer and louder than what is left of an echo. */
const interruption = { openMs: 240, moreDb: 6 } as const;
/** The noise of the room is the quietest moment of this time. */
const roomMs = 3_000;
const quietestDb = -70;
/** Bounds of the threshold, in the quietest and the loudest room. */
const thresholdDb = { min: -52, max: -20 } as const;
/** A muted microphone is this quiet; its level says nothing about the room. */
const nothingDb = -90;

/** In decibels of full scale. */
export function levelOf(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return 10 * Math.log10(sum / samples.length + 1e-12);
}

/** For a meter: 0 is a quiet room, 1 a loud voice. */
export const loudness = (db: number): number => Math.max(0, Math.min(1, (db + 60) / 45));

export class Gate {
  readonly #pauseMs: () => number;
  readonly #isSpeaking: () => boolean;
  readonly #room: { readonly db: number; readonly at: number }[] = [];
  #now = 0;
  /** Milliseconds of voice so far, while closed. Falls in silence, so that a click is forgotten. */
  #voiceMs = 0;
  #onset = 0;
  #lastVoice = 0;
  #isOpen = false;

  constructor({ pauseMs, isSpeaking = () => false }: GateOptions) {
    this.#pauseMs = pauseMs;
    this.#isSpeaking = isSpeaking;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Milliseconds since the first sound of this utterance. */
  get age(): number {
    return this.#now - this.#onset;
  }

  /** Returns whether the gate opened or closed with this frame. */
  push(db: number, ms: number): 'opened' | 'closed' | undefined {
    const begin = this.#now;
    this.#now += ms;
    const needed = this.#isSpeaking() ? interruption : { openMs, moreDb: 0 };
    const isVoice = db > this.#threshold(db) + needed.moreDb;
    if (isVoice) this.#lastVoice = this.#now;
    if (this.#isOpen) {
      if (this.#now - this.#lastVoice < this.#pauseMs()) return undefined;
      this.reset();
      return 'closed';
    }
    if (isVoice && this.#voiceMs === 0) this.#onset = begin;
    this.#voiceMs = isVoice ? this.#voiceMs + ms : Math.max(0, this.#voiceMs - ms);
    if (this.#voiceMs < needed.openMs) return undefined;
    this.#isOpen = true;
    return 'opened';
  }

  /** Closes the gate. The level of the room stays known. */
  reset(): void {
    this.#isOpen = false;
    this.#voiceMs = 0;
  }

  #threshold(db: number): number {
    const room = this.#room;
    if (db > nothingDb) {
      // Ascending from the quietest on: what is louder and older will never be the quietest.
      while ((room.at(-1)?.db ?? -Infinity) >= db) room.pop();
      room.push({ db, at: this.#now });
    }
    while (room[0] && room[0].at < this.#now - roomMs) room.shift();
    const floor = Math.max(quietestDb, room[0]?.db ?? quietestDb);
    return Math.max(thresholdDb.min, Math.min(thresholdDb.max, floor + marginDb));
  }
}
