/** Reasons why a control is disabled, and what to do about it. Undefined if the control is enabled. */
import { signal } from '@preact/signals';
import { announce } from './announcements.ts';
import { textOfCaptureProblem } from './capture-checks.ts';
import { isPreparing, type Capability } from './choices.ts';
import { isWorking } from './cancel.ts';
import { draft } from './draft.ts';
import { chosen, isKeyMissing, listings } from './listings.ts';
import { captureProblem, isImpossible } from './microphone.ts';

type Reason = string | undefined;

const notSetUp: Readonly<Record<Capability, string>> = {
  transcription: 'Transcription is not set up yet',
  chat: 'Chat is not set up yet',
  speech: 'No voice is set up yet',
};

export function whyNot(capability: Capability): Reason {
  const entry = chosen.value[capability];
  if (entry?.available) return undefined;
  if (!listings.value) return isKeyMissing.value ? 'This service requires an API key.' : 'Waiting for the service.';
  if (listings.value[capability].refusal !== undefined) return listings.value[capability].refusal;
  if (entry && isPreparing(entry)) return entry.reason;
  return `${notSetUp[capability]}. See “Get started”.`;
}

export const whyNotSend = (text = draft.value): Reason =>
  whyNot('chat') ?? (text.trim() === '' ? 'Type or say a message first.' : undefined);

export const whyNotReadAloud = (): Reason =>
  whyNot('speech') ?? (draft.value.trim() === '' ? 'Type some text first.' : undefined);

export const whyNotRecord = (): Reason =>
  isImpossible() && captureProblem.value ? textOfCaptureProblem(captureProblem.value) : whyNot('transcription');

export const whyNotNow = (): Reason => (isWorking.value ? 'Cancel what is running first (Esc).' : undefined);

export const whyNotFile = (): Reason => whyNot('transcription') ?? whyNotNow();

/** Why the control that was pressed last is disabled; undefined after the next press. */
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
