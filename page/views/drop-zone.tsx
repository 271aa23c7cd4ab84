/** Files that are dropped or pasted anywhere on the page. A drop that is not taken would navigate away. */
import { signal } from '@preact/signals';
import { isWorking } from '../cancel.ts';
import { takeFile } from '../dictation.ts';
import { canTranscribe } from '../listings.ts';
import { acceptedFiles } from '../reader/jobs.ts';

const isOver = signal(false);

export function takeFilesAnywhere(): void {
  document.addEventListener('dragover', (event) => {
    event.preventDefault();
    isOver.value = true;
  });
  document.addEventListener('dragleave', ({ relatedTarget }) => {
    if (!relatedTarget) isOver.value = false; // it has left the window
  });
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    isOver.value = false;
    take(event.dataTransfer);
  });
  document.addEventListener('paste', (event) => {
    if (take(event.clipboardData)) event.preventDefault();
  });
}

function take(data: DataTransfer | null): boolean {
  const [file] = data?.files ?? [];
  if (!file || !canTranscribe.value || isWorking.value) return false;
  void takeFile(file);
  return true;
}

export function DropZone() {
  if (!isOver.value) return null;
  return (
    <div class="drop" aria-hidden="true">
      <p>{canTranscribe.value ? 'Drop a recording to transcribe it.' : 'Transcription is not set up yet.'}</p>
      {canTranscribe.value && <p class="small">{acceptedFiles}</p>}
    </div>
  );
}
