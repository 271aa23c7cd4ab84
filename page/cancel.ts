/** Everything that can be stopped, and the one way to stop it. */
import { computed } from '@preact/signals';
import { dictation, dropDictation } from './dictation.ts';
import { handsFree, interrupt, stopListening } from './hands-free.ts';
import { transcribing } from './transcription.ts';
import { isAnswering } from './run.ts';
import { speaking } from './playback.ts';
import { announce } from './announcements.ts';

/** Anything but speech, which the next question may interrupt. */
export const isWorking = computed(
  () => dictation.value !== 'off' || transcribing.value !== undefined || isAnswering.value || handsFree.value !== 'off',
);

export const isBusy = computed(() => isWorking.value || speaking.value !== undefined);

export function cancel(): void {
  if (!isBusy.value) return;
  dropDictation();
  stopListening('off');
  interrupt();
  announce('Stopped.');
}
