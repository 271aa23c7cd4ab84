/** Cards for models that can be installed: each component once, under its capability. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { Preparation } from '../../src/client/index.ts';
import { adviceFor, capabilities, isBroken, otherWays, type Capability } from '../choices.ts';
import { key } from '../key.ts';
import { chosen, listings } from '../listings.ts';
import { commandsLike, isActive, offersFor, purposes, type Offers } from '../missing.ts';
import { installed, preparations } from '../preparations.ts';
import { turns } from '../run.ts';
import { keepFocus } from '../draft.ts';
import { prefer, preferences } from '../preferences.ts';
import { Icon } from './icons.tsx';
import { Command, Offer } from './offer.tsx';

const isLineOpen = signal(false);

export function Setup() {
  const lists = listings.value;
  if (!lists) return null;
  const missing = capabilities.filter(isMissing);
  const better = capabilities.filter(isBetter);
  // A card stays in place during and after an installation in it, because it may have the focus.
  const line = better.filter((name) => isLineOpen.value || !isAtWork(name));
  const isUpToKey = missing.length > 0 && missing.every((name) => lists[name].refusal !== undefined);
  const cards = capabilities.filter(
    (name) => missing.includes(name) || (better.includes(name) && !line.includes(name)),
  );
  return (
    <>
      {cards.length > 0 && (
        <section class="setup" aria-labelledby="setup-title">
          <h2 id="setup-title">Get started</h2>
          {cards.map((name) => (
            <Card key={name} capability={name} />
          ))}
          {!isUpToKey && missing.length > 0 && <Hints />}
        </section>
      )}
      {line.length > 0 && <Line all={line} />}
    </>
  );
}

/**
 * Models that are better than those in use: one line that expands, shown until the conversation begins or the line is
 * dismissed.
 */
function Line({ all }: { readonly all: readonly Capability[] }) {
  if (!isLineOpen.value && (preferences.value.offersDismissed || turns.value.length > 0)) return null;
  return (
    <section class="better" aria-label="Also available">
      <details open={isLineOpen.value} onToggle={({ currentTarget }) => (isLineOpen.value = currentTarget.open)}>
        <summary>Also available: {all.map((name) => purposes[name].betterTitle).join(', ')}</summary>
        {all.map((name) => (
          <Card key={name} capability={name} />
        ))}
      </details>
      <button
        type="button"
        class="quiet"
        title="Do not offer this again"
        onClick={() => {
          isLineOpen.value = false;
          prefer({ offersDismissed: true });
          keepFocus();
        }}
      >
        <Icon name="close" />
        <span class="wide">Dismiss</span>
      </button>
    </section>
  );
}

const isAtWork = (name: Capability) => [...offersOf(name).main, ...offersOf(name).more].some(isActive);

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
  return offersFor(name, isWithheld ? [] : (preparations.value?.data ?? []), installed.value);
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
      {!entry?.available && listings.value?.[capability].refusal === undefined && (
        <p class="small">
          {main.some(({ state }) => state !== 'ready') && `Or ${otherWays[capability]}. `}
          <a href={`docs/setup#${capability}`} target="_blank" rel="noopener">
            How to set up {title.toLowerCase()}
          </a>
        </p>
      )}
    </section>
  );
}

/** Stays open once an installation in it has started, because the focus may be there. */
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
