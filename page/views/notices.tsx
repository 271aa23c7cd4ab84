/** Problems, each with what to do about it. */
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
import { forgetRemoved, removed, undo } from '../conversation.ts';
import { isBlocked, speakerFailure } from '../playback.ts';
import { turns } from '../run.ts';
import { Icon } from './icons.tsx';
import { FailureText } from './failure-text.tsx';
import { LongRecordings } from './long-recordings.tsx';

export function Notices() {
  return (
    <div class="notices">
      <ServiceNotice />
      <MicrophoneNotice />
      <LongRecordings />
      <KeptRecording tryAgain={tryAgain} />
      {removed.value && (
        <Notice close={forgetRemoved}>
          <p>{removed.value.text}</p>
          <button type="button" class="outlined" onClick={undo}>
            Undo
          </button>
        </Notice>
      )}
      <SoundNotices />
    </div>
  );
}

/** In hands-free mode, which shows the problems of the microphone itself and covers the conversation. */
export function HandsFreeNotices() {
  const last = turns.value.at(-1);
  return (
    <div class="notices">
      <ServiceNotice />
      {last?.role === 'assistant' && last.failure && <FailureNotice failure={last.failure} />}
      <KeptRecording tryAgain={answerAgain} />
      <SoundNotices />
    </div>
  );
}

function SoundNotices() {
  return (
    <>
      {wasSilent.value && !transcribing.value && (
        <Notice close={() => (wasSilent.value = false)}>
          No speech was detected. Check that the right microphone is selected and on.
        </Notice>
      )}
      {isBlocked.value && <Notice>The browser blocked the sound. Tap anywhere to play it.</Notice>}
      {speakerFailure.value && (
        <FailureNotice failure={speakerFailure.value} close={() => (speakerFailure.value = undefined)} />
      )}
    </>
  );
}

interface NoticeProps {
  readonly role?: 'alert';
  readonly close?: () => void;
  readonly children: ComponentChildren;
}

function Notice({ role, close, children }: NoticeProps) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (role) place.current?.scrollIntoView({ block: 'nearest' }); // in a low window, it may be below
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
          <span class="unseen">Dismiss</span>
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
