/** The title, and who hears, answers and speaks. */
import type { ModelEntry, SpeechModelEntry } from '../../src/client/index.ts';
import { isPreparing, optionText, placeOf, type Capability } from '../choices.ts';
import { chosen, isKeyMissing, listings } from '../listings.ts';
import { prefer } from '../preferences.ts';
import { startOver, turns } from '../run.ts';
import { Icon } from './icons.tsx';
import { isOptionsOpen } from './options.tsx';

export function Top() {
  return (
    <header class="top">
      <div class="bar">
        <h1>Parlance</h1>
        <nav aria-label="Page">
          <button type="button" class="quiet" disabled={turns.value.length === 0} onClick={startOver}>
            <Icon name="fresh" />
            <span class="wide">New conversation</span>
          </button>
          <button type="button" class="quiet" onClick={() => (isOptionsOpen.value = true)}>
            <Icon name="options" />
            <span class="wide">Options</span>
          </button>
          <a class="quiet" href="docs">
            <Icon name="book" />
            <span class="wide">API</span>
          </a>
        </nav>
      </div>
      <div class="pickers">
        <ModelPicker label="Hears" capability="transcription" wanted="transcriptionModel" />
        <ModelPicker label="Answers" capability="chat" wanted="chatModel" />
        <ModelPicker label="Speaks" capability="speech" wanted="speechModel" />
        <VoicePicker />
      </div>
    </header>
  );
}

interface ModelPickerProps {
  readonly label: string;
  readonly capability: Capability;
  readonly wanted: 'transcriptionModel' | 'chatModel' | 'speechModel';
}

function ModelPicker({ label, capability, wanted }: ModelPickerProps) {
  const listing = listings.value?.[capability];
  const entry = chosen.value[capability];
  return (
    <div class="picker">
      <label for={capability}>{label}</label>
      <select
        id={capability}
        disabled={!entry}
        value={entry?.id ?? ''}
        aria-describedby={`${capability}-note`}
        onChange={({ currentTarget }) => prefer({ [wanted]: currentTarget.value })}
      >
        {!entry && <option value="">{listing ? 'None' : isKeyMissing.value ? 'Needs a key' : 'Looking …'}</option>}
        {listing?.data.map((one) => (
          <option key={one.id} value={one.id} disabled={!one.available}>
            {optionText(one)}
          </option>
        ))}
      </select>
      <p id={`${capability}-note`} class="note">
        {entry ? <EntryNote entry={entry} /> : listing && (listing.refusal ? 'Not for this key' : 'Not set up')}
      </p>
    </div>
  );
}

function EntryNote({ entry }: { readonly entry: ModelEntry }) {
  if (isPreparing(entry)) {
    return (
      <>
        {entry.reason}
        <progress {...(typeof entry.progress === 'number' && { value: entry.progress })} aria-label="Preparing" />
      </>
    );
  }
  if (!entry.available) return <>Not available</>; // the reason, which may be long, is with what to do next
  return (
    <span class={entry.local ? 'place' : 'place away'}>
      <Icon name={entry.local ? 'here' : 'away'} />
      {placeOf(entry)}
    </span>
  );
}

function VoicePicker() {
  const voices = chosen.value.speech?.voices ?? [];
  return (
    <div class="picker">
      <label for="voice">Voice</label>
      <select
        id="voice"
        disabled={voices.length === 0}
        value={chosen.value.voice ?? ''}
        onChange={({ currentTarget }) => prefer({ voice: currentTarget.value })}
      >
        <option value="">Default</option>
        {voices.map((voice) => (
          <option key={voice.id} value={voice.id}>
            {nameOf(voice)}
          </option>
        ))}
      </select>
    </div>
  );
}

const nameOf = ({ name, language }: SpeechModelEntry['voices'][number]) =>
  language === null ? name : `${name} (${language})`;
