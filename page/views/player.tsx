/** The search in a transcript, and the controls of its recording. */
import { useComputed, type Signal } from '@preact/signals';
import { duration, isPlaying, isUnplayable, position, seek, speed, speeds, toggle } from '../reader/player.ts';
import type { Recording } from '../reader/recording.ts';
import type { Match } from '../reader/places.ts';
import { clock, lengthOf } from '../reader/timed-transcript.ts';
import { Action } from './action.tsx';
import { Icon } from './icons.tsx';

interface SearchProps {
  readonly query: Signal<string>;
  readonly at: Signal<number>;
  readonly matches: readonly Match[];
}

export function Search({ query, at, matches }: SearchProps) {
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

export function Player({ recording: { transcript } }: { readonly recording: Recording }) {
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
