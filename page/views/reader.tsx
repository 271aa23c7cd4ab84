/** A transcript with its recording: read, searched, played, and taken elsewhere. */
import { useComputed, useSignal, useSignalEffect, type Signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { toSrt, toVtt } from '../../lib/subtitles.ts';
import type { TimedText } from '../../src/client/index.ts';
import { attach } from '../about.ts';
import { focusDraft, hasKeyboard } from '../draft.ts';
import { takeFile } from '../dictation.ts';
import { nameOfLanguage } from '../languages.ts';
import { chosen } from '../listings.ts';
import { startNewConversation } from '../open-conversation.ts';
import { mark, offsetAt } from '../reader/marks.ts';
import {
  duration,
  isPlaying,
  isUnplayable,
  playFrom,
  position,
  seek,
  speed,
  speeds,
  toggle,
} from '../reader/player.ts';
import { textOfProgress } from '../reader/jobs.ts';
import { closeRecording, deleteRecording } from '../reader/recordings.ts';
import type { Recording } from '../reader/recording.ts';
import {
  clock,
  indexAt,
  lengthOf,
  matchesOf,
  textOfSegments,
  wordsOf,
  type Match,
} from '../reader/timed-transcript.ts';
import { saveFile } from '../save-file.ts';
import { whyNot, whyNotNow } from '../why-not.ts';
import { Action } from './action.tsx';
import { CopyButton } from './copy-button.tsx';
import { Dialog } from './dialog.tsx';
import { FailureText } from './failure-text.tsx';
import { Icon } from './icons.tsx';
import { RecordingFields } from './models-dialog.tsx';

export function Reader({ recording }: { readonly recording: Recording }) {
  const { id, transcript } = recording;
  const title = useRef<HTMLHeadingElement>(null);
  const query = useSignal('');
  const at = useSignal(0);
  const matches = useMemo(() => matchesOf(transcript.segments, query.value), [transcript.segments, query.value]);
  useLayoutEffect(() => {
    window.scrollTo(0, 0);
    title.current?.focus({ preventScroll: true });
    query.value = '';
    return () => (['spoken', 'found', 'found-now'] as const).forEach((name) => mark(name, []));
  }, [id]);
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
        <Uses recording={recording} />
        <Segments recording={recording} />
      </main>
      <footer class="bottom">
        <div class="composer" role="group" aria-label="Transcript">
          <Search query={query} at={at} matches={matches} />
          {recording.file && <Player recording={recording} />}
        </div>
        <p class="hint">{hintOf(recording)}</p>
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

const formats = ['text', 'srt', 'vtt'] as const;

function Uses({ recording }: { readonly recording: Recording }) {
  const { id, title, transcript, job, file } = recording;
  const [isAgain, setAgain] = useState(false);
  const hasText = transcript.segments.length > 0;
  const text = job === undefined ? transcript.text : textOfSegments(transcript.segments);
  const ask = () => {
    attach(title, { ...transcript, text });
    closeRecording();
    startNewConversation();
    requestAnimationFrame(focusDraft); // when it is there
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
          title="Transcribe again, with another language or other terms"
          whyNot={whyNot('transcription') ?? whyNotNow()}
          onClick={() => setAgain(true)}
        >
          <Icon name="again" />
          <span>Redo</span>
        </Action>
      )}
      <span class="saves" role="group" aria-label="Save the transcript">
        <Icon name="save" />
        {formats.map((format) => (
          <Action key={format} class="quiet" whyNot={none} onClick={() => save(recording, format)}>
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
              closeRecording();
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

function save({ title, transcript }: Recording, format: (typeof formats)[number]): void {
  const { segments, durationMs } = transcript;
  const cues = segments.map(({ start_ms: startMs, end_ms: endMs, text }) => ({ startMs, endMs, text }));
  const content = {
    text: () => `${transcript.text || textOfSegments(segments)}\n`,
    srt: () => toSrt(cues, durationMs),
    vtt: () => toVtt(cues, durationMs),
  }[format]();
  const name = `${title.replace(/\.\w{1,5}$/, '')}.${format === 'text' ? 'txt' : format}`;
  saveFile(new File([content], name, { type: 'text/plain' }));
}

/** The browser skips the blocks that are out of view. */
const blockLength = 16;

function Segments({ recording }: { readonly recording: Recording }) {
  const { segments } = recording.transcript;
  const latest = useRef(recording);
  latest.current = recording;
  const current = useRef(-1);
  const spoken = useRef<Element | null>(null);
  useSignalEffect(() => {
    const ms = position.value;
    const { transcript } = latest.current;
    const index = ms === undefined ? -1 : indexAt(transcript.segments, ms);
    if (index !== current.current || spoken.current?.isConnected === false) {
      const before = spoken.current;
      spoken.current = rowOf(index);
      before?.removeAttribute('aria-current');
      spoken.current?.setAttribute('aria-current', 'true');
      if (isPlaying.peek() && (!before || isInView(before))) bringIntoView(spoken.current);
      current.current = index;
    }
    const word = ms === undefined ? undefined : wordsOf(transcript, index).findLast(({ startMs }) => startMs <= ms);
    mark('spoken', word ? [{ element: textIn(index), ...word }] : []);
  });
  const blocks = [];
  for (let first = 0; first < segments.length; first += blockLength) {
    blocks.push(<Block key={first} segments={segments} first={first} />);
  }
  return (
    <div
      id="transcript"
      class="segments"
      tabIndex={-1}
      onClick={(event) => click(event, latest.current)}
      onKeyDown={moveFocus}
    >
      {blocks}
    </div>
  );
}

interface BlockProps {
  readonly segments: readonly TimedText[];
  readonly first: number;
}

function Block({ segments, first }: BlockProps) {
  const count = Math.min(blockLength, segments.length - first);
  const drawn = useRef<readonly TimedText[]>(segments);
  if (drawn.current[first] !== segments[first]) drawn.current = segments; // another transcript, or the final one
  const rows = useMemo(
    () =>
      segments.slice(first, first + count).map(({ start_ms: ms, text }, index) => (
        <p key={index} id={`segment-${first + index}`} class="segment">
          <button
            type="button"
            class="quiet"
            tabIndex={first + index === 0 ? 0 : -1}
            aria-label={`Play from ${clock(ms)}`}
          >
            {clock(ms)}
          </button>
          <span>{text}</span>
        </p>
      )),
    [drawn.current, first, count],
  );
  return <div class="block">{rows}</div>;
}

const rowOf = (index: number) => document.getElementById(`segment-${index}`);
const textIn = (index: number) => rowOf(index)?.lastElementChild;

function isInView(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

function bringIntoView(element: Element | null): void {
  element?.scrollIntoView({ block: 'nearest' });
}

function click(event: MouseEvent, { transcript }: Recording): void {
  const { target } = event;
  const row = target instanceof Element ? target.closest('.segment') : null;
  if (!row || getSelection()?.isCollapsed === false) return;
  const index = Number(row.id.slice('segment-'.length));
  const segment = transcript.segments[index];
  if (!segment || !(target instanceof Element)) return;
  const offset = target.localName === 'button' ? undefined : offsetAt(event, target);
  const word = offset === undefined ? undefined : wordsOf(transcript, index).find(({ to }) => to >= offset);
  playFrom(word?.startMs ?? segment.start_ms);
}

/** One stop of Tab; the arrows lead from segment to segment. */
function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const { target } = event;
  if (step === undefined || !(target instanceof HTMLButtonElement)) return;
  const next = rowOf(Number(target.parentElement?.id.slice('segment-'.length)) + step)?.firstElementChild;
  if (!(next instanceof HTMLButtonElement)) return;
  event.preventDefault();
  target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** More would only be slow. */
const mostMarked = 5_000;

function showMatches(matches: readonly Match[], at: number): void {
  const toPlace = ({ segment, from, to }: Match) => ({ element: textIn(segment), from, to });
  const now = matches[at];
  mark('found', matches.slice(0, mostMarked).map(toPlace));
  mark('found-now', now ? [toPlace(now)] : []);
  if (now) rowOf(now.segment)?.scrollIntoView({ block: 'center' });
}

interface SearchProps {
  readonly query: Signal<string>;
  readonly at: Signal<number>;
  readonly matches: readonly Match[];
}

function Search({ query, at, matches }: SearchProps) {
  const { length } = matches;
  const hasQuery = query.value.trim() !== '';
  const go = (step: number) => length > 0 && (at.value = (at.value + step + length) % length);
  return (
    <div class="tools" role="search">
      <input
        type="search"
        aria-label="Search the transcript"
        placeholder="Search the transcript"
        value={query.value}
        onInput={({ currentTarget }) => {
          query.value = currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={({ key, shiftKey }) => key === 'Enter' && go(shiftKey ? -1 : 1)}
      />
      <span class="small" role="status">
        {hasQuery && (length > 0 ? `${Math.min(at.value, length - 1) + 1} of ${length}` : 'Nothing found')}
      </span>
      {hasQuery && length > 1 && (
        <>
          <button type="button" class="quiet" aria-label="Previous match" onClick={() => go(-1)}>
            <Icon name="up" />
          </button>
          <button type="button" class="quiet" aria-label="Next match" onClick={() => go(1)}>
            <Icon name="down" />
          </button>
        </>
      )}
    </div>
  );
}

function Player({ recording: { transcript } }: { readonly recording: Recording }) {
  const seconds = useComputed(() => Math.floor((position.value ?? 0) / 1_000));
  const length = Math.max(duration.value ?? lengthOf(transcript), 1_000);
  const now = seconds.value * 1_000;

  return (
    <div class="tools player">
      <Action
        class="round primary"
        whyNot={isUnplayable.value ? 'This browser cannot play this recording.' : undefined}
        onClick={toggle}
      >
        <Icon name={isPlaying.value ? 'pause' : 'play'} />
        <span class="unseen">{isPlaying.value ? 'Pause' : 'Play'}</span>
      </Action>
      <input
        type="range"
        aria-label="Position"
        aria-valuetext={`${clock(now)} of ${clock(length)}`}
        min={0}
        max={Math.ceil(length / 1_000)}
        value={seconds.value}
        onInput={({ currentTarget }) => seek(currentTarget.valueAsNumber * 1_000)}
      />
      <span class="seconds small">
        {clock(now)} / {clock(length)}
      </span>
      <button
        type="button"
        class="quiet"
        aria-label={`Speed: ${speed.value}×`}
        onClick={() => (speed.value = speeds[(speeds.indexOf(speed.value as 1) + 1) % speeds.length] ?? 1)}
      >
        {speed.value}×
      </button>
    </div>
  );
}
