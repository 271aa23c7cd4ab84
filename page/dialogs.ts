/** Which dialogs are open. */
import { signal } from '@preact/signals';

export const isModelsOpen = signal(false);
export const isOptionsOpen = signal(false);
export const isVoiceDialogOpen = signal(false);
