/** Options: chosen once, and kept. */
import { useRef, useState } from 'preact/hooks';
import { isOptionsOpen } from '../dialogs.ts';
import { deleteEverything, exportAll, importFile, outcome } from '../everything.ts';
import { forgetKey, key } from '../key.ts';
import { dropRecordings } from '../kept-recordings.ts';
import { entries } from '../library/library.ts';
import { microphones } from '../microphone.ts';
import { prefer, preferences } from '../preferences.ts';
import {
  bargeInModes,
  longestSystemPrompt,
  pauseRange,
  temperatureRange,
  type BargeIn as BargeInMode,
} from '../preference-storage.ts';
import { Dialog, Done } from './dialog.tsx';

export function Options() {
  const close = () => (isOptionsOpen.value = false);
  return (
    <Dialog id="options" title="Options" isOpen={isOptionsOpen.value} close={close}>
      <Switch name="sendAtOnce" label="Send what I say without review" />
      <Switch
        name="keepRecordings"
        label="Keep recordings that failed to transcribe on this device for a day"
        onChange={(isOn) => !isOn && void dropRecordings()}
      />
      <Pause />
      <BargeIn />
      <Microphone />
      <SystemPrompt />
      <Temperature />
      <Everything />
      {key.value !== undefined && (
        <div class="field">
          <button
            type="button"
            class="outlined"
            onClick={() => {
              close();
              void dropRecordings({ key: key.value });
              forgetKey();
            }}
          >
            Forget the key
          </button>
        </div>
      )}
      <Done close={close} />
    </Dialog>
  );
}

interface SwitchProps {
  readonly name: 'sendAtOnce' | 'keepRecordings';
  readonly label: string;
  readonly onChange?: (isOn: boolean) => unknown;
}

function Switch({ name, label, onChange }: SwitchProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={preferences.value[name]}
        onChange={({ currentTarget }) => {
          prefer({ [name]: currentTarget.checked });
          onChange?.(currentTarget.checked);
        }}
      />
      <span>{label}</span>
    </label>
  );
}

/** In a low window, the question would otherwise be out of view. */
const bringIntoView = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' });

/** What this browser keeps. */
function Everything() {
  const input = useRef<HTMLInputElement>(null);
  const [isAsking, setAsking] = useState(false);
  const count = entries.value?.length ?? 0;
  return (
    <fieldset class="group">
      <legend>What this browser keeps</legend>
      <p class="note">
        Conversations ({count}) and these options. Nothing of it leaves the browser but what you ask. An export is a
        file with all of it, without recordings and the key.
      </p>
      <div class="actions">
        <button type="button" class="outlined" onClick={() => void exportAll()}>
          Export
        </button>
        <button type="button" class="outlined" onClick={() => input.current?.click()}>
          Import
        </button>
        <button type="button" class="outlined danger" aria-expanded={isAsking} onClick={() => setAsking(!isAsking)}>
          Delete everything
        </button>
      </div>
      {isAsking && (
        <div class="actions" ref={bringIntoView}>
          <p>Delete all conversations, transcripts, recordings and options from this browser?</p>
          <button
            type="button"
            class="filled danger"
            onClick={() => {
              setAsking(false);
              void deleteEverything();
            }}
          >
            Yes, delete
          </button>
          <button type="button" class="quiet" onClick={() => setAsking(false)}>
            No
          </button>
        </div>
      )}
      <input
        ref={input}
        type="file"
        hidden
        aria-label="File to import"
        accept=".json,application/json"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file) void importFile(file);
          currentTarget.value = ''; // the same file may be chosen again
        }}
      />
      {outcome.value !== undefined && <p role="status">{outcome.value}</p>}
    </fieldset>
  );
}

function Pause() {
  const { pauseMs } = preferences.value;
  const text = `${pauseMs / 1_000}\u00a0s`;
  return (
    <div class="field">
      <label for="pause">Hands-free: send after a pause of {text}</label>
      <input
        id="pause"
        type="range"
        {...pauseRange}
        value={pauseMs}
        aria-valuetext={text}
        onInput={({ currentTarget }) => prefer({ pauseMs: currentTarget.valueAsNumber })}
      />
    </div>
  );
}

const bargeInNames: Readonly<Record<BargeInMode, string>> = {
  automatic: 'If the browser cancels echoes',
  always: 'Always (with headphones)',
  never: 'Never',
};

/** Without headphones and echo cancellation, an answer would interrupt itself. */
function BargeIn() {
  return (
    <div class="field">
      <label for="barge-in">Hands-free: interrupt answers by speaking</label>
      <select
        id="barge-in"
        value={preferences.value.bargeIn}
        onChange={({ currentTarget: { selectedIndex } }) => prefer({ bargeIn: bargeInModes[selectedIndex] ?? 'never' })}
      >
        {bargeInModes.map((mode) => (
          <option key={mode} value={mode}>
            {bargeInNames[mode]}
          </option>
        ))}
      </select>
    </div>
  );
}

function SystemPrompt() {
  return (
    <div class="field">
      <label for="system-prompt">System prompt, for every answer</label>
      <textarea
        id="system-prompt"
        rows={3}
        maxLength={longestSystemPrompt}
        value={preferences.value.systemPrompt}
        onInput={({ currentTarget }) => prefer({ systemPrompt: currentTarget.value })}
      />
    </div>
  );
}

const usualTemperature = 0.7;

function Temperature() {
  const { temperature } = preferences.value;
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={temperature !== undefined}
          onChange={({ currentTarget }) =>
            prefer({ temperature: currentTarget.checked ? usualTemperature : undefined })
          }
        />
        <span>Set the temperature of answers{temperature !== undefined && `: ${temperature}`}</span>
      </label>
      {temperature !== undefined && (
        <input
          type="range"
          aria-label="Temperature"
          {...temperatureRange}
          value={temperature}
          onInput={({ currentTarget }) => prefer({ temperature: currentTarget.valueAsNumber })}
        />
      )}
    </>
  );
}

/** Browsers name the microphones once one was allowed. */
function Microphone() {
  if (microphones.value.length < 2) return null;
  return (
    <div class="field">
      <label for="microphone">Microphone</label>
      <select
        id="microphone"
        value={preferences.value.microphone ?? microphones.value[0]?.deviceId ?? ''}
        onChange={({ currentTarget }) => prefer({ microphone: currentTarget.value })}
      >
        {microphones.value.map(({ deviceId, label }) => (
          <option key={deviceId} value={deviceId}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}
