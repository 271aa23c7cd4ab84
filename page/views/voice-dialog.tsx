/**
 * The voices of the chosen model, and those that can be installed: the user can search them by name or language, and
 * listen to samples.
 */
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { isVoiceDialogOpen } from '../dialogs.ts';
import { draft } from '../draft.ts';
import { chosen } from '../listings.ts';
import { speakerFailure, speaking, stopPlayback, unlock } from '../playback.ts';
import { prefer } from '../preferences.ts';
import { readAloud } from '../reading.ts';
import { otherVoices } from '../missing.ts';
import { preparations, refreshPreparations } from '../preparations.ts';
import { whyNot } from '../why-not.ts';
import {
  listVoices,
  nameOfDefault,
  previewSound,
  sampleOf,
  searchOffers,
  searchVoices,
  type ListedVoice,
} from '../voices.ts';
import { Action } from './action.tsx';
import { Dialog, Done } from './dialog.tsx';
import { FailureText } from './failure-text.tsx';
import { Icon } from './icons.tsx';
import { Offer } from './offer.tsx';

export function VoiceDialog() {
  const close = () => {
    if (speaking.value?.startsWith(previewSound)) stopPlayback();
    isVoiceDialogOpen.value = false;
  };
  return (
    <Dialog id="voices" title="Voice" isOpen={isVoiceDialogOpen.value} close={close}>
      <Voices />
      <Done close={close} />
    </Dialog>
  );
}

function Voices() {
  const query = useSignal('');
  const { speech } = chosen.value;
  const found = searchVoices(listVoices(speech), query.value);
  const more = searchOffers(otherVoices(preparations.value?.data ?? [], speech?.id), query.value);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => void refreshPreparations(), []); // one may have been installed or removed in a terminal
  useLayoutEffect(() => field.current?.focus(), [speech?.id]); // the button that chose another model is gone
  return (
    <>
      <label class="unseen" for="voice-search">
        Search voices
      </label>
      <input
        ref={field}
        id="voice-search"
        type="search"
        placeholder="Search by name or language"
        autocomplete="off"
        autofocus
        value={query.value}
        onInput={({ currentTarget }) => (query.value = currentTarget.value)}
      />
      <fieldset class="voices">
        <legend class="unseen">Voices of {speech?.name}</legend>
        {query.value.trim() === '' && <VoiceRow voice={{ id: '', name: nameOfDefault(speech), language: 'default' }} />}
        {found.map((voice) => (
          <VoiceRow key={voice.id} voice={voice} />
        ))}
        {found.length === 0 && <p class="small">This model has no matching voice.</p>}
      </fieldset>
      {more.length > 0 && (
        <section class="setup" aria-labelledby="more-voices">
          <h3 id="more-voices">More voices</h3>
          {more.map((one) => (
            <Offer key={one.id} preparation={one} />
          ))}
        </section>
      )}
      {speakerFailure.value && (
        <div class="failure" role="alert">
          <FailureText failure={speakerFailure.value} />
        </div>
      )}
    </>
  );
}

/** Only the row of the chosen voice has the button: the radio buttons are one tab stop, and the button is the next. */
function VoiceRow({ voice: { id, name, language } }: { readonly voice: ListedVoice }) {
  const place = useRef<HTMLDivElement>(null);
  const isChosen = (chosen.value.voice ?? '') === id;
  useLayoutEffect(() => {
    if (isChosen) place.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <div class="voice" ref={place}>
      <label>
        <input
          type="radio"
          name="voice"
          checked={isChosen}
          onChange={() => {
            stopPlayback();
            prefer({ voice: id });
          }}
        />
        <span>
          {name} {!name.includes(language) && <span class="small">{language}</span>}
        </span>
      </label>
      {isChosen && <Preview name={name} />}
    </div>
  );
}

/** The text in the composer, or a sentence in the language of the voice. */
function sample(): string {
  const { speech, voice = speech?.default_voice } = chosen.value;
  return draft.value.trim().slice(0, 200) || sampleOf(speech, voice);
}

function Preview({ name }: { readonly name: string }) {
  const isOn = speaking.value === previewSound;
  return (
    <Action
      class="quiet sound"
      aria-label={isOn ? 'Stop' : `Listen to ${name}`}
      whyNot={isOn ? undefined : whyNot('speech')}
      onClick={() => {
        if (isOn) return stopPlayback();
        unlock();
        readAloud(previewSound, sample());
      }}
    >
      <Icon name={isOn ? 'stop' : 'play'} />
      <span>{isOn ? 'Stop' : 'Listen'}</span>
    </Action>
  );
}
