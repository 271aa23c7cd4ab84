/**
 * Finds the turns in a stream of audio by its level and, if installed, by a speech detector, which is queried only
 * while the level is high. Pure: `next` returns the new state and the effects. All times are in milliseconds of audio
 * since the start of the session, so they do not depend on how and when the audio arrives.
 */
import type { Span } from '../../engines/contract/index.ts';
import { closeGate, newGate, pushLevel, type Gate } from '../../lib/voice-gate.ts';

export interface TurnDetection {
  /** From 0 to 1: how much louder than the room a voice must be, from 6 to 18 dB. */
  readonly threshold: number;
  /** Milliseconds of audio before the first voice that belong to the turn. */
  readonly prefixMs: number;
  /** Milliseconds of silence that end a turn. */
  readonly silenceMs: number;
}

export type DetectorEvent =
  /** `answerDb`: the mean level of the answer that is playing; undefined if none is. */
  | { readonly type: 'frame'; readonly db: number; readonly ms: number; readonly answerDb?: number | undefined }
  /**
   * The answer to `ask`: the speech in the last `windowMs`; undefined without an answer. This must be the next event
   * after `ask`.
   */
  | { readonly type: 'answer'; readonly speech: readonly Span[] | undefined }
  /** No audio has arrived for a while. */
  | { readonly type: 'stall' }
  | { readonly type: 'commit' }
  | { readonly type: 'clear' }
  | { readonly type: 'configure'; readonly detection: TurnDetection | null };

export type TurnEffect =
  /** A turn begins with the audio since `fromMs`; all audio up to its end belongs to it. */
  | { readonly type: 'record'; readonly fromMs: number }
  | { readonly type: 'started' | 'stopped'; readonly ms: number }
  /** The turn is over. Without speech, its transcript is empty. */
  | { readonly type: 'commit'; readonly hasSpeech: boolean }
  /** The turn is discarded. */
  | { readonly type: 'forget' }
  /** The silence may be the end of the turn, so its transcription may begin. */
  | { readonly type: 'pause' }
  /** The speech continued after a `pause`. */
  | { readonly type: 'resume' }
  /** Asks the speech detector whether there is speech in the last `windowMs`. */
  | { readonly type: 'ask' }
  /** The turn accepts no more audio. */
  | { readonly type: 'full' }
  /** The first voice in a turn that the client commits. */
  | { readonly type: 'voice' };

interface Turn {
  readonly startMs: number;
  readonly voiceMs: number;
  readonly isStarted: boolean;
  readonly hasSpeech: boolean;
  /** End of the last speech that the detector found. */
  readonly speechMs: number;
  readonly isPaused: boolean;
  readonly isFull: boolean;
}

export interface TurnState {
  /** null if the client commits the turns. */
  readonly detection: TurnDetection | null;
  readonly gate: Gate;
  readonly turn: Turn | undefined;
  /** The end of the last turn or the time of a `clear`: no later turn begins before it. */
  readonly floorMs: number;
  /** Time of the next `ask`; Infinity without a detector. */
  readonly askAtMs: number;
  /** Unanswered `ask` effects since the last fallback to the level. */
  readonly missed: number;
  /** Until this time, the level alone decides, because the detector was too slow. */
  readonly byLevelUntilMs: number;
  readonly isAnswerPlaying: boolean;
  /** Consecutive answers with speech, while no turn is open. */
  readonly found: number;
}

export interface Transition {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}

/** With less audio, the detector mistakes more noise for speech. */
export const windowMs = 2_000;
const maxTurnMs = 60_000;
const maxUncommittedMs = 600_000;
export const minCommitMs = 100;
const pauseMs = 200;
/** In shorter turns, recognizers hallucinate words. */
const minVoiceMs = 250;
/** Interval between `ask` effects while no turn is open, and within a turn. */
const askMs = { closed: 100, open: 300 } as const;
/** After this many `ask` effects without an answer, the level alone decides for a minute. */
const maxMissed = 3;
const byLevelMs = 60_000;
/** Speech that ends this close to the end of the window counts as ongoing. */
const edgeMs = 20;
/** An answer that is playing is interrupted only if the detector finds speech this many times in a row. */
const foundInAnswer = 2;
/** The echo of an answer is 20 dB quieter than the answer, and some of its syllables are 4 dB above its mean level. */
const echoDistanceDb = 16;

export function newTurnState(detection: TurnDetection | null, { hasDetector }: { hasDetector: boolean }): TurnState {
  const asked = { askAtMs: hasDetector ? 0 : Infinity, missed: 0, byLevelUntilMs: 0, found: 0 };
  return { detection, gate: newGate, turn: undefined, floorMs: 0, isAnswerPlaying: false, ...asked };
}

export function next(state: TurnState, event: DetectorEvent): Transition {
  switch (event.type) {
    case 'frame':
      return onFrame(state, event);
    case 'answer':
      return onAnswer(state, event.speech);
    case 'stall':
      return state.turn && state.detection ? endInSilence(state, state.turn, state.gate.lastVoice) : still(state);
    case 'commit':
      return onCommit(state);
    case 'clear':
      return { state: closed(state), effects: state.turn ? [{ type: 'forget' }] : [] };
    case 'configure':
      return onConfigure(state, event.detection);
  }
}

const hasSpeech = (turn: Turn): boolean => turn.hasSpeech || turn.voiceMs >= minVoiceMs;

const still = (state: TurnState): Transition => ({ state, effects: [] });

function onFrame(before: TurnState, { db, ms, answerDb }: Extract<DetectorEvent, { type: 'frame' }>): Transition {
  const { detection } = before;
  const isAnswerPlaying = answerDb !== undefined;
  const gate = pushLevel(before.gate, db, ms, {
    pauseMs: detection?.silenceMs ?? Infinity,
    marginDb: 6 + 12 * (detection?.threshold ?? 0.5),
    ...(isAnswerPlaying && { isSpeaking: true, echoDb: answerDb - echoDistanceDb }),
  });
  const state = { ...before, gate, isAnswerPlaying, found: gate.isOpen ? before.found : 0 };
  if (before.turn) {
    const voiceMs = before.turn.voiceMs + (gate.lastVoice === gate.now ? ms : 0);
    const step = onFrameOfTurn(state, { ...before.turn, voiceMs });
    return detection || before.turn.voiceMs > 0 ? step : withVoice(step);
  }
  if (!detection) return withVoice(open(state, { startMs: before.gate.now, hasSpeech: true, isStarted: false }));
  if (!gate.isOpen) return still(state);
  if (decidesByLevel(state)) return start(state, detection, gate.onset);
  return gate.now < state.askAtMs ? still(state) : ask(state, askMs.closed);
}

const decidesByLevel = ({ askAtMs, byLevelUntilMs, gate }: TurnState): boolean =>
  askAtMs === Infinity || gate.now < byLevelUntilMs;

function withVoice({ state, effects }: Transition): Transition {
  return { state, effects: state.turn && state.turn.voiceMs > 0 ? [...effects, { type: 'voice' }] : effects };
}

function onFrameOfTurn(state: TurnState, turn: Turn): Transition {
  const { detection, gate } = state;
  const { now } = gate;
  if (!detection) {
    const isFull = now - turn.startMs >= maxUncommittedMs;
    return {
      state: { ...state, turn: { ...turn, isFull } },
      effects: isFull && !turn.isFull ? [{ type: 'full' }] : [],
    };
  }
  const silenceMs = now - gate.lastVoice;
  if (silenceMs >= detection.silenceMs) return endInSilence(state, turn, gate.lastVoice);
  if (now - turn.startMs >= maxTurnMs) return split(state, turn);
  const isPaused = silenceMs >= pauseMs && hasSpeech(turn);
  const changed = isPaused === turn.isPaused ? [] : [{ type: isPaused ? 'pause' : 'resume' } as const];
  const step = { ...state, turn: { ...turn, isPaused } };
  if (now < state.askAtMs) return { state: step, effects: changed };
  const asking = ask(step, askMs.open);
  return { ...asking, effects: [...changed, ...asking.effects] };
}

function ask(state: TurnState, nextMs: number): Transition {
  return { state: askAfter(state, nextMs), effects: [{ type: 'ask' }] };
}

function askAfter(state: TurnState, ms: number): TurnState {
  const { askAtMs, byLevelUntilMs, gate } = state;
  return { ...state, askAtMs: askAtMs === Infinity ? Infinity : Math.max(gate.now + ms, byLevelUntilMs) };
}

function missAnswer(state: TurnState): TurnState {
  const missed = state.missed + 1;
  if (missed < maxMissed) return { ...state, missed };
  return askAfter({ ...state, missed: 0, byLevelUntilMs: state.gate.now + byLevelMs }, 0);
}

function onAnswer(before: TurnState, speech: readonly Span[] | undefined): Transition {
  const { detection, gate, turn } = before;
  if (!detection) return still(before);
  if (speech === undefined) {
    const state = missAnswer(before);
    return turn || !gate.isOpen ? still(state) : start(state, detection, gate.onset);
  }
  const last = speech.at(-1) ?? { startMs: 0, endMs: 0 };
  if (!turn) {
    const isSpeech = gate.isOpen && last.endMs >= gate.now - edgeMs;
    const found = isSpeech ? before.found + 1 : 0;
    const isEnough = found >= (before.isAnswerPlaying ? foundInAnswer : 1);
    return isEnough ? start(before, detection, Math.max(gate.onset, last.startMs), true) : still({ ...before, found });
  }
  const speechMs = Math.max(turn.speechMs, last.endMs);
  const known = { ...turn, speechMs, hasSpeech: turn.hasSpeech || last.endMs > turn.startMs };
  if (gate.now - speechMs >= detection.silenceMs) return endInSilence(before, known, speechMs);
  return still({ ...before, turn: known });
}

function onCommit(state: TurnState): Transition {
  const { turn, gate } = state;
  if (!turn || gate.now - turn.startMs < minCommitMs) return still(state);
  return end(state, { ...turn, hasSpeech: true }, gate.now);
}

/** Applies a new configuration. An open turn continues. */
function onConfigure(before: TurnState, detection: TurnDetection | null): Transition {
  const { turn } = before;
  const state = { ...before, detection };
  if (!turn || !detection || turn.isStarted) return still(state);
  if (turn.voiceMs === 0) return { state: { ...state, turn: undefined }, effects: [{ type: 'forget' }] };
  const { startMs } = turn;
  return { state: { ...state, turn: { ...turn, isStarted: true } }, effects: [{ type: 'started', ms: startMs }] };
}

/** Starts a turn. The voice may have begun at `onsetMs`. */
function start(state: TurnState, { prefixMs }: TurnDetection, onsetMs: number, hasSpeech = false): Transition {
  const onset = Math.max(onsetMs, state.gate.now - windowMs);
  return open(state, { startMs: Math.max(state.floorMs, onset - prefixMs), hasSpeech, isStarted: true });
}

function open(
  state: TurnState,
  { startMs, hasSpeech, isStarted }: Pick<Turn, 'startMs' | 'hasSpeech' | 'isStarted'>,
): Transition {
  const { now, voiceMs } = state.gate;
  const turn = { startMs, voiceMs, isStarted, hasSpeech, speechMs: now, isPaused: false, isFull: false };
  const started = isStarted ? [{ type: 'started', ms: startMs } as const] : [];
  return {
    state: { ...askAfter(state, askMs.open), turn, found: 0 },
    effects: [{ type: 'record', fromMs: startMs }, ...started],
  };
}

function endInSilence(state: TurnState, turn: Turn, lastMs: number): Transition {
  const { detection, gate } = state;
  return end(state, turn, Math.min(gate.now, lastMs + (detection?.silenceMs ?? 0)));
}

function end(state: TurnState, turn: Turn, ms: number): Transition {
  const stopped = turn.isStarted ? [{ type: 'stopped', ms } as const] : [];
  return { state: closed(state), effects: [...stopped, { type: 'commit', hasSpeech: hasSpeech(turn) }] };
}

/** Ends a turn that has reached the maximum length, and starts the next one, because the speech continues. */
function split(state: TurnState, turn: Turn): Transition {
  const { now } = state.gate;
  const ended = end(state, turn, now);
  const { state: opened, effects } = open(ended.state, { startMs: now, hasSpeech: false, isStarted: true });
  return { state: opened, effects: [...ended.effects, ...effects] };
}

function closed(state: TurnState): TurnState {
  return { ...askAfter(state, 0), gate: closeGate(state.gate), turn: undefined, floorMs: state.gate.now };
}
