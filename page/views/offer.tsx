/** A component that can be installed, with a button for the next step: install it, stop the installation, or try it. */
import type { Preparation } from '../../src/client/index.ts';
import { keepFocus } from '../draft.ts';
import { chosen, listings } from '../listings.ts';
import { memoryText, nextSteps, preferenceOf, sizeOf } from '../missing.ts';
import { speaking, stopPlayback, unlock } from '../playback.ts';
import { prefer } from '../preferences.ts';
import { readAloud } from '../reading.ts';
import { change, mayStart, preparationFailure, preparations } from '../preparations.ts';
import { previewSound, sampleOf } from '../voices.ts';
import { explain } from '../why-not.ts';
import { Action } from './action.tsx';
import { CopyButton } from './copy-button.tsx';
import { FailureText } from './failure-text.tsx';
import { Icon } from './icons.tsx';

interface OfferProps {
  readonly preparation: Preparation;
}

export function Offer({ preparation }: OfferProps) {
  const { id, title, purpose, bytes, license, state, command } = preparation;
  const isStartable = preparations.value?.startable === true;
  const failure = preparationFailure.value?.of === id ? preparationFailure.value : undefined;
  return (
    <div class="offer">
      <div>
        <p>
          <strong>{title}</strong>
        </p>
        {purpose !== '' && <p class="small">{purpose}</p>}
        <details>
          <summary>
            {[sizeOf(bytes), preparations.value && memoryText(preparation, preparations.value.memory_bytes), 'Details']
              .filter(Boolean)
              .join(' · ')}
            <span class="unseen"> of {title}</span>
          </summary>
          <p class="small">License: {license}</p>
        </details>
      </div>
      <Buttons preparation={preparation} isStartable={isStartable} />
      <State preparation={preparation} />
      {failure && (
        <div class="row failure" role="alert">
          <FailureText failure={failure} />
        </div>
      )}
      {!isStartable && (state === 'missing' || state === 'failed') && <Command text={command} />}
    </div>
  );
}

function State({ preparation }: OfferProps) {
  const { title, state, progress, reason } = preparation;
  switch (state) {
    case 'ready':
      return <p class="row small reason">{doneText(preparation)}</p>;
    case 'preparing':
      return (
        <div class="row">
          <progress aria-label={`Installing ${title}`} {...(progress !== null && { value: progress })} />
          <p class="small">{reason}</p>
        </div>
      );
    case 'failed':
      return (
        <p class="row failure" role="alert">
          {reason}
        </p>
      );
    case 'missing':
      return reason.startsWith('Stopped') ? <p class="row small">{reason}</p> : null;
  }
}

/** Says what to do now, unless the settings have to list the model first, in which case the service says so. */
function doneText({ capability, model, reason }: Preparation): string {
  return model === null && reason !== 'Ready.' ? reason : `Installed. ${nextSteps[capability]}`;
}

interface OfferAction {
  readonly label: string;
  readonly icon?: 'play' | 'stop';
  readonly isMain?: boolean;
  readonly whyNot?: string | undefined;
  readonly run: () => unknown;
}

function Buttons({ preparation, isStartable }: OfferProps & { readonly isStartable: boolean }) {
  const { state, title } = preparation;
  const actions =
    state === 'ready' ? actionsWhenInstalled(preparation) : isStartable ? [installAction(preparation)] : [];
  if (actions.length === 0) return null;
  return (
    <div class="actions">
      {/* Keyed by index: the first button stays the same element in all states, since it may have the focus. */}
      {actions.map(({ label, icon, isMain, whyNot, run }, index) => (
        <Action
          key={index}
          class={isMain ? 'filled' : 'outlined'}
          aria-label={`${label}: ${title}`}
          whyNot={whyNot}
          onClick={run}
        >
          {icon && <Icon name={icon} />}
          <span>{label}</span>
        </Action>
      ))}
    </div>
  );
}

function installAction({ id, state, configured }: Preparation): OfferAction {
  if (state === 'preparing') return { label: 'Stop', icon: 'stop', run: () => change(id, 'stop') };
  return {
    label: state === 'failed' ? 'Try again' : 'Install',
    isMain: configured,
    whyNot: mayStart.value ? undefined : 'Another installation is running. Wait for it, or stop it.',
    run: () => change(id, 'start'),
  };
}

function actionsWhenInstalled(preparation: Preparation): readonly OfferAction[] {
  const { capability, model } = preparation;
  if (model === null) return [];
  const entry = listings.value?.[capability].data.find(({ id }) => id === model);
  const whyNot = entry?.available ? undefined : (entry?.reason ?? 'Waiting for the service.');
  const use: OfferAction = {
    label: 'Use',
    whyNot,
    run: () => {
      prefer({ [preferenceOf[capability]]: model });
      keepFocus();
      explain(nextSteps[capability]);
    },
  };
  if (capability !== 'speech') return [use];
  return [listenAction(preparation, whyNot), ...(chosen.value.speech?.id === model ? [] : [use])];
}

function listenAction({ id, model }: Preparation, whyNot: string | undefined): OfferAction {
  const sound = `${previewSound} ${id}`;
  if (speaking.value === sound) return { label: 'Stop', icon: 'stop', run: stopPlayback };
  return {
    label: 'Listen',
    icon: 'play',
    whyNot,
    run: () => {
      const speech = listings.value?.speech.data.find((entry) => entry.id === model);
      unlock();
      readAloud(sound, sampleOf(speech, speech?.default_voice), { speech, voice: undefined });
    },
  };
}

export const Command = ({ text }: { readonly text: string }) => (
  <p class="row command">
    <code>{text}</code>
    <CopyButton what={`the command ${text}`} text={text} />
  </p>
);
