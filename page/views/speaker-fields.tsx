/** The choice of how the speakers of files are distinguished. */
import { canDistinguish, takesSpeakerCount } from '../choices.ts';
import { prefer, preferences } from '../preferences.ts';
import { speakerCounts, speakerModes, type SpeakerMode } from '../preference-storage.ts';
import { preparations } from '../preparations.ts';
import type { ModelEntry } from '../../src/client/index.ts';
import { Offer } from './offer.tsx';

const modeNames: Readonly<Record<SpeakerMode, string>> = {
  voice: 'By voice',
  channel: 'By channel (phone calls in stereo)',
};

export function SpeakerFields({ entry }: { readonly entry: ModelEntry }) {
  const modes = speakerModes.filter((mode) => canDistinguish(entry, mode));
  const { speakers } = preferences.value;
  const mode = modes.find((one) => one === speakers) ?? '';
  return (
    <>
      <div class="field">
        <label for="speakers">
          Speakers in files {modes.length === 0 && <span class="small">not possible with this model</span>}
        </label>
        <select
          id="speakers"
          disabled={modes.length === 0}
          aria-describedby="speakers-note"
          value={mode}
          onChange={({ currentTarget: { selectedIndex } }) => prefer({ speakers: modes[selectedIndex - 1] ?? '' })}
        >
          <option value="">Not distinguished</option>
          {modes.map((one) => (
            <option key={one} value={one}>
              {modeNames[one]}
            </option>
          ))}
        </select>
        <p id="speakers-note" class="note" aria-live="polite">
          {mode !== speakers &&
            `This model cannot distinguish speakers by ${speakers}. It transcribes files without speakers.`}
        </p>
      </div>
      {mode === 'voice' && takesSpeakerCount(entry) && <Count />}
      {takesSpeakerCount(entry) && !modes.includes('voice') && <Missing />}
    </>
  );
}

const counts = Array.from({ length: speakerCounts.max - speakerCounts.min + 1 }, (_, n) => speakerCounts.min + n);

function Count() {
  return (
    <div class="field">
      <label for="speaker-count">Number of speakers</label>
      <select
        id="speaker-count"
        value={preferences.value.speakerCount ?? ''}
        onChange={({ currentTarget: { selectedIndex } }) => prefer({ speakerCount: counts[selectedIndex - 1] })}
      >
        <option value="">Automatic</option>
        {counts.map((count) => (
          <option key={count} value={count}>
            {count}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The models that distinguish voices, which can be installed. */
function Missing() {
  const offer = preparations.value?.data.find(({ id, state }) => id === 'speakers' && state !== 'ready');
  return offer ? <Offer preparation={offer} /> : null;
}
