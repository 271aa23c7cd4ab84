/**
 * The view of hands-free mode: one state that can be read across a room. A modal dialog, because nothing else on the
 * page is useful in this mode: the browser keeps the focus in it, ends it on Esc, and gives the focus back.
 */
import { useEffect, useRef } from 'preact/hooks';
import { announcement } from '../announcements.ts';
import { cancel } from '../cancel.ts';
import { textOfCaptureProblem } from '../capture-checks.ts';
import { textOf } from '../conversation-state.ts';
import { hasKeyboard } from '../draft.ts';
import { canInterruptBySpeaking, handsFree, hearsItself, isMuted, press, toggleMute } from '../hands-free.ts';
import { onPress, type HandsFree } from '../hands-free-state.ts';
import { lastWords } from '../last-words.ts';
import { captureProblem, level, microphoneFailure } from '../microphone.ts';
import { spokenText } from '../playback.ts';
import { turns } from '../run.ts';
import { textOfTranscript } from '../transcript.ts';
import { transcribing } from '../transcription.ts';
import { explained } from '../why-not.ts';
import { Action } from './action.tsx';
import { Dialog } from './dialog.tsx';
import { FailureText } from './failure-text.tsx';
import { Icon, type IconName } from './icons.tsx';
import { HandsFreeNotices } from './notices.tsx';

const id = 'hands-free';

export function HandsFreeView() {
  const isOpen = handsFree.value !== 'off';
  return (
    <Dialog id={id} title="Hands-free" isOpen={isOpen} close={() => handsFree.value !== 'off' && cancel()}>
      <View state={handsFree.value} />
    </Dialog>
  );
}

interface StateProps {
  readonly state: HandsFree;
}

const looks: Readonly<Record<HandsFree, { readonly title: string; readonly icon: IconName }>> = {
  off: { title: '', icon: 'microphone' },
  asking: { title: 'Allow the microphone', icon: 'microphone' },
  listening: { title: 'Listening', icon: 'microphone' },
  hearing: { title: 'Listening', icon: 'waves' },
  thinking: { title: 'Thinking', icon: 'dots' },
  speaking: { title: 'Speaking', icon: 'speaker' },
  muted: { title: 'Muted', icon: 'muted' },
  failed: { title: 'No microphone', icon: 'muted' },
};

function View({ state }: StateProps) {
  useEffect(() => {
    document.addEventListener('keydown', pressByKey);
    return () => document.removeEventListener('keydown', pressByKey);
  }, []);
  const { title, icon } = looks[state];
  return (
    <div class="hands-free" data-state={state}>
      <Orb icon={icon} />
      <div class="now">
        <p class="state">{title}</p>
        {state === 'failed' ? <Failure /> : <p class="help">{explained.value ?? helpOf(state)}</p>}
      </div>
      <Words />
      <HandsFreeNotices />
      <Controls state={state} />
      {/* The status element of the page is inert behind the dialog. */}
      <p role="status" class="unseen">
        {announcement.value}
      </p>
    </div>
  );
}

/** Handles keys wherever the focus is; a focused button handles its own keys. */
function pressByKey(event: KeyboardEvent): void {
  if ((event.key !== ' ' && event.key !== 'Enter') || event.repeat) return;
  if (event.target instanceof Element && event.target.closest(`button, a, dialog:not(#${id})`)) return;
  event.preventDefault();
  press();
}

/** Updated outside of Preact, because the level changes many times a second. */
function Orb({ icon }: { readonly icon: IconName }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => level.subscribe((value) => place.current?.style.setProperty('--level', value.toFixed(2))), []);
  return (
    <div class="orb" ref={place} aria-hidden="true">
      <Icon name={icon} />
    </div>
  );
}

function Failure() {
  return (
    <div class="help" role="alert">
      {microphoneFailure.value && <FailureText failure={microphoneFailure.value} />}
      {captureProblem.value && <p>{textOfCaptureProblem(captureProblem.value)}</p>}
    </div>
  );
}

const key = hasKeyboard ? 'press Space' : 'tap Interrupt';

function helpOf(state: HandsFree): string {
  switch (state) {
    case 'asking':
      return 'Your browser asks whether this page may use it.';
    case 'listening':
      return 'Say something.';
    case 'hearing':
      return 'Pause to send.';
    case 'thinking':
      return transcribing.value ? textOfTranscript(transcribing.value) : `To stop the answer, ${key}.`;
    case 'speaking':
      if (isMuted.value) return `Muted. To interrupt, ${key}.`;
      if (canInterruptBySpeaking.value) return `To interrupt, speak or ${key}.`;
      return `${hearsItself.value ? 'The microphone hears the answer, and is paused' : 'The microphone is paused'}. To interrupt, ${key}.`;
    case 'muted':
      return 'Nothing is recorded.';
    default:
      return '';
  }
}

/** The last words of the user and of the answer. */
function Words() {
  const growing = transcribing.value?.text ?? '';
  const question = turns.value.findLast(({ role }) => role === 'user');
  const last = turns.value.at(-1);
  const heard = growing !== '' || question?.role !== 'user' ? growing : question.text;
  const said = growing === '' && last?.role === 'assistant' ? (spokenText.value ?? textOf(last)) : '';
  return (
    <div class="words">
      {heard !== '' && (
        <p class="heard" dir="auto">
          {lastWords(heard, 60)}
        </p>
      )}
      {said !== '' && (
        <p class="said" dir="auto">
          {lastWords(said, 160)}
        </p>
      )}
    </div>
  );
}

/** Each control keeps its place and its element, because one of them has the focus. */
function Controls({ state }: StateProps) {
  const reaction = onPress(state);
  const isDeaf = state === 'asking' || state === 'failed';
  return (
    <div class="controls">
      <Action
        class="quiet danger"
        aria-pressed={isMuted.value}
        whyNot={isDeaf ? 'There is no microphone yet.' : undefined}
        onClick={toggleMute}
      >
        <Icon name={isMuted.value ? 'muted' : 'microphone'} />
        <span>Mute</span>
      </Action>
      <Action class="filled" autofocus whyNot={reaction ? undefined : 'There is nothing to interrupt.'} onClick={press}>
        {reaction === 'retry' ? 'Try again' : 'Interrupt'}
      </Action>
      <button type="button" class="quiet" title="End (Esc)" onClick={cancel}>
        <Icon name="close" />
        <span>End</span>
      </button>
    </div>
  );
}
