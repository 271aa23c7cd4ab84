/** Views that are loaded when one of them is opened for the first time: most visits need none of them. */
import { computed, effect, signal } from '@preact/signals';
import { isModelsOpen, isOptionsOpen, isVoiceDialogOpen } from '../dialogs.ts';
import { closeRecording, opened } from '../reader/recordings.ts';
import type { Recording } from '../reader/recording.ts';
import { explain } from '../why-not.ts';

const views = signal<typeof import('./later-views.ts') | undefined>(undefined);

const dialogs = [isModelsOpen, isOptionsOpen, isVoiceDialogOpen] as const;
const isWanted = computed(() => opened.value !== undefined || dialogs.some(({ value }) => value));

effect(() => {
  if (isWanted.value && !views.peek()) void load();
});

async function load(): Promise<void> {
  try {
    views.value = await import('./later-views.ts');
  } catch {
    for (const isOpen of dialogs) isOpen.value = false;
    closeRecording();
    explain('This part of the page could not be loaded. Check that the service is running, and try again.');
  }
}

export function Dialogs() {
  if (!views.value) return null;
  const { ModelsDialog, Options, VoiceDialog } = views.value;
  return (
    <>
      <ModelsDialog />
      <Options />
      <VoiceDialog />
    </>
  );
}

export function Reader({ recording }: { readonly recording: Recording }) {
  return views.value ? <views.value.Reader recording={recording} /> : <main aria-busy="true" />;
}
