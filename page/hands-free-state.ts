/** The states of hands-free mode, and what the user can do in each. Pure. */
import type { BargeIn } from './preference-storage.ts';

/** `failed`: there is no microphone. */
export type HandsFree = 'off' | 'asking' | 'listening' | 'hearing' | 'thinking' | 'speaking' | 'muted' | 'failed';

export interface Facts {
  /** The microphone: `failed` if it was refused or disconnected. */
  readonly microphone: 'off' | 'asking' | 'on' | 'failed';
  readonly isMuted: boolean;
  /** An utterance has begun and not yet ended. */
  readonly isRecording: boolean;
  /** True if an utterance is being transcribed or answered. */
  readonly isAtWork: boolean;
  /** True if a sound is playing or loading. */
  readonly isSpeaking: boolean;
}

/**
 * An answer may play while it is still being written, and what was said before the microphone failed is still answered.
 */
export function stateOf({ microphone, isMuted, isRecording, isAtWork, isSpeaking }: Facts): HandsFree {
  if (microphone === 'off' || microphone === 'asking') return microphone;
  if (microphone === 'on' && isRecording && !isMuted) return 'hearing';
  if (isSpeaking) return 'speaking';
  if (isAtWork) return 'thinking';
  if (microphone === 'failed') return 'failed';
  return isMuted ? 'muted' : 'listening';
}

interface Reactions {
  /** The effect of an utterance. Absent in states in which the microphone is paused. */
  readonly voice?: 'record' | 'interrupt';
  /** The effect of the large button. */
  readonly press?: 'interrupt' | 'retry';
}

const reactions: Readonly<Record<HandsFree, Reactions>> = {
  off: {},
  asking: {},
  listening: { voice: 'record' },
  hearing: { voice: 'record' },
  thinking: { press: 'interrupt' },
  speaking: { voice: 'interrupt', press: 'interrupt' },
  muted: {},
  failed: { press: 'retry' },
};

export const onVoice = (state: HandsFree): Reactions['voice'] => reactions[state].voice;
export const onPress = (state: HandsFree): Reactions['press'] => reactions[state].press;

export interface Hearing {
  readonly state: HandsFree;
  readonly isMuted: boolean;
  readonly canInterrupt: boolean;
}

/** Whether the page listens to the microphone. */
export function isOpen({ state, isMuted, canInterrupt }: Hearing): boolean {
  const reaction = onVoice(state);
  return !isMuted && reaction !== undefined && (reaction === 'record' || canInterrupt);
}

/**
 * Whether the user can interrupt by speaking. Without echo cancellation, an answer from loudspeakers would interrupt
 * itself.
 */
export const canInterrupt = (bargeIn: BargeIn, cancelsEcho: boolean): boolean =>
  bargeIn === 'always' || (bargeIn === 'automatic' && cancelsEcho);
