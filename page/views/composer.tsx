/** The message field with its buttons and its hint. */
import { useEffect, useRef } from 'preact/hooks';
import { cancel, isBusy, isTakingSpeech } from '../cancel.ts';
import { dictation, dropDictation, finishDictation, startDictation, startedAt } from '../dictation.ts';
import { draft, draftId, hasKeyboard, keepFocus } from '../draft.ts';
import { startHandsFree } from '../hands-free.ts';
import { liveText } from '../live-dictation.ts';
import { acceptedFiles } from '../reader/jobs.ts';
import { transcribing } from '../transcription.ts';
import { canChat, canSpeak, canTranscribe, listings } from '../listings.ts';
import { prefer, preferences } from '../preferences.ts';
import { ask, isAnswering } from '../run.ts';
import { speaking, stopPlayback, unlock } from '../playback.ts';
import { readAloud } from '../reading.ts';
import { shareOf, textOfTranscript, type Transcript } from '../transcript.ts';
import {
  explain,
  explained,
  whyNot,
  whyNotFile,
  whyNotNow,
  whyNotReadAloud,
  whyNotRecord,
  whyNotSend,
} from '../why-not.ts';
import { AboutNote } from './about-note.tsx';
import { Action } from './action.tsx';
import { scrollToEnd } from './auto-scroll.ts';
import { chooseFile } from './files.tsx';
import { Icon } from './icons.tsx';
import { Latest } from './latest.tsx';
import { Meter, Seconds } from './meter.tsx';
import { TextField } from './text-field.tsx';

export function Composer() {
  return (
    <footer class="bottom">
      <Latest />
      <form class="composer" aria-label="Message" onSubmit={submit}>
        {transcribing.value && <TranscriptionProgress transcript={transcribing.value} />}
        {liveText.value !== '' && <p class="growing">{liveText.value}</p>}
        <AboutNote />
        <Message />
        <div class="tools">
          <Tools />
          {dictation.value !== 'recording' && <ReadDraftButton />}
          <SendOrCancel />
        </div>
      </form>
      <p class="hint">{hintOf()}</p>
    </footer>
  );
}

function submit(event: Event): void {
  event.preventDefault();
  send();
}

function send(): void {
  const reason = whyNotSend();
  if (reason !== undefined) return explain(reason);
  const text = draft.value.trim();
  stopPlayback();
  unlock();
  draft.value = '';
  scrollToEnd();
  keepFocus();
  void ask(text);
}

function Message() {
  useEffect(() => {
    keepFocus();
  }, []);
  return (
    <TextField
      id={draftId}
      label="Message"
      placeholder="Speak, or type a message"
      text={draft.value}
      onText={(text) => (draft.value = text)}
      onEnter={send}
    />
  );
}

/** Each button stays the same element as long as it is shown, because it may have the focus. */
function Tools() {
  const isRecording = dictation.value === 'recording';
  const hasAnswers = canChat.value || !listings.value;
  return (
    <>
      <SpeakButton key="speak" />
      {isRecording && <Take key="take" />}
      {!isRecording && <HandsFreeButton key="hands-free" />}
      {!isRecording && <FileButton key="file" />}
      {!isRecording && hasAnswers && <ReadAloudSwitch key="read-aloud" />}
    </>
  );
}

const Take = () => (
  <span class="take">
    <Meter />
    <Seconds since={startedAt.value} />
  </span>
);

/** Holding Space records until it is released; a short press, a click or Enter toggles the recording. */
const holdMs = 400;

function SpeakButton() {
  const pressedAt = useRef<number | undefined>(undefined);
  const isRecording = dictation.value === 'recording';
  const reason = whyNotRecord() ?? (dictation.value === 'asking' || transcribing.value ? whyNotNow() : undefined);
  const toggle = () => void (dictation.value === 'recording' ? finishDictation() : startDictation());
  return (
    <Action
      class={isRecording ? 'speak recording' : 'speak'}
      whyNot={isRecording ? undefined : reason}
      onClick={toggle}
      onKeyDown={(event) => {
        if (event.key !== ' ' || reason !== undefined) return;
        event.preventDefault();
        if (event.repeat) return;
        pressedAt.current = event.timeStamp;
        toggle();
      }}
      onKeyUp={(event) => {
        if (event.key !== ' ' || reason !== undefined) return;
        event.preventDefault();
        const isHeld = pressedAt.current !== undefined && event.timeStamp - pressedAt.current > holdMs;
        if (!isHeld) return;
        if (dictation.value === 'asking') dropDictation();
        else void finishDictation();
      }}
    >
      <Icon name={isRecording ? 'stop' : 'microphone'} />
      <span>{isRecording ? 'Stop and transcribe' : 'Speak'}</span>
    </Action>
  );
}

const FileButton = () => (
  <Action class="quiet" whyNot={whyNotFile()} title={`Transcribe a file. ${acceptedFiles}`} onClick={chooseFile}>
    <Icon name="file" />
    <span>File</span>
  </Action>
);

function ReadAloudSwitch() {
  const isOn = preferences.value.readAloud === true;
  return (
    <Action
      class="quiet"
      role="switch"
      aria-checked={isOn}
      whyNot={whyNot('speech')}
      aria-label="Read answers aloud"
      title="Read answers aloud"
      onClick={() => {
        unlock();
        prefer({ readAloud: !isOn });
        if (isOn) stopPlayback();
      }}
    >
      <Icon name="speaker" />
      <span class="wide">Read answers aloud</span>
      <span class="narrow">Aloud</span>
    </Action>
  );
}

const HandsFreeButton = () => (
  <Action
    class="quiet"
    aria-haspopup="dialog"
    whyNot={whyNotRecord() ?? whyNot('chat') ?? whyNotNow()}
    title="Talk hands-free"
    onClick={() => void startHandsFree()}
  >
    <Icon name="waves" />
    <span>Hands-free</span>
  </Action>
);

/** Identifies the sound of the text in the composer. */
const draftSound = 'draft';

/** Works without a chat model. */
function ReadDraftButton() {
  const isOn = speaking.value === draftSound;
  const hasRoom = listings.value && !canChat.value; // on a phone
  return (
    <Action
      class={`read-draft ${hasRoom ? 'roomy' : ''} ${!canChat.value && whyNotReadAloud() === undefined ? 'filled' : 'quiet'}`}
      aria-label={isOn ? 'Stop' : 'Read aloud what you typed'}
      whyNot={isOn ? undefined : (whyNotReadAloud() ?? whyNotNow())}
      title="Read aloud what you typed"
      onClick={() => {
        if (isOn) return stopPlayback();
        unlock();
        readAloud(draftSound, draft.value);
      }}
    >
      <Icon name={isOn ? 'stop' : 'play'} />
      <span>{isOn ? 'Stop' : 'Read aloud'}</span>
    </Action>
  );
}

function SendOrCancel() {
  // With a text, the button sends it, which ends the answer and its speech.
  const isCancel = isTakingSpeech.value || (isBusy.value && draft.value.trim() === '');
  return isCancel ? (
    <button
      key="cancel"
      type="button"
      class="round"
      title="Cancel (Esc)"
      onClick={() => {
        cancel();
        keepFocus();
      }}
    >
      <Icon name={dictation.value === 'off' ? 'stop' : 'close'} />
      <span>Cancel</span>
    </button>
  ) : (
    <Action key="send" type="submit" class="round primary" title="Send (Enter)" whyNot={whyNotSend()}>
      <Icon name="send" />
      <span>Send</span>
    </Action>
  );
}

function TranscriptionProgress({ transcript }: { readonly transcript: Transcript }) {
  const share = shareOf(transcript);
  return (
    <>
      <progress class="edge" aria-label="Transcription" {...(share !== undefined && { value: share })} />
      {transcript.text !== '' && <p class="growing">{transcript.text}</p>}
    </>
  );
}

function hintOf(): string {
  if (explained.value !== undefined) return explained.value;
  if (dictation.value === 'asking') return 'Allow the microphone in the browser prompt.';
  if (transcribing.value) return textOfTranscript(transcribing.value);
  if (dictation.value === 'recording') return hasKeyboard ? 'Recording. Press Esc to discard it.' : 'Recording.';
  return isAnswering.value ? answeringHint : idleHint();
}

/** Touch keyboards have neither Esc nor Shift+Enter. The hint line stays, so that nothing jumps. */
function idleHint(): string {
  if (!canChat.value && canSpeak.value) return 'Chat is not set up yet. Type some text and press “Read aloud”.';
  if (listings.value && !canChat.value && !canTranscribe.value) return 'Nothing is set up yet. See “Get started”.';
  return hasKeyboard ? 'Press Enter to send, Shift+Enter for a new line.' : '\u00a0';
}

const answeringHint = hasKeyboard ? 'Answering. Press Esc to stop.' : 'Answering.';
