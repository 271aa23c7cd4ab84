/** The text of a transcript: its segments with their times; a click plays a segment. */
import { useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TimedText } from '../../src/client/index.ts';
import { mark, offsetAt } from '../reader/marks.ts';
import { isPlaying, playFrom, position } from '../reader/player.ts';
import type { Recording } from '../reader/recording.ts';
import { indexAt, wordsOf, type Match } from '../reader/places.ts';
import { clock, type Speaker } from '../reader/timed-transcript.ts';
import { Name } from './speakers.tsx';

/** The browser skips the blocks that are out of view. */
const blockLength = 16;

/** Segments that are drawn in one task: 4,000 would take a tenth of a second. */
const atOnce = 256;

interface SegmentsProps {
  readonly recording: Recording;
  /** Whether all segments are drawn now, so that a search can mark them. */
  readonly isWhole: boolean;
  /** Called with the label of a speaker whose name was clicked. */
  readonly onName: (label: string) => void;
}

export function Segments({ recording, isWhole, onName }: SegmentsProps) {
  const { segments, speakers = none } = recording.transcript;
  const [drawn, setDrawn] = useState(atOnce);
  useEffect(() => {
    const timer = setTimeout(() => drawn < segments.length && setDrawn(drawn + atOnce));
    return () => clearTimeout(timer);
  }, [drawn, segments.length]);
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
      if (isPlaying.peek() && (!before || isInView(before))) {
        spoken.current?.scrollIntoView({ block: 'nearest' });
      }
      current.current = index;
    }
    const word = ms === undefined ? undefined : wordsOf(transcript, index).findLast(({ startMs }) => startMs <= ms);
    mark('spoken', word ? [{ element: textIn(index), ...word }] : []);
  });
  const blocks = [];
  for (let first = 0; first < segments.length; first += blockLength) {
    const isDrawn = isWhole || first < drawn;
    blocks.push(
      isDrawn ? (
        <Block key={first} segments={segments} first={first} speakers={speakers} />
      ) : (
        <div key={first} class="block" />
      ),
    );
  }
  return (
    <div
      id="transcript"
      class="segments"
      tabIndex={-1}
      onClick={(event) => click(event, latest.current, onName)}
      onKeyDown={moveFocus}
    >
      {blocks}
    </div>
  );
}

const none: readonly Speaker[] = [];

interface BlockProps {
  readonly segments: readonly TimedText[];
  readonly first: number;
  readonly speakers: readonly Speaker[];
}

function Block({ segments, first, speakers }: BlockProps) {
  const count = Math.min(blockLength, segments.length - first);
  const drawn = useRef<readonly TimedText[]>(segments);
  if (drawn.current[first] !== segments[first]) drawn.current = segments; // the final transcript
  const rows = useMemo(
    () =>
      segments.slice(first, first + count).map(({ start_ms: ms, text, speaker }, index) => (
        <p key={index} id={`segment-${first + index}`} class="segment">
          <button
            type="button"
            class="quiet seconds"
            tabIndex={first + index === 0 ? 0 : -1}
            aria-label={`Play from ${clock(ms)}`}
          >
            {clock(ms)}
          </button>
          {speaker !== undefined && speaker !== segments[first + index - 1]?.speaker && (
            <Name speakers={speakers} label={speaker} />
          )}
          <span>{text}</span>
        </p>
      )),
    [drawn.current, first, count, speakers],
  );
  return <div class="block">{rows}</div>;
}

const rowOf = (index: number) => document.getElementById(`segment-${index}`);
const textIn = (index: number) => rowOf(index)?.lastElementChild;

function isInView(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

function click(event: MouseEvent, { transcript }: Recording, onName: SegmentsProps['onName']): void {
  const { target } = event;
  const row = target instanceof Element ? target.closest('.segment') : null;
  if (!row || getSelection()?.isCollapsed === false) return;
  const index = Number(row.id.slice('segment-'.length));
  const segment = transcript.segments[index];
  if (!segment || !(target instanceof Element)) return;
  if (segment.speaker !== undefined && target.closest('.name')) return onName(segment.speaker);
  const offset = target.localName === 'button' ? undefined : offsetAt(event, target);
  const word = offset === undefined ? undefined : wordsOf(transcript, index).find(({ to }) => to >= offset);
  playFrom(word?.startMs ?? segment.start_ms);
}

/** The segments are one tab stop; the arrow keys move between them. */
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

/** Maximum number of marked places: more would only be slow. */
const mostMarked = 5_000;

export function showMatches(matches: readonly Match[], at: number): void {
  const toPlace = ({ segment, from, to }: Match) => ({ element: textIn(segment), from, to });
  const now = matches[at];
  mark('found', matches.slice(0, mostMarked).map(toPlace));
  mark('found-now', now ? [toPlace(now)] : []);
  if (now) rowOf(now.segment)?.scrollIntoView({ block: 'center' });
}
