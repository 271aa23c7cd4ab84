/** Cards for missing models: each has an Install button where the page may start it, and a command elsewhere. */
import { useState } from 'preact/hooks';
import type { Preparation } from '../../src/client/index.ts';
import { adviceFor, isBroken, otherWays, type Capability } from '../choices.ts';
import { key } from '../key.ts';
import { chosen, listings } from '../listings.ts';
import { capabilities, commandsLike, isActive, offersFor, purposes, sizeOf, type Offers } from '../missing.ts';
import { change, isInstalling, preparationFailure, preparations } from '../preparations.ts';
import { turns } from '../run.ts';
import { Action } from './action.tsx';
import { CopyButton } from './copy-button.tsx';
import { FailureText } from './failure-text.tsx';
import { Icon } from './icons.tsx';

export function Setup() {
  const lists = listings.value;
  if (!lists) return null;
  const missing = capabilities.filter(isMissing);
  // Something better than what works is offered, but does not stay in the way.
  const better = turns.value.length > 0 ? [] : capabilities.filter(isBetter);
  if (missing.length === 0 && better.length === 0) return null;
  const isUpToKey = missing.length > 0 && missing.every((name) => lists[name].refusal !== undefined);
  return (
    <section class="setup" aria-labelledby="setup-title">
      <h2 id="setup-title">{missing.length > 0 ? 'What to do next' : 'Also available'}</h2>
      {[...missing, ...better].map((name) => (
        <Card key={name} capability={name} />
      ))}
      {!isUpToKey && missing.length > 0 && <Hints />}
    </section>
  );
}

function isMissing(name: Capability): boolean {
  const { main, more } = offersOf(name);
  const isThere = chosen.value[name]?.available === true;
  return !isThere && (adviceOf(name) !== undefined || main.length > 0 || more.some(isActive));
}

function isBetter(name: Capability): boolean {
  const { main, more } = offersOf(name);
  return chosen.value[name]?.available === true && (main.length > 0 || more.some(isActive));
}

function offersOf(name: Capability): Offers {
  const lists = listings.value;
  const isWithheld =
    lists?.[name].refusal !== undefined || (name === 'transcription' && lists?.probe?.code === 'disabled');
  return offersFor(name, isWithheld ? [] : (preparations.value?.data ?? []));
}

function adviceOf(name: Capability): string | undefined {
  const lists = listings.value;
  if (name === 'transcription' && lists?.probe?.code === 'disabled') return lists.probe.reason;
  return adviceFor(name, chosen.value[name], lists?.[name].refusal);
}

function Card({ capability }: { readonly capability: Capability }) {
  const { title, betterTitle, text } = purposes[capability];
  const entry = chosen.value[capability];
  const { main, more } = offersOf(capability);
  const advice = adviceOf(capability);
  // A failing provider from the settings comes first, because it is a mistake; a model to install is only an offer.
  const cause = advice && (listings.value?.[capability].reason ?? (entry && isBroken(entry) ? advice : undefined));
  return (
    <section class="card" aria-labelledby={`card-${capability}`}>
      <h3 id={`card-${capability}`}>{entry?.available ? betterTitle : title}</h3>
      <p class={cause && 'failure'}>{cause ?? (main.length > 0 ? text : (advice ?? text))}</p>
      {main.map((one) => (
        <Offer key={one.id} preparation={one} />
      ))}
      {more.length > 0 && <More all={more} isAtWork={more.some(isActive) && !main.some(isActive)} />}
      {main.length > 0 && !entry?.available && <p class="small">Or {otherWays[capability]}.</p>}
    </section>
  );
}

/** Stays open once something in it was begun: the focus may be there. */
function More({ all, isAtWork }: { readonly all: readonly Preparation[]; readonly isAtWork: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="more" open={isOpen || isAtWork} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{all.length} more</summary>
      {all.map((one) => (
        <Offer key={one.id} preparation={one} />
      ))}
    </details>
  );
}

function Offer({ preparation }: { readonly preparation: Preparation }) {
  const { id, title, bytes, license, state, progress, reason, command } = preparation;
  const isStartable = preparations.value?.startable === true;
  const failure = preparationFailure.value?.of === id ? preparationFailure.value : undefined;
  return (
    <div class="offer">
      <div>
        <p>
          <strong>{title}</strong>
        </p>
        <p class="small">
          {sizeOf(bytes)} · {license}
        </p>
      </div>
      {isStartable && <OfferButton preparation={preparation} />}
      {state === 'preparing' && (
        <div class="row">
          <progress aria-label={`Installing ${title}`} {...(progress !== null && { value: progress })} />
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
function OfferButton({ preparation: { id, title, state, configured } }: { readonly preparation: Preparation }) {
  const isRunning = state === 'preparing';
  const label = isRunning ? 'Stop' : state === 'failed' ? 'Try again' : 'Install';
  return (
    <Action
      class={isRunning || !configured ? 'outlined' : 'filled'}
      aria-label={`${label}: ${title}`}
      whyNot={
        !isRunning && isInstalling.value ? 'Another installation is running. Wait for it, or stop it.' : undefined
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
      <p class="small">To try the page without a model, start the sandbox. Its answers are made up:</p>
      <Command text={sandbox} />
      <p class="small">
        Run “{doctor}” to see what is missing.
        {key.value !== undefined && ' Your key may be limited to some models. Ask the operator.'}
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
