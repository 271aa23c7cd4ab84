/** The list of conversations: next to the conversation where there is room, otherwise behind a button. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { saveConversation } from '../conversation.ts';
import { isOptionsOpen } from '../dialogs.ts';
import { keepFocus } from '../draft.ts';
import type { Entry } from '../library/entry.ts';
import { entries, forgetRemoved, refusal, removed, undoRemoval } from '../library/library.ts';
import { found, query } from '../library/search.ts';
import { deleteConversation, openConversation, openId, startNewConversation } from '../open-conversation.ts';
import { closeRecording, deleteRecording, opened, openedId, openRecording } from '../reader/recordings.ts';
import { acceptedFiles } from '../reader/jobs.ts';
import { turns } from '../run.ts';
import { whyNotFile } from '../why-not.ts';
import { Action } from './action.tsx';
import { Dialog } from './dialog.tsx';
import { chooseFile } from './files.tsx';
import { Icon } from './icons.tsx';

const wide = matchMedia('(width >= 60rem)');
export const isBeside = signal(wide.matches);
wide.addEventListener('change', () => (isBeside.value = wide.matches));

export const isListOpen = signal(false);
const close = () => (isListOpen.value = false);

export function Sidebar() {
  if (isBeside.value) {
    return (
      <aside class="sidebar" aria-label="Conversations">
        <p class="brand" aria-hidden="true">
          Parlance
        </p>
        <List />
      </aside>
    );
  }
  return (
    <Dialog id="list" title="Conversations" isOpen={isListOpen.value} close={close}>
      <button type="button" class="quiet close" onClick={close}>
        <Icon name="close" />
        <span>Close</span>
      </button>
      <List />
    </Dialog>
  );
}

/** For actions that lead away from the list. */
function leave(go: () => unknown): void {
  close();
  go();
}

function List() {
  return (
    <>
      <Action class="outlined" whyNot={whyNotYet()} onClick={() => leave(startAnew)}>
        <Icon name="fresh" />
        <span>New conversation</span>
      </Action>
      <Action class="outlined" whyNot={whyNotFile()} title={acceptedFiles} onClick={() => leave(chooseFile)}>
        <Icon name="file" />
        <span>Transcribe a file</span>
      </Action>
      <input
        type="search"
        aria-label="Search conversations"
        placeholder="Search"
        value={query.value}
        onInput={({ currentTarget }) => (query.value = currentTarget.value)}
      />
      {removed.value && <Undo />}
      <nav aria-label="Conversations" class="entries">
        <Entries />
      </nav>
      <div class="foot">
        <Action class="quiet" whyNot={whyNotYet()} onClick={() => leave(saveConversation)}>
          <Icon name="save" />
          <span>Save as Markdown</span>
        </Action>
        <button type="button" class="quiet" onClick={() => leave(() => (isOptionsOpen.value = true))}>
          <Icon name="options" />
          <span>Options</span>
        </button>
        <a class="quiet" href="docs">
          <Icon name="book" />
          <span>API reference</span>
        </a>
      </div>
    </>
  );
}

export function startAnew(): void {
  closeRecording();
  startNewConversation();
  keepFocus();
}

export const whyNotYet = () =>
  turns.value.length === 0 && !opened.value ? 'The conversation is empty. Type or say something first.' : undefined;

function Undo() {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (document.activeElement === document.body) button.current?.focus(); // the entry that is gone had the focus
  }, [removed.value]);
  const undo = async () => {
    const entry = await undoRemoval();
    if (entry?.kind === 'transcript') await openRecording(entry.id);
    else if (entry && turns.value.length === 0) await openConversation(entry.id);
  };
  return (
    <div class="undo">
      <span>Deleted.</span>
      <button ref={button} type="button" class="quiet" onClick={() => void undo()}>
        Undo
      </button>
      <button type="button" class="quiet" title="Dismiss" onClick={forgetRemoved}>
        <Icon name="close" />
        <span class="wide">Dismiss</span>
      </button>
    </div>
  );
}

function Entries() {
  const all = entries.value ?? [];
  if (all.length === 0)
    return <Empty>{refusal.value ? 'This browser keeps nothing.' : 'Conversations are kept here.'}</Empty>;
  const matching = found.value ? all.filter(({ id }) => found.value?.has(id)) : all;
  if (matching.length === 0) return <Empty>Nothing found.</Empty>;
  return (
    <>
      {days.map((day) => (
        <Day key={day} day={day} entries={matching.filter((entry) => dayOf(entry) === day)} />
      ))}
    </>
  );
}

interface DayProps {
  readonly day: string;
  readonly entries: readonly Entry[];
}

function Day({ day, entries: some }: DayProps) {
  if (some.length === 0) return null;
  return (
    <section>
      <h2 class="small">{day}</h2>
      <ul>
        {some.map((entry) => (
          <Item key={entry.id} entry={entry} />
        ))}
      </ul>
    </section>
  );
}

const Empty = ({ children }: { readonly children: ComponentChildren }) => <p class="small empty">{children}</p>;

function Item({ entry: { id, kind, title } }: { readonly entry: Entry }) {
  const isTranscript = kind === 'transcript';
  const open = () => {
    if (isTranscript) return void openRecording(id);
    closeRecording();
    void openConversation(id).then(keepFocus);
  };
  return (
    <li>
      <button
        type="button"
        class="quiet"
        aria-current={id === (openedId.value ?? openId.value)}
        title={title}
        onClick={() => leave(open)}
      >
        {isTranscript && <Icon name="waves" />}
        {isTranscript && <span class="unseen">Transcript: </span>}
        <bdi>{title}</bdi>
      </button>
      <button
        type="button"
        class="quiet"
        aria-label={`Delete “${title}”`}
        onClick={() => void (isTranscript ? deleteRecording(id) : deleteConversation(id))}
      >
        <Icon name="bin" />
        <span class="wide">Delete</span>
      </button>
    </li>
  );
}

const days = ['Today', 'Yesterday', 'Earlier'] as const;
const dayMs = 86_400_000;

function dayOf({ updated }: Entry): (typeof days)[number] {
  const midnight = new Date().setHours(0, 0, 0, 0);
  if (updated >= midnight) return 'Today';
  return updated >= midnight - dayMs ? 'Yesterday' : 'Earlier';
}
