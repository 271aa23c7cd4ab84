/** What is missing, and how to get it: a card for each, with a button where the page may start it, else a command. */
import type { Preparation } from '../../src/client/index.ts';
import { adviceFor, type Capability } from '../choices.ts';
import { key } from '../key.ts';
import { chosen, listings } from '../listings.ts';
import { capabilities, commandsLike, offersFor, purposes, sizeOf } from '../missing.ts';
import { change, isAnyInProgress, preparationFailure, preparations } from '../preparations.ts';
import { turns } from '../run.ts';
import { Action } from './action.tsx';
import { CopyButton } from './copy-button.tsx';
import { FailureText } from './failure-text.tsx';
import { Icon } from './icons.tsx';

export function Setup() {
  const lists = listings.value;
  if (!lists) return null;
  const missing = capabilities.filter((name) => isMissing(name));
  // Something better than what works is offered, but does not stay in the way.
  const better = turns.value.length > 0 ? [] : capabilities.filter((name) => !isMissing(name) && hasOffer(name));
  if (missing.length === 0 && better.length === 0) return null;
  const isUpToKey = missing.length > 0 && missing.every((name) => lists[name].refusal !== undefined);
  return (
    <section class="setup" aria-labelledby="setup-title">
      <h2 id="setup-title">{missing.length > 0 ? 'What to do next' : 'What you can add'}</h2>
      {[...missing, ...better].map((name) => (
        <Card key={name} capability={name} />
      ))}
      {!isUpToKey && missing.length > 0 && <Hints />}
    </section>
  );
}

function isMissing(name: Capability): boolean {
  const entry = chosen.value[name];
  return entry?.available !== true && (adviceOf(name) !== undefined || hasOffer(name));
}

function hasOffer(name: Capability): boolean {
  const lists = listings.value;
  if (lists?.[name].refusal !== undefined || lists?.probe?.code === 'disabled') return false;
  return offersFor(name, preparations.value?.data ?? []).main.length > 0;
}

function adviceOf(name: Capability): string | undefined {
  const lists = listings.value;
  if (name === 'transcription' && lists?.probe?.code === 'disabled') return lists.probe.reason;
  return adviceFor(name, chosen.value[name], lists?.[name].refusal);
}

function Card({ capability }: { readonly capability: Capability }) {
  const { title, betterTitle, text, otherwise } = purposes[capability];
  const entry = chosen.value[capability];
  const { main, more } = hasOffer(capability) ? offersFor(capability, preparations.value?.data ?? []) : noOffers;
  return (
    <section class="card" aria-labelledby={`card-${capability}`}>
      <h3 id={`card-${capability}`}>{entry?.available ? betterTitle : title}</h3>
      <p>{main.length > 0 ? text : adviceOf(capability)}</p>
      {main.map((one) => (
        <Offer key={one.id} preparation={one} />
      ))}
      {more.length > 0 && (
        <details class="more">
          <summary>{more.length} more</summary>
          {more.map((one) => (
            <Offer key={one.id} preparation={one} />
          ))}
        </details>
      )}
      {main.length > 0 && !entry && <p class="small">{otherwise}</p>}
    </section>
  );
}

const noOffers = { main: [], more: [] };

function Offer({ preparation }: { readonly preparation: Preparation }) {
  const { id, title, bytes, licence, state, progress, reason, command } = preparation;
  const isStartable = preparations.value?.startable === true;
  const failure = preparationFailure.value?.of === id ? preparationFailure.value : undefined;
  return (
    <div class="offer">
      <div>
        <p>
          <strong>{title}</strong>
        </p>
        <p class="small">
          {sizeOf(bytes)} · {licence}
        </p>
      </div>
      {isStartable && <OfferButton preparation={preparation} />}
      {state === 'preparing' && (
        <div class="row">
          <progress aria-label={`Preparing ${title}`} {...(progress !== null && { value: progress })} />
          <p class="small">{reason}</p>
        </div>
      )}
      {state === 'failed' && (
        <p class="row failure" role="alert">
          {reason}
        </p>
      )}
      {state === 'missing' && reason.startsWith('Stopped') && <p class="row small">{reason}</p>}
      {failure && (
        <div class="row failure" role="alert">
          <FailureText failure={failure} />
        </div>
      )}
      {!isStartable && state !== 'preparing' && <Command text={command} />}
    </div>
  );
}

/** One element for all states: it may have the focus. */
function OfferButton({ preparation: { id, title, state } }: { readonly preparation: Preparation }) {
  const isRunning = state === 'preparing';
  const label = isRunning ? 'Stop' : state === 'failed' ? 'Try again' : 'Prepare';
  return (
    <Action
      class={isRunning ? 'outlined' : 'filled'}
      aria-label={`${label}: ${title}`}
      whyNot={
        !isRunning && isAnyInProgress.value ? 'One at a time: wait until the other is ready, or stop it.' : undefined
      }
      onClick={() => void change(id, isRunning ? 'stop' : 'start')}
    >
      {isRunning && <Icon name="stop" />}
      <span>{label}</span>
    </Action>
  );
}

function Hints() {
  const { doctor, sandbox } = commandsLike(preparations.value?.data[0]?.command);
  const { startable, reason } = preparations.value ?? { startable: true, reason: '' };
  return (
    <>
      {!startable && <p class="small">{reason}</p>}
      <p class="small">Only looking? The sandbox answers with made-up text, without any model. In a terminal:</p>
      <Command text={sandbox} />
      <p class="small">
        “{doctor}” says what is missing.
        {key.value !== undefined && ' A key may be limited to some models: its operator knows.'}
      </p>
    </>
  );
}

const Command = ({ text }: { readonly text: string }) => (
  <p class="row command">
    <code>{text}</code>
    <CopyButton what={`the command ${text}`} text={text} />
  </p>
);
