/** Notices of problems, each with its remedy, and of long recordings. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { startDictation, tryAgain } from '../dictation.ts';
import { keepFocus } from '../draft.ts';
import type { Failure } from '../failure.ts';
import { answerAgain } from '../hands-free.ts';
import { discardUndelivered, undelivered, saveUndelivered, transcribing, wasSilent } from '../transcription.ts';
import { isKeyAsked } from '../key.ts';
import { isKeyMissing, listingFailure, refreshListings } from '../listings.ts';
import { isImpossible, microphoneFailure, captureProblem } from '../microphone.ts';
import { remedyForInsecure, textOfCaptureProblem } from '../capture-checks.ts';
import { forgetReplaced, replaced, undo } from '../conversation.ts';
import { refusal } from '../library/library.ts';
import { surprise } from '../open-conversation.ts';
import { textOfProgress } from '../reader/jobs.ts';
import { openRecording, recordings, release } from '../reader/recordings.ts';
import type { Recording } from '../reader/recording.ts';
import { isBlocked, speakerFailure } from '../playback.ts';
import { turns } from '../run.ts';
import { Icon } from './icons.tsx';
import { FailureText } from './failure-text.tsx';

export interface Happening {
  readonly name: string;
  readonly view: ComponentChildren;
}

/** Returns what the conversation shows in addition to its turns. */
export function happenings(): readonly Happening[] {
  const all: readonly (readonly [name: string, isShown: unknown, view: ComponentChildren])[] = [
    ['kept', refusal.value && !isRefusalRead.value, <RefusalNotice />],
    ['service', isServiceDown(), <ServiceNotice />],
    ['microphone', microphoneFailure.value ?? captureProblem.value, <MicrophoneNotice />],
    ...recordings.value.map((one) => [`recording ${one.id}`, true, <RecordingNotice recording={one} />] as const),
    ['recording', undelivered.value, <KeptRecording tryAgain={tryAgain} />],
    ['replaced', replaced.value, <ReplacedNotice />],
    ['surprise', surprise.value, <Notice close={() => (surprise.value = undefined)}>{surprise.value}</Notice>],
    ...soundNotices(),
  ];
  return all.filter(([, isShown]) => isShown).map(([name, , view]) => ({ name, view }));
}

/** Notices in hands-free mode, which shows the problems of the microphone itself and covers the conversation. */
export function HandsFreeNotices() {
  const last = turns.value.at(-1);
  return (
    <div class="notices">
      {isServiceDown() && <ServiceNotice />}
      {last?.role === 'assistant' && last.failure && <FailureNotice failure={last.failure} />}
      <KeptRecording tryAgain={answerAgain} />
      {soundNotices().map(([, isShown, view]) => isShown && view)}
    </div>
  );
}

const soundNotices = () =>
  [
    [
      'silent',
      wasSilent.value && !transcribing.value,
      <Notice close={() => (wasSilent.value = false)}>
        No speech was detected. Check that the right microphone is selected and on.
      </Notice>,
    ],
    ['blocked', isBlocked.value, <Notice>The browser blocked the sound. Tap anywhere to play it.</Notice>],
    [
      'speaker',
      speakerFailure.value,
      speakerFailure.value && (
        <FailureNotice failure={speakerFailure.value} close={() => (speakerFailure.value = undefined)} />
      ),
    ],
  ] as const;

/** The refusal is announced only once. */
const isRefusalRead = signal(false);

const RefusalNotice = () => (
  <Notice close={() => (isRefusalRead.value = true)}>
    {refusal.value === 'full'
      ? 'The storage of this browser is full: what follows is not kept. Delete conversations to make room.'
      : 'This browser does not allow pages to keep anything: conversations last as long as this page.'}
  </Notice>
);

/** A recording that is being transcribed, or was transcribed after it was closed. */
function RecordingNotice({ recording }: { readonly recording: Recording }) {
  const { id, title, job, progress, transcript } = recording;
  const end = transcript.failure ? 'Transcription failed.' : 'Transcribed.';
  return (
    <Notice {...(job === undefined && { close: () => release(recording) })}>
      <p>
        <bdi>{title}</bdi>: {job === undefined ? end : textOfProgress(progress)}
      </p>
      <button type="button" class="outlined" aria-label={`Open ${title}`} onClick={() => void openRecording(id)}>
        Open
      </button>
    </Notice>
  );
}

const ReplacedNotice = () => (
  <Notice close={forgetReplaced}>
    <p>{replaced.value?.text}</p>
    <button type="button" class="outlined" onClick={undo}>
      Undo
    </button>
  </Notice>
);

interface NoticeProps {
  readonly role?: 'alert';
  readonly close?: () => void;
  readonly children: ComponentChildren;
}

function Notice({ role, close, children }: NoticeProps) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (role) place.current?.scrollIntoView({ block: 'nearest' }); // in a low window, the notice may be out of view
  }, [role]);
  useLayoutEffect(() => {
    const element = place.current;
    return () => {
      if (element?.contains(document.activeElement)) keepFocus();
    };
  }, []);
  return (
    <div ref={place} class={role ? 'notice failure' : 'notice'} {...(role && { role })}>
      <div>{children}</div>
      {close && (
        <button type="button" class="quiet" title="Dismiss" onClick={close}>
          <Icon name="close" />
          <span class="wide">Dismiss</span>
        </button>
      )}
    </div>
  );
}

function FailureNotice({ failure, close }: { readonly failure: Failure; readonly close?: () => void }) {
  return (
    <Notice role="alert" {...(close && { close })}>
      <FailureText failure={failure} />
    </Notice>
  );
}

const isServiceDown = () => (isKeyMissing.value && !isKeyAsked.value) || listingFailure.value !== undefined;

function ServiceNotice() {
  if (isKeyMissing.value && !isKeyAsked.value) {
    return (
      <Notice>
        <p>This service requires an API key.</p>
        <button type="button" class="outlined" onClick={() => (isKeyAsked.value = true)}>
          Enter the key
        </button>
      </Notice>
    );
  }
  if (!listingFailure.value) return null;
  return (
    <Notice role="alert">
      <FailureText failure={listingFailure.value} />
      <button type="button" class="outlined" onClick={() => void refreshListings()}>
        Try again
      </button>
    </Notice>
  );
}

function MicrophoneNotice() {
  if (microphoneFailure.value) {
    return <FailureNotice failure={microphoneFailure.value} close={() => (microphoneFailure.value = undefined)} />;
  }
  if (!captureProblem.value) return null;
  const text = textOfCaptureProblem(captureProblem.value);
  if (captureProblem.value === 'insecure') {
    return (
      <Notice>
        <p>{text}</p>
        <details>
          <summary>What to do</summary>
          <p>{remedyForInsecure(location)}</p>
        </details>
      </Notice>
    );
  }
  if (isImpossible()) return <Notice>{text}</Notice>;
  return (
    <Notice role="alert" close={() => (captureProblem.value = undefined)}>
      <p>{text}</p>
      {captureProblem.value !== 'gone' && (
        <button type="button" class="outlined" onClick={() => void startDictation()}>
          Try again
        </button>
      )}
    </Notice>
  );
}

function KeptRecording({ tryAgain }: { readonly tryAgain: () => Promise<void> }) {
  if (!undelivered.value) return null;
  const { failure, recording, isRefused } = undelivered.value;
  const close = () => void discardUndelivered();
  if (!recording) return <FailureNotice failure={failure} close={close} />;
  return (
    <Notice role="alert">
      <FailureText failure={failure} />
      <p class="small">
        The recording is kept: {recording.name}, {Math.ceil(recording.size / 1_024)} KB.
      </p>
      <div class="actions">
        {!isRefused && (
          <button type="button" class="outlined" onClick={() => void tryAgain()}>
            Try again
          </button>
        )}
        <button type="button" class="outlined" onClick={saveUndelivered}>
          Save
        </button>
        <button type="button" class="quiet" onClick={close}>
          Discard
        </button>
      </div>
    </Notice>
  );
}
