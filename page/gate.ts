/** Finds turns in a stream of sound by its level. Pure: frames and their length in, turns out. */

export interface GateOptions {
  /** Silence that ends a turn, in milliseconds. May change meanwhile. */
  readonly pauseMs: () => number;
}

/** Shorter sounds are clicks. */
const openMs = 120;
/** How far the voice is above the room, in decibels. */
const marginDb = 12;
/** The quietest moment of this time is the room. */
const roomMs = 3_000;
const quietestDb = -70;
/** Nothing below is a voice, in the quietest room; everything above is one, in the loudest. */
const thresholdDb = { min: -52, max: -20 } as const;
/** Muted, or not begun: says nothing about the room. */
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
  readonly #room: { readonly db: number; readonly at: number }[] = [];
  #now = 0;
  /** Milliseconds of voice so far, while closed. Falls in silence, so that a click is forgotten. */
  #voiceMs = 0;
  #onset = 0;
  #lastVoice = 0;
  #isOpen = false;

  constructor({ pauseMs }: GateOptions) {
    this.#pauseMs = pauseMs;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Milliseconds from the first sound of this turn to now. */
  get age(): number {
    return this.#now - this.#onset;
  }

  /** Whether the gate opened or closed with this frame. */
  push(db: number, ms: number): 'opened' | 'closed' | undefined {
    const begin = this.#now;
    this.#now += ms;
    const isVoice = db > this.#threshold(db);
    if (isVoice) this.#lastVoice = this.#now;
    if (this.#isOpen) {
      if (this.#now - this.#lastVoice < this.#pauseMs()) return undefined;
      this.reset();
      return 'closed';
    }
    if (isVoice && this.#voiceMs === 0) this.#onset = begin;
    this.#voiceMs = isVoice ? this.#voiceMs + ms : Math.max(0, this.#voiceMs - ms);
    if (this.#voiceMs < openMs) return undefined;
    this.#isOpen = true;
    return 'opened';
  }

  /** Closed; what is known of the room stays. */
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
