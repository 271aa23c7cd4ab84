/** Everything that can be stopped, and the one way to stop it. */
import { computed } from '@preact/signals';
import { dictation, dropDictation } from './dictation.ts';
import { handsFree, interrupt, stopListening } from './hands-free.ts';
import { transcribing } from './transcription.ts';
import { isAnswering } from './run.ts';
import { speaking } from './playback.ts';
import { announce } from './announcements.ts';

/**
 * True while the page records, transcribes or is in hands-free mode. The next question interrupts none of these, only
 * an answer and its speech.
 */
export const isTakingSpeech = computed(
  () => dictation.value !== 'off' || transcribing.value !== undefined || handsFree.value !== 'off',
);

export const isWorking = computed(() => isTakingSpeech.value || isAnswering.value);

export const isBusy = computed(() => isWorking.value || speaking.value !== undefined);

export function cancel(): void {
  if (!isBusy.value) return;
  dropDictation();
  stopListening('off');
  interrupt();
  announce('Stopped.');
}
