/** Takes files that the user chooses, or drops or pastes anywhere on the page. */
import { signal } from '@preact/signals';
import { createRef } from 'preact';
import { takeFile } from '../dictation.ts';
import { canTranscribe } from '../listings.ts';
import { acceptedFiles } from '../reader/jobs.ts';
import { explain, whyNotFile } from '../why-not.ts';

const isOver = signal(false);

const input = createRef<HTMLInputElement>();

/** Call only in a click handler. */
export const chooseFile = (): void => input.current?.click();

export function takeFilesAnywhere(): void {
  document.addEventListener('dragover', (event) => {
    event.preventDefault();
    isOver.value = true;
  });
  document.addEventListener('dragleave', ({ relatedTarget }) => {
    if (!relatedTarget) isOver.value = false; // the drag has left the window
  });
  document.addEventListener('drop', (event) => {
    event.preventDefault(); // a drop that is not taken would navigate away
    isOver.value = false;
    take(event.dataTransfer);
  });
  document.addEventListener('paste', (event) => {
    if (take(event.clipboardData)) event.preventDefault();
  });
}

/** Returns whether there was a file. */
function take(source: Pick<HTMLInputElement, 'files'> | null): boolean {
  const [file] = source?.files ?? [];
  if (!file) return false;
  const reason = whyNotFile();
  if (reason === undefined) void takeFile(file);
  else explain(reason);
  return true;
}

export function Files() {
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept="audio/*,video/*,.oga,.opus,.m4a"
        onChange={({ currentTarget }) => {
          take(currentTarget);
          currentTarget.value = ''; // the same file may be chosen again
        }}
      />
      {isOver.value && (
        <div class="drop" aria-hidden="true">
          <p>{canTranscribe.value ? 'Drop a recording to transcribe it.' : 'Transcription is not set up yet.'}</p>
          {canTranscribe.value && <p class="small">{acceptedFiles}</p>}
        </div>
      )}
    </>
  );
}
