/** The transcript that the next question is about. */
import { about } from '../about.ts';
import { keepFocus } from '../draft.ts';
import { timeText } from '../reader/timed-transcript.ts';
import { Icon } from './icons.tsx';

export function AboutNote() {
  if (!about.value) return null;
  const { title, untilMs } = about.value;
  return (
    <div class="about">
      <Icon name="file" />
      <p>
        About <bdi>{title}</bdi>
        {untilMs !== undefined && (
          <span class="small">. It is too long for one message: only its first {timeText(untilMs)} will be sent.</span>
        )}
      </p>
      <button
        type="button"
        class="quiet"
        title="Remove the transcript"
        onClick={() => {
          about.value = undefined;
          keepFocus();
        }}
      >
        <Icon name="close" />
        <span class="unseen">Remove the transcript</span>
      </button>
    </div>
  );
}
