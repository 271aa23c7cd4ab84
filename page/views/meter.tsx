/** Level and duration of a recording. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { level } from '../microphone.ts';

const bars = [0.5, 0.8, 1, 0.7, 0.4];

/** Updated outside of Preact, because the level changes many times a second. */
export function Meter() {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(
    () =>
      level.subscribe((value) => {
        bars.forEach((share, index) => {
          const bar = place.current?.children[index];
          if (bar instanceof HTMLElement) bar.style.transform = `scaleY(${Math.max(0.12, value * share)})`;
        });
      }),
    [],
  );
  return (
    <span class="meter" ref={place} aria-hidden="true">
      {bars.map((share) => (
        <i key={share} />
      ))}
    </span>
  );
}

/** A webm recording has no duration, so the page counts. */
export function Seconds({ since }: { readonly since: number }) {
  const [now, setNow] = useState(since);
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 250);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor(Math.max(0, now - since) / 1_000);
  return <span class="seconds">{`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`}</span>;
}
