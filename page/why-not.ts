/** Why something cannot be used now, and what to press or type. Undefined: it can be used. */
import { signal } from '@preact/signals';
import { announce } from './announcements.ts';
import { textOfCaptureProblem } from './capture-checks.ts';
import { isPreparing, type Capability } from './choices.ts';
import { isWorking } from './cancel.ts';
import { draft } from './draft.ts';
import { chosen, isKeyMissing, listings } from './listings.ts';
import { captureProblem, isImpossible } from './microphone.ts';

type Reason = string | undefined;

const nothingDoes: Readonly<Record<Capability, string>> = {
  transcription: 'Nothing can transcribe yet',
  chat: 'No chat model can answer yet',
  speech: 'No voice is there yet',
};

export function whyNot(capability: Capability): Reason {
  const entry = chosen.value[capability];
  if (entry?.available) return undefined;
  if (!listings.value) return isKeyMissing.value ? 'This service needs a key.' : 'The service has not answered yet.';
  if (listings.value[capability].refusal !== undefined) return listings.value[capability].refusal;
  if (entry && isPreparing(entry)) return entry.reason;
  return `${nothingDoes[capability]}: see “What to do next”.`;
}

export const whyNotSend = (): Reason =>
  whyNot('chat') ?? (draft.value.trim() === '' ? 'Type or speak a message first.' : undefined);

export const whyNotReadAloud = (): Reason =>
  whyNot('speech') ?? (draft.value.trim() === '' ? 'Type a text first.' : undefined);

export const whyNotRecord = (): Reason =>
  isImpossible() && captureProblem.value
    ? textOfCaptureProblem(captureProblem.value, location)
    : whyNot('transcription');

export const whyNotNow = (): Reason => (isWorking.value ? 'Something is at work: Cancel (Esc) stops it.' : undefined);

/** The last one that was asked for, by a press on what cannot be used; until the next press. */
export const explained = signal<Reason>(undefined);

export function explain(reason: string): void {
  explained.value = reason;
  announce(reason);
}

export function forgetExplanations(): void {
  for (const event of ['pointerdown', 'keydown'] as const) {
    document.addEventListener(event, () => (explained.value = undefined), { capture: true });
  }
}
