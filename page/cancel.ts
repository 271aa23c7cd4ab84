/** Everything that can be stopped, and the one way to stop it. */
import { computed } from '@preact/signals';
import { dictation, dropDictation } from './dictation.ts';
import { handsFree, stopHandsFree } from './hands-free.ts';
import { stopTranscribing, transcribing } from './hearing.ts';
import { isAnswering, stopAnswer } from './run.ts';
import { hush, speaking } from './speaker.ts';
import { say } from './status.ts';

export const isBusy = computed(
  () =>
    dictation.value !== 'off' ||
    transcribing.value !== undefined ||
    isAnswering.value ||
    speaking.value !== undefined ||
    handsFree.value === 'asking',
);

export function cancel(): void {
  if (!isBusy.value && handsFree.value === 'off') return;
  dropDictation();
  stopTranscribing();
  stopHandsFree();
  stopAnswer();
  hush();
  say('Stopped.');
}
