/** A transcript with its recording, which the user can read, search, play, copy and save. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { toSrt, toVtt } from '../../lib/subtitles.ts';
import { about } from '../about.ts';
import { maxTextLength } from '../conversation-state.ts';
import { focusDraft, hasKeyboard } from '../draft.ts';
import { takeFile } from '../dictation.ts';
import { nameOfLanguage } from '../languages.ts';
import { chosen } from '../listings.ts';
import { startNewConversation } from '../open-conversation.ts';
import { mark } from '../reader/marks.ts';
import { named, shortened } from '../reader/named.ts';
import { matchesOf } from '../reader/places.ts';
import { isUnplayable } from '../reader/player.ts';
import { textOfProgress } from '../reader/jobs.ts';
import { closeRecording, deleteRecording } from '../reader/recordings.ts';
import type { Recording } from '../reader/recording.ts';
import { clock, lengthOf, textOfSegments, type TimedTranscript } from '../reader/timed-transcript.ts';
import { saveFile } from '../save-file.ts';
import { explained, whyNot, whyNotFile } from '../why-not.ts';
import { Action } from './action.tsx';
import { CopyButton } from './copy-button.tsx';
import { Dialog } from './dialog.tsx';
import { FailureText } from './failure-text.tsx';
import { Icon } from './icons.tsx';
import { RecordingFields } from './models-dialog.tsx';
import { Player, Search } from './player.tsx';
import { Segments, showMatches } from './segments.tsx';
import { Speakers } from './speakers.tsx';

export function Reader({ recording }: { readonly recording: Recording }) {
  const { transcript } = recording;
  const title = useRef<HTMLHeadingElement>(null);
  const query = useSignal('');
  const at = useSignal(0);
  const [renamed, setRenamed] = useState<string>();
  const matches = useMemo(() => matchesOf(transcript.segments, query.value), [transcript.segments, query.value]);
  useLayoutEffect(() => {
    window.scrollTo(0, 0);
    title.current?.focus({ preventScroll: true });
    return () => (['spoken', 'found', 'found-now'] as const).forEach((name) => mark(name, []));
  }, []);
  useLayoutEffect(() => showMatches(matches, at.value), [matches, at.value]);
  return (
    <>
      <main class="reader">
        <header>
          <h2 ref={title} tabIndex={-1}>
            <bdi>{recording.title}</bdi>
          </h2>
          <button type="button" class="quiet" onClick={closeRecording}>
            <Icon name="close" />
            <span>Close</span>
          </button>
        </header>
        <About recording={recording} />
        <State recording={recording} />
        <Speakers recording={recording} named={renamed} setNamed={setRenamed} />
        <Uses recording={recording} />
        <Segments recording={recording} isWhole={query.value !== ''} onName={setRenamed} />
      </main>
      <footer class="bottom">
        <div class="composer" role="group" aria-label="Transcript">
          <Search query={query} at={at} matches={matches} />
          {recording.file && <Player recording={recording} />}
        </div>
        <p class="hint">{explained.value ?? hintOf(recording)}</p>
      </footer>
    </>
  );
}

function hintOf({ file }: Recording): string {
  if (!file) return 'The recording is no longer in this browser.';
  return isUnplayable.value
    ? 'This browser cannot play this recording.'
    : `${hasKeyboard ? 'Click' : 'Tap'} a word to play from there.`;
}

function About({ recording: { transcript, job } }: { readonly recording: Recording }) {
  if (job !== undefined) return null;
  const { language, model } = transcript;
  const length = lengthOf(transcript);
  const facts = [length > 0 && clock(length), language !== null && nameOfLanguage(language), model].filter(Boolean);
  return <p class="small">{facts.join(' · ')}</p>;
}

function State({ recording: { title, job, progress, transcript } }: { readonly recording: Recording }) {
  if (transcript.failure) {
    return (
      <div class="failure" role="alert">
        <FailureText failure={transcript.failure} />
      </div>
    );
  }
  if (job === undefined) return transcript.segments.length === 0 ? <p>No speech was detected.</p> : null;
  const { done } = progress ?? {};
  return (
    <div class="state-of-job">
      <p>{textOfProgress(progress)} You can close this page.</p>
      <progress aria-label={`Transcription of ${title}`} {...(done !== undefined && { value: done })} />
    </div>
  );
}

/** Number of characters reserved for the question and the title: the service accepts a limited number per message. */
const questionLength = 2_000;

const formats = ['text', 'srt', 'vtt'] as const;

function Uses({ recording }: { readonly recording: Recording }) {
  const { id, title, job, file } = recording;
  const [isAgain, setAgain] = useState(false);
  const transcript = useMemo(() => named(recording.transcript), [recording.transcript]);
  const hasText = transcript.segments.length > 0;
  const text = job === undefined ? transcript.text : textOfSegments(transcript.segments);
  const ask = () => {
    about.value = { title, ...shortened({ ...transcript, text }, maxTextLength - questionLength) };
    closeRecording();
    startNewConversation();
    requestAnimationFrame(focusDraft); // once the composer is rendered
  };
  const none = hasText ? undefined : 'There is no text yet.';
  return (
    <div class="actions uses">
      <Action class="filled" whyNot={none ?? whyNot('chat')} onClick={ask}>
        Ask about this
      </Action>
      {hasText && <CopyButton what="the transcript" text={text} />}
      {file && job === undefined && (
        <Action
          class="quiet"
          aria-label="Redo the transcription"
          title="Transcribe again, with other options"
          whyNot={whyNotFile()}
          onClick={() => setAgain(true)}
        >
          <Icon name="again" />
          <span>Redo</span>
        </Action>
      )}
      <span class="saves" role="group" aria-label="Save the transcript">
        <Icon name="save" />
        {formats.map((format) => (
          <Action key={format} class="quiet" whyNot={none} onClick={() => save(title, transcript, format)}>
            {format === 'text' ? 'Text' : format.toUpperCase()}
          </Action>
        ))}
      </span>
      <button type="button" class="quiet" onClick={() => void deleteRecording(id)}>
        <Icon name="bin" />
        <span>Delete</span>
      </button>
      <Dialog id="again" title="Transcribe again" isOpen={isAgain} close={() => setAgain(false)}>
        {chosen.value.transcription && <RecordingFields entry={chosen.value.transcription} />}
        <div class="actions end">
          <button type="button" class="quiet" onClick={() => setAgain(false)}>
            Cancel
          </button>
          <button
            type="button"
            class="filled"
            onClick={() => {
              setAgain(false);
              if (file) void takeFile(file);
            }}
          >
            Transcribe
          </button>
        </div>
      </Dialog>
    </div>
  );
}

function save(title: string, transcript: TimedTranscript, format: (typeof formats)[number]): void {
  const { text, segments, durationMs } = transcript;
  const cues = segments.map(({ start_ms: startMs, end_ms: endMs, ...spoken }) => ({ startMs, endMs, ...spoken }));
  const content = {
    text: () => `${text || textOfSegments(segments)}\n`,
    srt: () => toSrt(cues, durationMs),
    vtt: () => toVtt(cues, durationMs),
  }[format]();
  const name = `${title.replace(/\.\w{1,5}$/, '')}.${format === 'text' ? 'txt' : format}`;
  saveFile(new File([content], name, { type: 'text/plain' }));
}
