/** A long recording: how far it is, and its transcript. */
import { deleteJob, saveTranscript, type LongRecording as LongRecordingState } from '../long-recordings.ts';
import { FailureText } from './failure-text.tsx';

const formats = ['text', 'srt', 'vtt'] as const;

export function LongRecording({ recording }: { readonly recording: LongRecordingState }) {
  const { name, done, hasText, isOver, failure } = recording;
  return (
    <section class={failure ? 'notice failure' : 'notice'} aria-label={name}>
      <div>
        <p>
          {name}: {textOf(recording)}
        </p>
        {failure && (
          <div {...{ role: 'alert' }}>
            <FailureText failure={failure} />
          </div>
        )}
        {!isOver && <progress aria-label={`Transcription of ${name}`} {...(done !== undefined && { value: done })} />}
        <div class="actions">
          {formats.map((format) => (
            <button
              key={format}
              type="button"
              class="outlined"
              disabled={!hasText}
              onClick={() => void saveTranscript(recording, format)}
            >
              {format === 'text' ? 'Text' : format.toUpperCase()}
            </button>
          ))}
          <button type="button" class="quiet" onClick={() => void deleteJob(recording)}>
            Delete
          </button>
        </div>
      </div>
    </section>
  );
}

function textOf({ done, isOver, failure }: LongRecordingState): string {
  if (failure) return 'transcription failed.';
  if (isOver) return 'transcribed. Available for one hour.';
  return done === undefined ? 'waiting.' : `${Math.round(done * 100)} % transcribed. You can close this page.`;
}
