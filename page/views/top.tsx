/** The title bar and the pickers of models and voice. */
import type { ModelEntry } from '../../src/client/index.ts';
import { isPreparing, optionText, placeOf, type Capability } from '../choices.ts';
import { chosen, isKeyMissing, listings } from '../listings.ts';
import { prefer } from '../preferences.ts';
import { saveConversation, startNewConversation } from '../conversation.ts';
import { turns } from '../run.ts';
import { nameOfDefault } from '../voices.ts';
import { whyNot } from '../why-not.ts';
import { Action } from './action.tsx';
import { Icon } from './icons.tsx';
import { isOptionsOpen } from './options.tsx';
import { isVoiceDialogOpen } from './voice-dialog.tsx';

export function Top() {
  return (
    <header class="top">
      <div class="bar">
        <h1>Parlance</h1>
        <nav aria-label="Page">
          <Action class="quiet" whyNot={whyNotYet()} onClick={startNewConversation}>
            <Icon name="fresh" />
            <span class="wide">New conversation</span>
          </Action>
          <Action
            class="quiet"
            whyNot={whyNotYet()}
            title="Save the conversation as Markdown"
            onClick={saveConversation}
          >
            <Icon name="save" />
            <span class="wide">Save</span>
          </Action>
          <button type="button" class="quiet" title="Options" onClick={() => (isOptionsOpen.value = true)}>
            <Icon name="options" />
            <span class="wide">Options</span>
          </button>
          <a class="quiet" href="docs" title="API reference">
            <Icon name="book" />
            <span class="wide">API</span>
          </a>
        </nav>
      </div>
      <div class="pickers">
        <ModelPicker label="Transcription" capability="transcription" preference="transcriptionModel" />
        <ModelPicker label="Chat" capability="chat" preference="chatModel" />
        <ModelPicker label="Speech" capability="speech" preference="speechModel" />
        <VoicePicker />
      </div>
    </header>
  );
}

const whyNotYet = () =>
  turns.value.length === 0 ? 'The conversation is empty. Type or say something first.' : undefined;

interface ModelPickerProps {
  readonly label: string;
  readonly capability: Capability;
  readonly preference: 'transcriptionModel' | 'chatModel' | 'speechModel';
}

function ModelPicker({ label, capability, preference }: ModelPickerProps) {
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
        onChange={({ currentTarget }) => prefer({ [preference]: currentTarget.value })}
      >
        {!entry && <option value="">{listing ? 'None' : isKeyMissing.value ? 'API key required' : 'Loading …'}</option>}
        {listing?.data.map((one) => (
          <option key={one.id} value={one.id} disabled={!one.available}>
            {optionText(one)}
          </option>
        ))}
      </select>
      <p id={`${capability}-note`} class="note">
        {entry ? <EntryNote entry={entry} /> : listing && (listing.refusal ? 'Not allowed for this key' : 'Not set up')}
      </p>
    </div>
  );
}

function EntryNote({ entry }: { readonly entry: ModelEntry }) {
  if (isPreparing(entry)) {
    return (
      <>
        {entry.reason.split(' (')[0] /* the card has the details */}
        <progress {...(typeof entry.progress === 'number' && { value: entry.progress })} aria-label="Installing" />
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

/**
 * A dialog, since some models have more than a hundred voices, and a browser's list can neither be searched nor play a
 * sample.
 */
function VoicePicker() {
  const { speech, voice } = chosen.value;
  const voices = speech?.voices ?? [];
  const current = voices.find(({ id }) => id === voice);
  const name = current?.name ?? (speech ? nameOfDefault(speech) : 'None');
  return (
    <div class="picker">
      <span id="voice-label" class="label">
        Voice
      </span>
      <Action
        id="voice"
        class="select"
        aria-haspopup="dialog"
        aria-labelledby="voice-label voice"
        whyNot={whyNotVoice(voices.length)}
        onClick={() => (isVoiceDialogOpen.value = true)}
      >
        {name}
      </Action>
      <p class="note">{speech && !current && name !== 'Default' && 'default'}</p>
    </div>
  );
}

function whyNotVoice(count: number): string | undefined {
  if (count > 0) return undefined;
  return chosen.value.speech ? 'This model has no voices to choose from.' : whyNot('speech');
}
