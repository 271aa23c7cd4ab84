/** Cards for models that can be installed: each thing once, under what it is for. */
import { useState } from 'preact/hooks';
import type { Preparation } from '../../src/client/index.ts';
import { adviceFor, capabilities, isBroken, otherWays, type Capability } from '../choices.ts';
import { key } from '../key.ts';
import { chosen, listings } from '../listings.ts';
import { commandsLike, isActive, offersFor, purposes, type Offers } from '../missing.ts';
import { installed, preparations } from '../preparations.ts';
import { turns } from '../run.ts';
import { Command, Offer } from './offer.tsx';

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
      <h2 id="setup-title">{missing.length > 0 || installed.value.size > 0 ? 'Get started' : 'Also available'}</h2>
      {/* In one order, whatever is installed: a card may have the focus. */}
      {capabilities.map(
        (name) => (missing.includes(name) || better.includes(name)) && <Card key={name} capability={name} />,
      )}
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
      {main.some(({ state }) => state !== 'ready') && !entry?.available && (
        <p class="small">Or {otherWays[capability]}.</p>
      )}
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
