/** The speakers of a transcript, whom the user can name. */
import { renameSpeaker } from '../reader/recordings.ts';
import type { Recording } from '../reader/recording.ts';
import { clock, longestName, type Speaker } from '../reader/timed-transcript.ts';
import { Dialog } from './dialog.tsx';

/** Hues far apart: the golden angle, in degrees. The first one is that of the page. */
const [firstHue, hueStep] = [165, 137.5];

interface NameProps {
  readonly speakers: readonly Speaker[];
  readonly label: string;
  /** Undefined if the button is not in the tab order and the transcript takes its clicks. */
  readonly onClick?: () => void;
}

export function Name({ speakers, label, onClick }: NameProps) {
  const index = speakers.findIndex(({ speaker }) => speaker === label);
  const { name = label, speech_ms: ms = 0 } = speakers[index] ?? {};
  return (
    <button
      type="button"
      class={onClick ? 'outlined name' : 'quiet name'}
      title="Rename"
      tabIndex={onClick ? 0 : -1}
      style={{ '--hue': firstHue + hueStep * index }}
      onClick={onClick}
    >
      <strong>
        <bdi>{name}</bdi>
      </strong>
      {onClick && <span class="small"> {clock(ms)}</span>}
    </button>
  );
}

interface SpeakersProps {
  readonly recording: Recording;
  /** The label of the speaker who is being named. */
  readonly named: string | undefined;
  readonly setNamed: (label: string | undefined) => void;
}

export function Speakers({ recording: { id, transcript }, named, setNamed }: SpeakersProps) {
  const { speakers = [] } = transcript;
  if (speakers.length === 0) return null;
  const close = () => setNamed(undefined);
  return (
    <>
      <div class="actions" role="group" aria-label="Speakers, with their speaking time">
        {speakers.map(({ speaker }) => (
          <Name key={speaker} speakers={speakers} label={speaker} onClick={() => setNamed(speaker)} />
        ))}
      </div>
      <Dialog id="speaker" title="Name of the speaker" isOpen={named !== undefined} close={close}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const value = new FormData(event.currentTarget).get('name');
            if (named !== undefined && typeof value === 'string') void renameSpeaker(id, named, value.trim());
            close();
          }}
        >
          <label for="speaker-name">Name</label>
          <input
            id="speaker-name"
            name="name"
            maxLength={longestName}
            placeholder={named}
            autocomplete="off"
            autofocus
            defaultValue={speakers.find(({ speaker }) => speaker === named)?.name}
          />
          <p class="note">Kept in this browser, with the transcript. Leave it empty for “{named}”.</p>
          <div class="actions end">
            <button type="button" class="quiet" onClick={close}>
              Cancel
            </button>
            <button type="submit" class="filled">
              Save
            </button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
