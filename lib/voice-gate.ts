/** Finds speech in an audio stream by its level. Pure. */

export interface GateOptions {
  /** Silence that closes the gate, in milliseconds. */
  readonly pauseMs: number;
  /** A voice is at least this much louder than the room, in decibels. Default: 12. */
  readonly marginDb?: number;
  /** Whether an answer is playing. The residue of its echo must not open the gate. */
  readonly isSpeaking?: boolean;
  /** Sound up to this level is not a voice, but possibly the echo of an answer, in decibels. Default: none is known. */
  readonly echoDb?: number;
}

/** All times are in milliseconds of sound. */
export interface Gate {
  /** Length of the sound so far. */
  readonly now: number;
  readonly isOpen: boolean;
  /** Start of the voice that opened the gate or may open it. */
  readonly onset: number;
  /** End of the last voice. */
  readonly lastVoice: number;
  /** Voice since the onset, while closed. Falls in silence, so that a click is forgotten. */
  readonly voiceMs: number;
  /** Levels in ascending order. A level that is louder and older than another is dropped: it can never be the quietest. */
  readonly room: readonly { readonly db: number; readonly at: number }[];
}

/** Shorter sounds are clicks. */
const openMs = 120;
/** An interruption must be longer and louder than the residue of an echo. */
const interruption = { openMs: 240, moreDb: 6 } as const;
/** The noise level of the room is the quietest moment within this time. */
const roomMs = 3_000;
const quietestDb = -70;
/** Bounds of the threshold, in the quietest and the loudest room. */
const thresholdDb = { min: -52, max: -20 } as const;
/** A muted microphone is this quiet; its level says nothing about the room. */
const nothingDb = -90;

/** Returns the level in decibels relative to full scale. */
export function levelOf(samples: Float32Array | Int16Array, fullScale = 1): number {
  let sum = 0;
  // eslint-disable-next-line @typescript-eslint/prefer-for-of -- it takes five times as long
  for (let i = 0; i < samples.length; i++) sum += (samples[i] ?? 0) ** 2;
  return 10 * Math.log10(sum / samples.length / fullScale ** 2 + 1e-12);
}

/** Returns the value for a meter: 0 is a quiet room, 1 a loud voice. */
export const loudness = (db: number): number => Math.max(0, Math.min(1, (db + 60) / 45));

export const newGate: Gate = { now: 0, isOpen: false, onset: 0, lastVoice: 0, voiceMs: 0, room: [] };

/** Closes the gate. The level of the room stays known. */
export const closeGate = (gate: Gate): Gate => ({ ...gate, isOpen: false, voiceMs: 0 });

/** Returns the gate after another frame of sound. */
export function pushLevel(gate: Gate, db: number, ms: number, options: GateOptions): Gate {
  const { pauseMs, marginDb = 12, isSpeaking = false, echoDb = -Infinity } = options;
  const needed = isSpeaking ? interruption : { openMs, moreDb: 0 };
  const now = gate.now + ms;
  const room = roomAt(now, db, gate.room);
  const isVoice = db > Math.max(thresholdOf(room, marginDb, needed.moreDb), Math.min(thresholdDb.max, echoDb));
  const next = { ...gate, now, room, lastVoice: isVoice ? now : gate.lastVoice };
  if (gate.isOpen) return now - next.lastVoice < pauseMs ? next : closeGate(next);
  const voiceMs = isVoice ? gate.voiceMs + ms : Math.max(0, gate.voiceMs - ms);
  const onset = isVoice && gate.voiceMs === 0 ? gate.now : gate.onset;
  return { ...next, onset, voiceMs, isOpen: voiceMs >= needed.openMs };
}

function roomAt(now: number, db: number, room: Gate['room']): Gate['room'] {
  const recent = room.filter(({ at }) => at >= now - roomMs);
  if (db <= nothingDb) return recent;
  return [...recent.filter((quieter) => quieter.db < db), { db, at: now }];
}

/** Neither a loud room nor an answer may make a voice undetectable, so the upper bound applies to the sum. */
function thresholdOf(room: Gate['room'], marginDb: number, moreDb: number): number {
  const floor = Math.max(quietestDb, room[0]?.db ?? quietestDb);
  return Math.min(thresholdDb.max, Math.max(thresholdDb.min, floor + marginDb) + moreDb);
}
