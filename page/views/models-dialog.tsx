/** The choice of the models, the voice, and what is sent with each recording. */
import type { ComponentChildren } from 'preact';
import type { ModelEntry } from '../../src/client/index.ts';
import { isPreparing, knowsLanguage, optionText, placeOf, takesKeywords, type Capability } from '../choices.ts';
import { isModelsOpen, isVoiceDialogOpen } from '../dialogs.ts';
import { languagesOf, nameOfLanguage } from '../languages.ts';
import { chosen, listings } from '../listings.ts';
import { preferenceOf, purposes } from '../missing.ts';
import { prefer, preferences } from '../preferences.ts';
import { longestKeywords } from '../preference-storage.ts';
import { nameOfDefault } from '../voices.ts';
import { whyNot } from '../why-not.ts';
import { Action } from './action.tsx';
import { Dialog, Done } from './dialog.tsx';
import { Icon } from './icons.tsx';
import { SpeakerFields } from './speaker-fields.tsx';

export function ModelsDialog() {
  const close = () => (isModelsOpen.value = false);
  const { transcription } = chosen.value;
  return (
    <Dialog id="models" title="Models" isOpen={isModelsOpen.value} close={close}>
      <ModelGroup capability="chat" />
      <ModelGroup capability="transcription">{transcription && <RecordingFields entry={transcription} />}</ModelGroup>
      <ModelGroup capability="speech">
        <VoicePicker />
      </ModelGroup>
      <Done close={close} />
    </Dialog>
  );
}

interface ModelGroupProps {
  readonly capability: Capability;
  readonly children?: ComponentChildren;
}

function ModelGroup({ capability, children }: ModelGroupProps) {
  const listing = listings.value?.[capability];
  const entry = chosen.value[capability];
  return (
    <fieldset class="group">
      <legend>{purposes[capability].title}</legend>
      <label class="unseen" for={capability}>
        Model
      </label>
      <select
        id={capability}
        disabled={!entry}
        value={entry?.id ?? ''}
        aria-describedby={`${capability}-note`}
        onChange={({ currentTarget }) => prefer({ [preferenceOf[capability]]: currentTarget.value })}
      >
        {!entry && <option value="">{listing ? 'None' : 'Loading …'}</option>}
        {listing?.data.map((one) => (
          <option key={one.id} value={one.id} disabled={!one.available}>
            {optionText(one)}
          </option>
        ))}
      </select>
      <p id={`${capability}-note`} class="note">
        {entry ? <EntryNote entry={entry} /> : listing && (listing.refusal ? 'Not allowed for this key' : 'Not set up')}
      </p>
      {children}
    </fieldset>
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
  if (!entry.available) return <>Not available</>; // the reason, which may be long, is under “Get started”
  return (
    <span class={entry.local ? 'place' : 'place away'}>
      <Icon name={entry.local ? 'here' : 'away'} />
      {placeOf(entry)}
    </span>
  );
}

export function RecordingFields({ entry }: { readonly entry: ModelEntry }) {
  const { translate, keywords } = preferences.value;
  const canTranslate = entry.supports.includes('translate');
  const canHint = takesKeywords(entry);
  return (
    <>
      <Language entry={entry} />
      <label class="check">
        <input
          type="checkbox"
          disabled={!canTranslate}
          checked={canTranslate && translate}
          onChange={({ currentTarget }) => prefer({ translate: currentTarget.checked })}
        />
        <span>Translate into English {!canTranslate && <span class="small">not possible with this model</span>}</span>
      </label>
      <div class="field">
        <label for="keywords">
          Names and terms, separated by commas {!canHint && <span class="small">not possible with this model</span>}
        </label>
        <input
          id="keywords"
          autocomplete="off"
          maxLength={longestKeywords}
          disabled={!canHint}
          value={keywords}
          onInput={({ currentTarget }) => prefer({ keywords: currentTarget.value })}
        />
      </div>
      <SpeakerFields entry={entry} />
    </>
  );
}

function Language({ entry }: { readonly entry: ModelEntry }) {
  const { language } = preferences.value;
  const isKnown = knowsLanguage(entry, language);
  const { own, others } = languagesOf(entry, navigator.languages);
  return (
    <div class="field">
      <label for="language">Language of recordings</label>
      <select
        id="language"
        value={language}
        aria-describedby="language-note"
        onChange={({ currentTarget }) => prefer({ language: currentTarget.value })}
      >
        <option value="">Automatic</option>
        {!isKnown && <option value={language}>{nameOfLanguage(language)}</option>}
        {own.map(toOption)}
        {own.length > 0 && others.length > 0 && <hr />}
        {others.map(toOption)}
      </select>
      <p id="language-note" class="note" aria-live="polite">
        {!isKnown &&
          `This model does not support ${nameOfLanguage(language)}. Recordings are sent to it without a language.`}
      </p>
    </div>
  );
}

const toOption = ({ code, name }: { readonly code: string; readonly name: string }) => (
  <option key={code} value={code}>
    {name}
  </option>
);

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
    <div class="field">
      <span id="voice-label" class="unseen">
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
    </div>
  );
}

function whyNotVoice(count: number): string | undefined {
  if (count > 0) return undefined;
  return chosen.value.speech ? 'This model has no voices to choose from.' : whyNot('speech');
}
