/** The voices of the chosen model: found by name or language, chosen at once, and listened to before. */
import { signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { draft } from '../draft.ts';
import { chosen } from '../listings.ts';
import { speakerFailure, speaking, stopPlayback, unlock } from '../playback.ts';
import { prefer } from '../preferences.ts';
import { readAloud } from '../reading.ts';
import { whyNot } from '../why-not.ts';
import { listVoices, nameOfDefault, searchVoices, type ListedVoice } from '../voices.ts';
import { Action } from './action.tsx';
import { Dialog } from './dialog.tsx';
import { FailureText } from './failure-text.tsx';
import { Icon } from './icons.tsx';

export const isVoiceDialogOpen = signal(false);

export function VoiceDialog() {
  const close = () => {
    if (speaking.value === previewSound) stopPlayback();
    isVoiceDialogOpen.value = false;
  };
  return (
    <Dialog id="voices" title="Voice" isOpen={isVoiceDialogOpen.value} close={close}>
      <Voices />
      <div class="actions end">
        <button type="button" class="filled" onClick={close}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

function Voices() {
  const query = useSignal('');
  const { speech } = chosen.value;
  const found = searchVoices(listVoices(speech), query.value);
  return (
    <>
      <label class="unseen" for="voice-search">
        Search voices
      </label>
      <input
        id="voice-search"
        type="search"
        placeholder="Search by name or language"
        autocomplete="off"
        autofocus
        value={query.value}
        onInput={({ currentTarget }) => (query.value = currentTarget.value)}
      />
      <fieldset class="voices">
        <legend class="unseen">Voices</legend>
        {query.value.trim() === '' && <VoiceRow voice={{ id: '', name: nameOfDefault(speech), language: 'default' }} />}
        {found.map((voice) => (
          <VoiceRow key={voice.id} voice={voice} />
        ))}
        {found.length === 0 && <p class="small">No matching voices.</p>}
      </fieldset>
      {speakerFailure.value && (
        <div class="failure" role="alert">
          <FailureText failure={speakerFailure.value} />
        </div>
      )}
    </>
  );
}

/** The row of the chosen voice has the button: radio buttons are one stop of the Tab key, and it is the next. */
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

/** Identifies the sound of a voice. */
const previewSound = 'voice';

/** The text in the composer, or digits: every voice says them in its own language. */
const sample = () => draft.value.trim().slice(0, 200) || '1, 2, 3, 4, 5.';

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
